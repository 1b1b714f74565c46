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

    /// Files that are not the user's own and cannot be read, each with why.
    private(set) var passedOver: [String] = []

    private struct Entry: Equatable {
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

    /// Looks again; reads only files that are new or have changed, and tells what is another than
    /// before.
    mutating func scan() -> [ManifestChange] {
        var found: [AppID: Entry] = [:]
        var foundOrder: [AppID] = []
        var changes: [ManifestChange] = []
        passedOver = []
        for file in files.entries() where found[file.id] == nil {
            let (id, path) = (file.id, file.path)
            let old = known[id]
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
        for id in order where found[id] == nil && known[id]?.isOurs == true {
            changes.append(.removed(id))
        }
        (known, order) = (found, foundOrder)
        return changes
    }

    /// Every directory that must be watched so that no change is missed. A directory that is not
    /// there yet is watched for in the nearest one above it, a link also where it leads.
    func watched() -> [DirectoryWatch.Target] {
        var targets: [DirectoryWatch.Target] = []
        for (directory, below) in files.trees() {
            targets.append(.entries(of: directory))
            targets += below.map { .init(directory: $0) }
        }
        for file in files.entries() where Files.linkTarget(file.path) != nil {
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
