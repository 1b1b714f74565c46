import CommandTable
import EventLoop
import Linux
import Synchronization
import Vocabulary

/// A directory beside a file that is being made, for its parts. It goes with the work, also when a
/// signal ends that; only kill -9 and lost power leave it behind.
final class BackupStaging: Sendable {
    /// Where it is made.
    let parent: String
    private let prefix: String
    /// Nil when there is none.
    private let directory = Mutex<String?>(nil)

    init(for path: String) {
        parent = Files.directory(of: path)
        prefix = path + "."
    }

    /// To be asked between `make` and the end.
    func path(_ name: String) -> String { directory.withLock { ($0 ?? prefix) + "/" + name } }

    func make() throws(Failure) {
        try failing { try watch() }
        do throws(LinuxError) {
            // Others may write in its parent: what they put there is never touched.
            try directory.withLock { (directory) throws(LinuxError) in
                directory = try Files.makeUniqueDirectory(prefix)
            }
        } catch {
            switch error.errno {
            case .noEntry, .notDirectory:
                throw Failure(.failed, "there is no directory \(parent.quoted)")
            case .access, .permission, .readOnly:
                throw Failure(.failed, "no permission to write in \(parent.quoted)")
            default: throw Failure(.failed, "\(error)")
            }
        }
    }

    /// The last step, after which a signal comes too late.
    func finish(_ body: () throws(LinuxError) -> Void) throws(LinuxError) {
        try directory.withLock { (directory) throws(LinuxError) in
            try body()
            if let made = directory.take() { try? Files.removeTree(made) }
        }
    }

    func remove() {
        directory.withLock { directory in
            if let made = directory.take() { try? Files.removeTree(made) }
        }
    }

    private func watch() throws {
        let signals = [Signal.terminate, Signal.interrupt, Signal.hangUp]
        try CurrentProcess.block(signals: signals)
        // A thread of its own: the work may be inside SQLite, or wait for who reads the output.
        try CurrentProcess.startThread(named: "signals") { [self] in
            guard let loop = try? EventLoop() else { return }
            let sources = signals.map { signal in
                try? SignalSource(loop, signal) { [self] _ in interrupted(by: signal) }
            }
            withExtendedLifetime(sources) { while (try? loop.runTurn()) == true {} }
        }
    }

    private func interrupted(by signal: Int32) {
        directory.withLock { directory in
            guard let made = directory.take() else { return }
            try? Files.removeTree(made)
            GatewayLog.write("stopped by \(Signal.name(signal)): nothing was backed up")
            CurrentProcess.exit(Failure.Code.failed.rawValue)
        }
    }
}
