internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The manifests on this machine, and what has changed about them since the last look.
struct ManifestLibrary {
    let files: DesktopFiles
    let home: String
    private var known: [AppID: Entry] = [:]
    /// The files of the last look, by id and in its order.
    private var order: [AppID] = []
    /// Whether there were directories at the last look whose files are not known: it is to be
    /// repeated.
    private(set) var isPartial = false

    /// Files that are not the user's own and cannot be read, each with why.
    private(set) var passedOver: [String] = []

    private struct Entry: Equatable {
        /// Empty: it was seen by an earlier daemon, nobody knows where.
        var path: String
        /// Nil: to be read again.
        var status: FileStatus?
        /// Whether it has our group.
        var isOurs = false
        /// What its reading said, as a hash.
        var answer = 0
        /// Why it cannot be read; nil: it can.
        var unreadable: String?
        /// What must be installed, and whether it was.
        var tryExec: String?
        var isInstalled = true
    }

    init(directories: [String], home: String) {
        (files, self.home) = (DesktopFiles(directories: directories), home)
    }

    /// The next scan reads every file, whatever its status says.
    mutating func forgetStatus() { for id in order { known[id]?.status = nil } }

    /// Apps that were found when a daemon looked last. As long as a directory cannot be read, their
    /// manifests may be in it.
    mutating func expect(_ apps: [AppID]) {
        for id in apps where known[id] == nil {
            known[id] = Entry(path: "", isOurs: true)
            order.append(id)
        }
    }

    /// Looks again; reads only files that are new or have changed, and tells what is another than
    /// before.
    mutating func scan() -> [ManifestChange] {
        var found: [AppID: Entry] = [:]
        var foundOrder: [AppID] = []
        var changes: [ManifestChange] = []
        passedOver = []
        var hidden: [AppID: (path: String, reason: String)] = [:]
        let listing = files.listing()
        isPartial = !listing.unreadable.isEmpty
        for file in listing.entries where found[file.id] == nil {
            let (id, path) = (file.id, file.path)
            let old = known[id]
            if let old, old.path != path, unseen(old, listing) != nil, isBefore(old.path, path) {
                continue
            }
            var entry = old ?? Entry(path: path)
            let isStale =
                entry.path != path || entry.status == nil || entry.status != file.status
                || entry.tryExec.map { DesktopFiles.isInstalled($0) != entry.isInstalled } ?? false
            if isStale {
                entry = Entry(path: path, status: file.status)
                let change = read(file, &entry)
                let wasOurs = old?.isOurs == true && old?.path == path
                if let reason = entry.unreadable, !files.isOwn(path), !wasOurs {
                    passedOver.append("\(path): \(reason)")
                    if hidden[file.id] == nil { hidden[file.id] = (path, reason) }
                    continue
                }
                entry.isOurs = change != nil
                entry.answer = change.hashValue
                if entry.answer != old?.answer, change != nil || old?.isOurs == true {
                    changes.append(change ?? .removed(id))
                }
            }
            found[id] = entry
            foundOrder.append(id)
        }
        for id in order where found[id] == nil {
            guard var entry = known[id] else { continue }
            if let problem = unseen(entry, listing) {
                // Not seen is not gone: what was known of it stays.
                if let change = lost(id, &entry, problem) { changes.append(change) }
                found[id] = entry
                foundOrder.append(id)
            } else if entry.isOurs, entry.path.isEmpty, let (path, reason) = hidden[id] {
                // An earlier daemon found it, most likely there.
                let change = ManifestChange.invalid(id, file: path, reason: reason)
                entry.path = path
                (entry.unreadable, entry.answer) = (reason, Optional(change).hashValue)
                changes.append(change)
                passedOver.removeAll { $0 == "\(path): \(reason)" }
                found[id] = entry
                foundOrder.append(id)
            } else if entry.isOurs {
                changes.append(.removed(id))
            }
        }
        (known, order) = (found, foundOrder)
        return changes
    }

    /// Why a file that was found before cannot be looked for; nil: it can.
    private func unseen(_ entry: Entry, _ listing: DesktopFiles.Listing) -> LinuxError? {
        entry.path.isEmpty ? listing.unreadable.first : listing.problem(above: entry.path)
    }

    /// Whether a file counts before another with the same id.
    private func isBefore(_ path: String, _ other: String) -> Bool {
        func rank(_ path: String) -> Int {
            files.directories.firstIndex { path.hasPrefix($0 + "/") } ?? files.directories.count
        }
        return !path.isEmpty && rank(path) < rank(other)
    }

    /// Nil: it is no app of ours, or that has been told.
    private func lost(
        _ id: AppID,
        _ entry: inout Entry,
        _ problem: LinuxError
    ) -> ManifestChange? {
        entry.status = nil
        guard entry.isOurs else { return nil }
        let change = ManifestChange.invalid(
            id,
            file: entry.path.isEmpty ? problem.subject : entry.path,
            reason: "\(problem.subject) cannot be read: \(problem.errno.text)"
        )
        let answer = Optional(change).hashValue
        guard answer != entry.answer else { return nil }
        entry.answer = answer
        return change
    }

    /// Every directory that must be watched so that no change is missed. A directory that is not
    /// there yet is watched for in the nearest one above it, a link also where it leads.
    func watched() -> [DirectoryWatch.Target] {
        var targets: [DirectoryWatch.Target] = []
        let listing = files.listing()
        for (directory, below) in listing.trees {
            targets.append(.entries(of: directory))
            targets += below.map { .init(directory: $0) }
        }
        for file in listing.entries where Files.linkTarget(file.path) != nil {
            targets += DirectoryWatch.Target.chain(file.path).dropFirst()
        }
        return targets
    }

    /// Nil: no app of ours. Whether a file that cannot be read is one of ours nobody knows.
    private func read(_ file: DesktopFiles.Entry, _ entry: inout Entry) -> ManifestChange? {
        switch files.content(of: file, home: home) {
        case .nothing: return nil
        case .app(let manifest):
            entry.tryExec = manifest.tryExec
            return .present(manifest)
        case .notInstalled(let program):
            (entry.tryExec, entry.isInstalled) = (program, false)
            return .notInstalled(file.id, file: file.path, program: program)
        case .invalid(let reason): return .invalid(file.id, file: file.path, reason: reason)
        case .unreadable(let reason):
            // A status that stays the same says nothing of a right that comes.
            (entry.status, entry.unreadable) = (nil, reason)
            return .invalid(file.id, file: file.path, reason: reason)
        }
    }
}
