package import Linux
internal import Vocabulary

/// The lock file of a state directory: one daemon at a time, and a keeper that knows whether it
/// lives. Each byte is a lock of its own.
package struct DaemonLock: ~Copyable, Sendable {
    private enum Byte {
        /// Held by the daemon; nobody else ever takes it.
        static let daemon: Int64 = 0
        /// Held by the daemon as long as it lives; the keeper waits for it, and holds it shared
        /// while it thaws, so that a starting daemon waits for the end of that.
        static let alive: Int64 = 1
        /// Held by the keeper.
        static let keeper: Int64 = 2
        /// Held by a daemon that was told to end.
        static let ending: Int64 = 3
    }

    private let file: LockFile

    package var path: String { file.path }

    /// What others find at its path.
    package var place: LockFile.Place { file.place }

    /// Whether they find this lock there.
    var isInPlace: Bool { place == .own }

    package init(_ path: String) throws(LinuxError) { file = try LockFile(path) }

    /// For the daemon, once. False: another daemon has this state directory; `holder` says who.
    /// One that ends is waited for; `waits` hears of that first, once. `pause` lets milliseconds
    /// go by.
    package func takeForDaemon(
        _ waits: (ProcessIdentity) -> Void = { _ in },
        pause: (Int32) -> Void = { _ = Poll.ready(-1, for: .readable, milliseconds: $0) }
    ) throws(LinuxError) -> Bool {
        // A child that a killed daemon was just starting keeps its lock until it has closed what
        // it is not given.
        let end = Clocks.boot() + .seconds(5)
        var isTold = false
        while try !file.tryLock(Byte.daemon) {
            if let other = try holder(), other.isAlive {
                guard try isEnding(other, pause) else {
                    // It may have let go while it was looked at.
                    guard try file.tryLock(Byte.daemon) else { return false }
                    break
                }
                if !isTold { waits(other) }
                isTold = true
            }
            if Clocks.boot() >= end { return false }
            pause(10)
        }
        try file.lock(Byte.alive)
        // For messages only, and a full disk must not keep the daemon from saying that it is full.
        try? file.sign()
        return true
    }

    /// Tells whoever starts that this daemon ends.
    package func sayEnding() throws(LinuxError) { _ = try file.tryLock(Byte.ending) }

    /// Whether it was told to end: it has said so, or has not come to read the signal. Between the
    /// two neither is seen: for a moment, or as long as a slow turn of its loop takes.
    private func isEnding(
        _ other: ProcessIdentity,
        _ pause: (Int32) -> Void
    ) throws(LinuxError) -> Bool {
        for look in 0...10 {
            if look > 0 { pause(50) }
            if other.hasPending([Signal.terminate, Signal.interrupt]) { return true }
            if try file.isLocked(Byte.ending) { return true }
            if !other.isAlive { return true }
        }
        return false
    }

    /// The daemon that last took the lock, alive or not.
    package func holder() throws(LinuxError) -> ProcessIdentity? { try file.signature() }

    package func daemonLives() throws(LinuxError) -> Bool { try file.isLocked(Byte.alive) }

    /// For the keeper. False: there is one.
    package func takeForKeeper() throws(LinuxError) -> Bool {
        guard try file.tryLock(Byte.keeper) else { return false }
        // A full disk is no reason to keep nothing.
        try? file.sign(at: 1)
        return true
    }

    /// The keeper that last took its lock, alive or not.
    package func keeper() throws(LinuxError) -> ProcessIdentity? { try file.signature(at: 1) }

    package func keeperLives() throws(LinuxError) -> Bool { try file.isLocked(Byte.keeper) }

    /// Blocks until no daemon lives. No timer, no wake-up.
    package func waitForDaemonsEnd() throws(LinuxError) { try file.waitUntilFree(Byte.alive) }

    /// Runs `body` while no daemon can start; nil when one lives.
    package func whileNoDaemon<Answer>(_ body: () -> Answer) throws(LinuxError) -> Answer? {
        guard try file.tryLockShared(Byte.alive) else { return nil }
        let answer = body()
        try file.unlock(Byte.alive)
        return answer
    }
}
