import CommandTable
import Linux

/// Runs what throws errors of the layers below, as failures of a command.
func failing<Answer: ~Copyable>(
    _ body: () throws -> Answer
) throws(Failure) -> Answer {
    try failing("", body)
}

/// The same, naming what it was about.
func failing<Answer: ~Copyable>(
    _ what: String,
    _ body: () throws -> Answer
) throws(Failure) -> Answer {
    do {
        return try body()
    } catch let failure as Failure {
        throw failure
    } catch {
        throw Failure(.failed, what.isEmpty ? "\(error)" : "\(what): \(error)")
    }
}

extension Failure {
    /// A socket cannot listen at an address.
    init(listening error: LinuxError) {
        let fix =
            switch error.errno {
            case .addressInUse:
                "Another program listens there. Stop it, or choose another address with --listen, "
                    + "--devices or --metrics, or in gateway.conf."
            case .access:
                "Ports below 1024 need root, or a service manager that hands over the socket."
            case .addressNotAvailable, .noSuchHost:
                "The host must be an address of this machine; leave it out to listen on all: :8443."
            default: ""
            }
        self.init(.failed, "\(error)", fix: fix)
    }
}
