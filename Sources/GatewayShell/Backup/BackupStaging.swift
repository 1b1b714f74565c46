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
    private let directory: String
    private let isThere = Mutex(false)

    init(for path: String) {
        parent = Files.directory(of: path)
        directory = "\(path).\(CurrentProcess.pid).new"
    }

    func path(_ name: String) -> String { directory + "/" + name }

    func make() throws(Failure) {
        // Left over by a process of the same number.
        try? Files.removeTree(directory)
        try failing { try watch() }
        do throws(LinuxError) {
            try isThere.withLock { (isThere) throws(LinuxError) in
                isThere = try Files.makeDirectory(directory)
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
        guard isThere.withLock({ $0 }) else {
            throw Failure(.failed, "\(directory.quoted) is in the way", fix: "Remove it.")
        }
    }

    /// The last step, after which a signal comes too late.
    func finish(_ body: () throws(LinuxError) -> Void) throws(LinuxError) {
        try isThere.withLock { (isThere) throws(LinuxError) in
            try body()
            isThere = false
        }
        try? Files.removeTree(directory)
    }

    func remove() {
        isThere.withLock { isThere in
            if isThere { try? Files.removeTree(directory) }
            isThere = false
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
        isThere.withLock { isThere in
            guard isThere else { return }
            try? Files.removeTree(directory)
            GatewayLog.write("stopped by \(Signal.name(signal)): nothing was backed up")
            CurrentProcess.exit(Failure.Code.failed.rawValue)
        }
    }
}
