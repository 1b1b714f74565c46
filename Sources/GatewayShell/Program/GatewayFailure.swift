import Linux
import TLS

/// Why a command did not do what it was asked; its status as in the other programs.
package struct GatewayFailure: Error, Equatable, Sendable {
    package enum Status: Int32, Sendable {
        case failed = 1
        case usage = 2
        case notFound = 3
        case notRunning = 4
    }

    package var status: Status
    package var message: String
    /// What to do; may be empty.
    package var fix: String

    package init(_ status: Status, _ message: String, fix: String = "") {
        (self.status, self.message, self.fix) = (status, message, fix)
    }
}

/// Runs what throws errors of the layers below, as failures of a command.
func failing<Answer: ~Copyable>(
    _ body: () throws -> Answer
) throws(GatewayFailure) -> Answer {
    try failing("", body)
}

/// The same, naming what it was about.
func failing<Answer: ~Copyable>(
    _ what: String,
    _ body: () throws -> Answer
) throws(GatewayFailure) -> Answer {
    do {
        return try body()
    } catch let failure as GatewayFailure {
        throw failure
    } catch {
        throw GatewayFailure(.failed, what.isEmpty ? "\(error)" : "\(what): \(error)")
    }
}
