import Combine  // expect: import Combine
import Foundation

final class Model: ObservableObject {  // expect: ObservableObject
    @Published var count = 0  // expect: Published
    private var held: Set<AnyCancellable> = []  // expect: AnyCancellable
    let subject = PassthroughSubject<Int, Never>()  // expect: PassthroughSubject

    func start() {
        NotificationCenter.default.publisher(for: .init("a"))  // expect: publisher(for:)
            .sink { _ in }.store(in: &held)
        Timer.publish(every: 1, on: .main, in: .common)  // expect: Timer.publish
            .autoconnect().sink { _ in }.store(in: &held)
        // A method of ours with the same first word.
        magazine.publisher(of: 1)
    }
}
