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
        var status: FileStatus
        var isOurs: Bool
    }

    init(directories: [String], home: String) {
        (self.directories, self.home) = (directories, home)
    }

    /// Looks again; reads only files that are new or have changed.
    mutating func scan() -> [ManifestChange] {
        var found: [AppID: Entry] = [:]
        var foundOrder: [AppID] = []
        var changes: [ManifestChange] = []
        for (id, path, status) in files() where found[id] == nil {
            var entry = Entry(path: path, status: status, isOurs: known[id]?.isOurs ?? false)
            if known[id]?.path != path || known[id]?.status != status {
                let change = read(path, id)
                if change != nil || entry.isOurs { changes.append(change ?? .removed(id)) }
                entry.isOurs = change != nil
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
    /// there yet is watched for in the nearest one above it.
    func watched() -> [String] {
        var paths: [String] = []
        for directory in directories {
            var path = directory
            while !Files.exists(path), path != "/" { path = Files.directory(of: path) }
            paths.append(path)
            if path == directory { paths.append(contentsOf: subdirectories(of: path, depth: 1)) }
        }
        return paths
    }

    private func subdirectories(of path: String, depth: Int) -> [String] {
        guard depth <= Self.depthLimit, let names = try? Files.list(path) else { return [] }
        var paths: [String] = []
        for name in names where !name.hasPrefix(".") && !name.hasSuffix(".desktop") {
            let child = path + "/" + name
            guard Files.status(child)?.kind == .directory else { continue }
            paths.append(child)
            paths.append(contentsOf: subdirectories(of: child, depth: depth + 1))
        }
        return paths
    }

    private func files() -> [(AppID, String, FileStatus)] {
        var files: [(AppID, String, FileStatus)] = []
        for directory in directories {
            let below = [directory] + subdirectories(of: directory, depth: 1)
            for folder in below {
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

    /// Nil: no app of ours.
    private func read(_ path: String, _ id: AppID) -> ManifestChange? {
        let bytes: [UInt8]
        do {
            bytes = try Files.read(path, limit: ManifestParser.limit + 1)
        } catch {
            // A file that nobody may read is not one that says it is ours.
            return nil
        }
        switch ManifestParser.parse(bytes: bytes, id: id, file: path, home: home) {
        case .notAnApp: return nil
        case .app(let manifest, _):
            if let program = manifest.tryExec, !isInstalled(program) {
                return .invalid(id, reason: "TryExec: \(program) is not installed")
            }
            return .present(manifest)
        case .invalid(let diagnostics):
            let first = diagnostics.first { $0.severity == .error } ?? diagnostics.first
            return .invalid(id, reason: first?.description ?? "not readable")
        }
    }

    private func isInstalled(_ program: String) -> Bool {
        let path = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return Files.executable(program, searchPath: path) != nil
    }
}
