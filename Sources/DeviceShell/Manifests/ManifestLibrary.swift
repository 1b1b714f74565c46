internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The manifests on this machine, and what has changed about them since the last look.
struct ManifestLibrary {
    /// The more important first; of two files with one id the first counts.
    let directories: [String]
    let home: String
    private var known: [AppID: Entry] = [:]
    /// The files of the last look, by id and in its order.
    private var order: [AppID] = []

    /// Files per directory tree that are looked at, and how deep.
    static let fileLimit = 10_000
    static let depthLimit = 4

    private struct Entry: Equatable {
        var path: String
        /// Nil: to be read again.
        var status: FileStatus?
        /// Whether it has our group.
        var isOurs = false
        /// What its reading said, as a hash.
        var answer = 0
        /// What must be installed, and whether it was.
        var tryExec: String?
        var isInstalled = true
    }

    init(directories: [String], home: String) {
        (self.directories, self.home) = (directories, home)
    }

    /// The next scan reads every file, whatever its status says.
    mutating func forgetStatus() { for id in order { known[id]?.status = nil } }

    /// Looks again; reads only files that are new or have changed, and tells what is another than
    /// before.
    mutating func scan() -> [ManifestChange] {
        var found: [AppID: Entry] = [:]
        var foundOrder: [AppID] = []
        var changes: [ManifestChange] = []
        for (id, path, status) in files() where found[id] == nil {
            let old = known[id]
            var entry = old ?? Entry(path: path)
            let isStale =
                entry.path != path || entry.status != status
                || entry.tryExec.map { isInstalled($0) != entry.isInstalled } ?? false
            if isStale {
                entry = Entry(path: path, status: status)
                let change = read(path, status, id, &entry)
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
        for (directory, below) in trees() {
            targets.append(.entries(of: directory))
            targets += below.map { .init(directory: $0) }
        }
        for (_, path, _) in files() where Files.linkTarget(path) != nil {
            targets += DirectoryWatch.Target.chain(path).dropFirst()
        }
        return targets
    }

    /// The directories with what is below each. Links may form a cycle, or lead twice to one place,
    /// so each real directory is read once: at its own path if that is below one of them, else by
    /// the first link to it.
    private func trees() -> [(directory: String, below: [String])] {
        var seen: Set<RealDirectory> = []
        for directory in directories {
            if let status = Files.status(directory) { seen.insert(RealDirectory(status)) }
        }
        var links: [(tree: Int, path: String, depth: Int)] = []
        var trees = directories.map { (directory: $0, below: [String]()) }
        func walk(_ path: String, _ tree: Int, _ depth: Int) {
            guard depth <= Self.depthLimit, let names = try? Files.list(path) else { return }
            for name in names.sorted() where !name.hasPrefix(".") && !name.hasSuffix(".desktop") {
                let child = path + "/" + name
                if Files.status(child, followLinks: false)?.kind == .link {
                    links.append((tree, child, depth))
                } else {
                    enter(child, tree, depth)
                }
            }
        }
        func enter(_ path: String, _ tree: Int, _ depth: Int) {
            guard let status = Files.status(path), status.kind == .directory,
                seen.insert(RealDirectory(status)).inserted
            else { return }
            trees[tree].below.append(path)
            walk(path, tree, depth + 1)
        }
        for (tree, directory) in directories.enumerated() { walk(directory, tree, 1) }
        var next = 0
        while next < links.count {
            enter(links[next].path, links[next].tree, links[next].depth)
            next += 1
        }
        return trees
    }

    /// A directory, whatever names lead to it.
    private struct RealDirectory: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
    }

    private func files() -> [(AppID, String, FileStatus)] {
        var files: [(AppID, String, FileStatus)] = []
        for (directory, below) in trees() {
            for folder in [directory] + below {
                guard let names = try? Files.list(folder) else { continue }
                for name in names.sorted() where name.hasSuffix(".desktop") {
                    let path = folder + "/" + name
                    let relative = String(path.dropFirst(directory.count + 1))
                    guard files.count < Self.fileLimit,
                        let id = DesktopFileID.id(relativePath: relative),
                        let status = Files.status(path), status.kind == .file
                    else { continue }
                    files.append((id, path, status))
                }
            }
        }
        return files
    }

    /// What is read of a file: more than the parser takes, so that it says that it is too much.
    private static let readLimit: Int64 = 1 << 20

    /// Nil: no app of ours.
    private func read(
        _ path: String,
        _ status: FileStatus,
        _ id: AppID,
        _ entry: inout Entry
    ) -> ManifestChange? {
        let bytes: [UInt8]
        do {
            let count = Int(min(status.size + 1, Self.readLimit))
            let file = try FileDescriptor(opening: path, [.reading, .nonBlocking])
            bytes = try file.read(at: 0, count: count)
        } catch {
            // A file that nobody may read is not one that says it is ours.
            return nil
        }
        switch ManifestParser.parse(bytes: bytes, id: id, file: path, home: home) {
        case .notAnApp: return nil
        case .app(let manifest, _):
            if let program = manifest.tryExec {
                (entry.tryExec, entry.isInstalled) = (program, isInstalled(program))
                if !entry.isInstalled {
                    return .invalid(id, reason: "TryExec: \(program) is not installed")
                }
            }
            return .present(manifest)
        case .invalid(let diagnostics):
            let first = diagnostics.first { $0.severity == .error } ?? diagnostics.first
            return .invalid(id, reason: first?.description ?? "not readable")
        }
    }

    private func isInstalled(_ program: String) -> Bool {
        let path = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return Files.executable(program, searchPath: path).map(Files.isExecutable) ?? false
    }
}
