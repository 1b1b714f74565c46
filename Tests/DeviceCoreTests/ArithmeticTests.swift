import Foundation
import Testing

@testable import DeviceCore

struct ArithmeticTests {
    @Test func powersOfEAgreeWithTheLibrary() {
        for step in 1..<4000 {
            let power = Double(step - 2000) * 0.34
            #expect(abs(Arithmetic.exp(power) / exp(power) - 1) <= 1e-13)
        }
    }

    @Test func logOddsBecomeProbabilities() {
        #expect(Arithmetic.logistic(0) == 0.5)
        #expect(abs(Arithmetic.logistic(2) - 1 / (1 + exp(-2))) < 1e-15)
        #expect(Arithmetic.logistic(-1e6) >= 0)
        #expect(Arithmetic.logistic(1e6) <= 1)
    }
}
