import Foundation

/// Foundation is all that it imports, and on Linux that has no sessions.
struct Sessions {
    func send(_ request: URLRequest, _ address: URL) {}
    // expect^: URLRequest | session types without their import
    func read(_ response: HTTPURLResponse) {}  // expect: HTTPURLResponse
}
