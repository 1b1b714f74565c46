import Foundation
import Testing

@testable import DeviceCore

struct ArithmeticTests {
    /// The library's are good to the last bit or two; ours differ from them by little more.
    @Test func theFunctionsAgreeWithTheLibrary() {
        for step in 1..<4000 {
            let number = Double(step) * 0.37
            #expect(abs(Arithmetic.ln(number) - log(number)) <= 1e-14 * max(1, abs(log(number))))
            #expect(abs(Arithmetic.ln(1 / number) + log(number)) <= 1e-14 * max(1, log(number)))
            let power = Double(step - 2000) * 0.34
            #expect(abs(Arithmetic.exp(power) / exp(power) - 1) <= 1e-13)
            let turns = Double(step) / 4000
            let circle = Arithmetic.circle(turns)
            #expect(abs(circle.sine - sin(2 * Double.pi * turns)) <= 1e-14)
            #expect(abs(circle.cosine - cos(2 * Double.pi * turns)) <= 1e-14)
        }
    }

    @Test func probabilitiesAreKeptAwayFromTheirEnds() {
        #expect(abs(Arithmetic.logit(0) - log(1e-4 / (1 - 1e-4))) < 1e-12)
        #expect(abs(Arithmetic.logit(1) + Arithmetic.logit(0)) < 1e-9)
        #expect(Arithmetic.logistic(0) == 0.5)
        #expect(Arithmetic.logistic(-1e6) >= 0)
        #expect(Arithmetic.logistic(1e6) <= 1)
    }
}
