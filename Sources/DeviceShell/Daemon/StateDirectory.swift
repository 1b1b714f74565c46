internal import AppProtocol
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The state directory as this daemon has it open: made, locked, and known again, so that what is
/// no longer in its place is noticed, and made anew.
@safe
final class StateDirectory {
    private let paths: DaemonPaths
    private(set) var lock: DaemonLock
    private var files: [OpenFile] = []
    /// The directory as it was when all was in its place; nil: each file has to be looked at.
    private var intact: FileStatus?
    /// Its last change, and when that was seen first.
    private var seen: (changed: Int64, at: BootTime)?
    var clock: () -> BootTime = Clocks.boot
    private var watch: PathSource?

    /// Makes the directories where there are none; takes no lock yet. What a newer version has left
    /// is not touched.
    init(_ paths: DaemonPaths) throws(DaemonError) {
        self.paths = paths
        do throws(StoreError) {
            try StoreFile(path: paths.database, fileSystem: nil).refuseNewer()
        } catch {
            throw .store(error)
        }
        for directory in [paths.state, paths.runtime] {
            try Self.checkOwned(directory, paths)
        }
        lock = try Self.makeDirectories(paths)
    }

    /// One daemon at a time.
    func take() throws(DaemonError) { try Self.take(lock, paths) }

    // MARK: Loss

    /// From now on these files are to stay where they are.
    func know() throws(LinuxError) {
        var known: [OpenFile] = []
        for path in [paths.database, paths.database + "-wal"] {
            known.append(try OpenFile(path, holdsState: true))
        }
        for path in [paths.launches, paths.logs] {
            known.append(try OpenFile(path, holdsState: false))
        }
        (files, intact) = (known, nil)
    }

    /// What of it is not in its place any more; nil: all is. Each commit asks. While the directory
    /// itself has not changed, nothing in it was removed or renamed, and one call of the kernel
    /// tells that. A mount over one of its entries is seen with the directory's next change.
    var loss: StateLoss? {
        let now = clock()
        let directory = Files.status(paths.state)
        if let intact, let directory, directory.isSameFile(as: intact),
            directory.changed == intact.changed
        {
            return nil
        }
        if let directory, directory.changed != seen?.changed { seen = (directory.changed, now) }
        let found = closeLook
        intact = nil
        if found == nil, let directory, let seen, now - seen.at > Self.settling(seen.changed),
            files.allSatisfy({ $0.goes(with: directory) })
        {
            intact = directory
        }
        return found
    }

    /// It is enough to look at the directory.
    var isIntact: Bool { intact != nil }

    /// A change so long after `changed` was seen has another time. Most file systems take the time
    /// of the kernel's last tick, of which there are a hundred a second or more. Some count in
    /// steps of 10 ms or more: of two seconds at most.
    static func settling(_ changed: Int64) -> Interval {
        changed % 10_000_000 == 0 ? .seconds(3) : .milliseconds(100)
    }

    private var closeLook: StateLoss? {
        var found: StateLoss?
        for file in files {
            guard let loss = file.loss else { continue }
            if found == nil || loss.kind != .deleted { found = loss }
        }
        if found == nil, !lock.isInPlace {
            found = StateLoss(kind: .deleted, path: paths.lock)
        }
        if found != nil, Files.status(paths.state) == nil { found?.path = paths.state }
        return found
    }

    /// Says when something was taken out of it, unless the kernel has no room for one more watch:
    /// then that is noticed with the next commit.
    func watch(_ loop: EventLoop, lost: @escaping () -> Void) {
        watch = try? PathSource(
            loop,
            paths.state,
            [.removed, .movedFrom, .selfRemoved, .selfMoved]
        ) { [unowned self] _ in
            if loss != nil { lost() }
        }
    }

    // MARK: Making it again

    /// That another daemon runs in a directory of its own in the same place; nil: none does.
    var otherDaemon: DaemonError? {
        guard !lock.isInPlace, Files.exists(paths.lock), let other = try? DaemonLock(paths.lock),
            (try? other.daemonLives()) == true
        else { return nil }
        return .alreadyRunning(state: paths.state, pid: (try? other.holder())?.pid)
    }

    /// Whether the store itself is not in its place.
    var hasLostStore: Bool { files.contains { $0.holdsState && $0.loss != nil } }

    /// Nothing is known until the next `know`.
    func forget() { (files, intact) = ([], nil) }

    /// Makes what was deleted, but for the files of the store, and takes the lock anew. True: it is
    /// another lock than before.
    func makeAgain() throws(DaemonError) -> Bool {
        let fresh = try Self.makeDirectories(paths)
        guard !lock.isInPlace else { return false }
        try Self.take(fresh, paths)
        lock = fresh
        return true
    }

    /// The lock comes first: by it we know the directory again.
    private static func makeDirectories(_ paths: DaemonPaths) throws(DaemonError) -> DaemonLock {
        do throws(LinuxError) {
            for directory in [paths.state, paths.runtime] {
                try Files.makeDirectory(directory, permissions: 0o700, parents: true)
                try claim(directory)
            }
            let lock = try DaemonLock(paths.lock)
            for directory in [paths.logs, paths.launches] {
                try Files.makeDirectory(directory, permissions: 0o700)
                try claim(directory)
            }
            return lock
        } catch {
            throw .directory(error)
        }
    }

    /// A directory that holds something else is not ours to close to others, to write into, or to
    /// delete logs in.
    private static func checkOwned(
        _ directory: String,
        _ paths: DaemonPaths
    ) throws(DaemonError) {
        guard let names = try? Files.list(directory), !names.isEmpty else { return }
        func kind(_ path: String) -> FileStatus.Kind? {
            Files.status(path, followLinks: false)?.kind
        }
        let proofs: [(path: String, kind: FileStatus.Kind)] = [
            (paths.lock, .file), (paths.database, .file), (paths.socket, .socket),
        ]
        let isOurs = proofs.contains {
            Files.directory(of: $0.path) == directory && kind($0.path) == $0.kind
        }
        // A service manager may have made a socket there, or a command the log of this daemon; or
        // what is to hold the logs is mounted.
        let isToBe = names.allSatisfy { name in
            let path = directory + "/" + name
            return kind(path) == .socket || path == paths.launches
                || path == paths.runtime + "/" + DaemonSocket.logName && kind(path) == .file
                || path == paths.logs && holdsNoLogs(path)
        }
        guard isOurs || isToBe else { throw .foreignDirectory(directory) }
    }

    private static func holdsNoLogs(_ directory: String) -> Bool {
        (try? Files.list(directory))?.contains { $0.hasSuffix(DaemonPaths.logSuffix) } == false
    }

    /// In what belongs to somebody else they could put whatever they like; what is ours is for
    /// nobody else to read.
    private static func claim(_ directory: String) throws(LinuxError) {
        guard let status = Files.status(directory) else { return }
        guard status.user == CurrentProcess.user else {
            throw LinuxError("use", directory, .permission)
        }
        if status.permissions & 0o077 != 0 { try Files.setPermissions(directory, 0o700) }
    }

    private static func take(
        _ lock: borrowing DaemonLock,
        _ paths: DaemonPaths
    ) throws(DaemonError) {
        let isOurs: Bool
        var holder: ProcessIdentity?
        do throws(LinuxError) {
            isOurs = try lock.takeForDaemon { other in
                DaemonLog.tell("waits for the daemon before it (process \(other.pid)) to end")
            }
            if !isOurs { holder = try lock.holder() }
        } catch {
            throw .directory(error)
        }
        guard isOurs else { throw .alreadyRunning(state: paths.state, pid: holder?.pid) }
    }
}

/// Something that is no longer where a daemon that starts would look for it.
package struct StateLoss: Equatable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        case deleted
        /// It is somewhere else, or cannot be reached.
        case moved
        /// Something else is there, which is not ours to overwrite.
        case replaced
    }

    package var kind: Kind
    package var path: String

    package var description: String {
        switch kind {
        case .deleted: "\(path) has been deleted"
        case .moved: "\(path) has been moved away, or cannot be reached any more"
        case .replaced: "\(path) has been replaced by another file"
        }
    }

    var fix: String {
        switch kind {
        case .deleted: "none is needed: it is recreated within a minute with all known data"
        case .moved: "move it back, or restart the daemon to start with an empty one"
        case .replaced: "move the other file away, or restart the daemon to continue with it"
        }
    }
}

/// A file or directory, whatever becomes of its path.
private final class OpenFile {
    let path: String
    let holdsState: Bool
    private let descriptor: FileDescriptor
    private let status: FileStatus

    /// `holdsState`: it cannot be made anew as long as there may be another.
    init(_ path: String, holdsState: Bool) throws(LinuxError) {
        (self.path, self.holdsState) = (path, holdsState)
        descriptor = try FileDescriptor(knowing: path)
        status = try descriptor.status()
    }

    /// Its directory changes when it is removed or renamed. That does not hold for what a link
    /// leads to, and for a mount.
    func goes(with directory: FileStatus) -> Bool {
        status.device == directory.device
            && Files.status(path, followLinks: false)?.kind == status.kind
    }

    /// Nil: the path leads to it.
    var loss: StateLoss? {
        let other = Files.status(path)
        if let other, other.isSameFile(as: status) { return nil }
        guard holdsState else { return StateLoss(kind: .deleted, path: path) }
        if other != nil { return StateLoss(kind: .replaced, path: path) }
        let isDeleted = (try? descriptor.status().links) == 0
        return StateLoss(kind: isDeleted ? .deleted : .moved, path: path)
    }
}
