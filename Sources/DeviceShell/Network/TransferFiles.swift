internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The files of transfers: where their bytes go, and how they get their names. Only the daemon
/// knows paths; the network process gets open files.
struct TransferFiles {
    let directories: TurnDirectory

    /// A file for an exchange, open for it.
    struct Opened: ~Copyable {
        let descriptor: FileDescriptor
        let inode: UInt64
        let partial: PartialFile
    }

    /// Where the bytes of an attempt go, whatever its directory is called by now.
    struct PartialFile {
        fileprivate let path: String
        fileprivate let name: String
        fileprivate let opened: TurnDirectory.Opened

        func remove() { try? opened.directory.remove(name) }
    }

    enum Problem: Error {
        /// Less is there than was durable.
        case lost
        /// Another process may still write it: that of a daemon that was killed.
        case inUse
        /// What holds its directory may be mounted later.
        case absent(LinuxError)
        case system(LinuxError)
    }

    /// Opens what is there of the file, or makes it. `durable`: so long it must be.
    func open(
        _ file: TransferFile,
        durable: Int64
    ) throws(Problem) -> Opened {
        let opened: TurnDirectory.Opened
        do throws(LinuxError) {
            opened = try directories.open(file.directory)
        } catch {
            throw error.isAbsence ? .absent(error) : .system(error)
        }
        var isOurs = false
        do throws(LinuxError) {
            try Self.bring(file, to: opened.directory)
            let wanted = file.permissions == 0 ? nil : UInt32(file.permissions)
            let descriptor = try opened.directory.open(
                file.partialName,
                [.both, .create],
                permissions: wanted ?? 0o666
            )
            // The lock goes with the descriptor to the process that fetches, and ends with it. Some
            // file systems have none.
            isOurs = (try? descriptor.tryLock()) ?? true
            let status = try descriptor.status()
            let isWhole = status.kind == .file && status.links == 1 && status.size >= durable
            if isOurs, isWhole {
                // Our umask has narrowed them, or it is an older file. Some file systems have none.
                if let wanted, status.permissions != wanted {
                    try? descriptor.setPermissions(wanted)
                }
                let partial = PartialFile(
                    path: file.directory,
                    name: file.partialName,
                    opened: opened
                )
                return Opened(descriptor: descriptor, inode: status.inode, partial: partial)
            }
            if isOurs { try? opened.directory.remove(file.partialName) }
        } catch {
            throw .system(error)
        }
        throw isOurs ? .lost : .inUse
    }

    func discard(_ file: TransferFile) {
        // What cannot be removed is in nobody's way: its name is hidden, and never used again.
        for path in [file.directory] + file.formers {
            guard let opened = try? directories.open(path) else { continue }
            try? opened.directory.remove(file.partialName)
        }
    }

    /// Nothing has the name of its directory any more: no file of it can be put in place.
    func isGone(_ partial: PartialFile) -> Bool {
        do throws(LinuxError) {
            _ = try directories.open(partial.path)
            return false
        } catch {
            return error.errno == .noEntry || error.errno == .notDirectory
        }
    }

    static let displaced = "its directory was renamed or removed"

    /// Who goes by its path does not come to it.
    func isElsewhere(_ partial: PartialFile) -> Bool {
        do throws(LinuxError) {
            let found = try directories.open(partial.path).directory.descriptor.status()
            let own = try partial.opened.directory.descriptor.status()
            return (found.device, found.inode) != (own.device, own.inode)
        } catch {
            return error.errno == .noEntry || error.errno == .notDirectory
        }
    }

    /// Whether something has this name.
    func exists(_ name: String, in path: String) -> Bool {
        guard let opened = try? directories.open(path) else { return false }
        return opened.directory.inode(of: name) != nil
    }

    /// Gives complete files their names. What they are is durable when this returns, with one call
    /// for each directory.
    func place(_ placements: [(id: TransferID, placement: Placement)])
        -> [(id: TransferID, event: TransferEvent)]
    {
        var events: [(id: TransferID, event: TransferEvent)] = []
        var paths: [String] = []
        for (_, placement) in placements where !paths.contains(placement.file.directory) {
            paths.append(placement.file.directory)
        }
        for path in paths {
            let inside = placements.filter { $0.placement.file.directory == path }
            do throws(LinuxError) {
                let opened = try directories.open(path)
                var named: [(id: TransferID, event: TransferEvent)] = []
                for (id, placement) in inside {
                    named.append((id, Self.name(placement, in: opened.directory)))
                }
                try opened.directory.synchronize()
                events += named
            } catch  where error.isAbsence {
                let why = ExchangeEnd.Interruption(.shortage, reason: error.fileReason)
                events += inside.map { ($0.id, .placementInterrupted(why)) }
            } catch {
                events += inside.map { ($0.id, Self.notPlaced(error, $0.placement.name)) }
            }
        }
        return events
    }

    private static func name(
        _ placement: Placement,
        in directory: borrowing OpenDirectory
    ) -> TransferEvent {
        let (name, partial) = (placement.name, placement.file.partialName)
        do throws(LinuxError) {
            try bring(placement.file, to: directory)
            guard let file = try fetched(placement, in: directory) else {
                // What is there is not what was fetched, if anything is.
                try? directory.remove(partial)
                // By a daemon that has died since: it did not live to tell.
                return isNamed(placement, in: directory) ? .placed(name: name) : .lost
            }
            if placement.overwrites, let there = try directory.status(of: name),
                there.kind != .file, there.kind != .link
            {
                let reason = "\(name) is \(there.kind.noun), which is not replaced"
                return .notPlaced(TransferFailure(code: .file, reason: reason))
            }
            if let seconds = placement.modified.flatMap(HTTPDate.seconds) {
                // A file system that keeps no such time has the file all the same.
                try? directory.setModified(seconds, of: partial)
            }
            try directory.rename(partial, to: name, replacing: placement.overwrites)
            // Another may have come in its place just before. Who moves the file on, or puts
            // another there, is free to: what is there now is theirs.
            if let there = try? directory.status(of: name), there.kind != .file,
                (try? file.status())?.links == 0
            {
                return .lost
            }
            return .placed(name: name)
        } catch {
            if error.errno == .noEntry { return .lost }
            // Where a name is given in two steps, the file may have both.
            guard error.errno == .exists, isNamed(placement, in: directory) else {
                return notPlaced(error, name)
            }
            try? directory.remove(partial)
            return .placed(name: name)
        }
    }

    /// All of the file that was fetched, known from now on by more than a name. Nil: what is there
    /// is not that.
    private static func fetched(
        _ placement: Placement,
        in directory: borrowing OpenDirectory
    ) throws(LinuxError) -> FileDescriptor? {
        do throws(LinuxError) {
            let file = try directory.know(placement.file.partialName)
            guard placement.isWhole(try file.status()) else { return nil }
            return file
        } catch  where error.errno == .noEntry {
            return nil
        }
    }

    /// The file has its name already.
    private static func isNamed(
        _ placement: Placement,
        in directory: borrowing OpenDirectory
    ) -> Bool {
        guard placement.file.inode != nil,
            let named = try? directory.status(of: placement.name)
        else { return false }
        return placement.isFile(named)
    }

    /// A file that is complete outlives a disk that is full, and the like.
    static func notPlaced(_ error: LinuxError, _ name: String) -> TransferEvent {
        if case .interrupted(let interruption) = Transfers.end(by: error) {
            return .placementInterrupted(interruption)
        }
        guard error.errno != .exists else { return .notPlaced(.exists(name)) }
        // The file was made there, so the directory may be writable again later.
        if error.errno == .access || error.errno == .readOnly {
            let reason = "its file cannot be put in place now: \(error)"
            return .placementInterrupted(.init(.shortage, reason: reason))
        }
        return .notPlaced(TransferFailure(code: .file, reason: error.fileReason))
    }
}

extension Placement {
    /// What was found is the file that was fetched.
    fileprivate func isFile(_ found: FileStatus) -> Bool {
        found.kind == .file && found.inode == file.inode ?? found.inode
    }

    /// And as long as it was then.
    fileprivate func isWhole(_ found: FileStatus) -> Bool {
        isFile(found) && found.size == size ?? found.size
    }
}

extension LinuxError {
    /// A full disk, or what this machine lacks beside that.
    var isOfNow: Bool {
        if case .interrupted = Transfers.end(by: self) { true } else { false }
    }

    /// Of a directory that may come back: its file system is not mounted, or its server is away.
    fileprivate var isAbsence: Bool {
        let those: [Errno] = [.noEntry, .stale, .notConnected, .timedOut, .noDevice]
        return those.contains(errno) && subject.hasPrefix("/")
    }

    /// For a person, whom the system's words do not tell which part of a path is a link, and that
    /// a path is that of a directory.
    var fileReason: String {
        // Files are named without their directories.
        if errno == .noEntry, subject.hasPrefix("/") {
            return "the directory \(subject) is not there"
        }
        guard errno == .loop else { return "\(self)" }
        var link = ""
        for part in subject.split(separator: "/") {
            link += "/\(part)"
            guard Files.status(link, followLinks: false)?.kind == .link else { continue }
            let fix =
                Files.status(link)?.kind == .directory
                ? "; name the directory that it leads to" : ""
            return "\(link) is a symbolic link, which is not followed\(fix)"
        }
        return "\(subject) is a symbolic link, which is not followed"
    }
}
