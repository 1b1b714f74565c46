package import Vocabulary

/// A desktop file as we read all of them: the daemon, and the commands that say what it would make
/// of one.
package struct ManifestFile {
    package let bytes: [UInt8]
    package let result: ManifestResult

    /// Why a file cannot be read, whatever is in it.
    package struct Unreadable: Error, Equatable {
        /// Goes on after the file: `cannot be read: Permission denied`.
        package let reason: String
        /// A sentence; empty where nothing helps.
        package let fix: String
        /// Nothing is there.
        package let isMissing: Bool

        fileprivate init(_ reason: String, fix: String = "", isMissing: Bool = false) {
            (self.reason, self.fix, self.isMissing) = (reason, fix, isMissing)
        }
    }

    /// `id`: what its app is called; `home`: what `~` stands for.
    package init(_ path: String, id: AppID, home: String) throws(Unreadable) {
        bytes = try Self.bytes(path)
        result = ManifestParser.parse(bytes: bytes, id: id, file: path, home: home)
    }

    private static func bytes(_ path: String) throws(Unreadable) -> [UInt8] {
        // A socket cannot be opened at all.
        if let kind = Files.status(path)?.kind, kind != .file { throw noFile(kind) }
        let status: FileStatus
        do throws(LinuxError) {
            // What has become a pipe meanwhile must not let us wait.
            let file = try FileDescriptor(opening: path, [.reading, .nonBlocking])
            status = try file.status()
            if status.kind == .file, status.size <= ManifestParser.readLimit {
                return try file.read(at: 0, count: Int(status.size) + 1)
            }
        } catch {
            throw failed(path, error.errno)
        }
        guard status.kind == .file else { throw noFile(status.kind) }
        throw Unreadable(
            "has \(status.size) bytes; at most \(ManifestParser.limit) are read",
            fix: "Remove translations or comments."
        )
    }

    private static func noFile(_ kind: FileStatus.Kind) -> Unreadable {
        Unreadable("is \(kind.noun), not a file", fix: "Name a manifest.")
    }

    private static func failed(_ path: String, _ errno: Errno) -> Unreadable {
        guard errno == .noEntry else {
            let fix = errno == .access ? "Permit this user to read it: chmod u+r \(path)" : ""
            return Unreadable("cannot be read: \(errno.text)", fix: fix)
        }
        guard let target = Files.linkTarget(path) else {
            return Unreadable("is not there", isMissing: true)
        }
        return Unreadable(
            "is a link to \(target), which is not there",
            fix: "Correct the link, or remove it.",
            isMissing: true
        )
    }
}

extension DesktopFiles {
    /// What a desktop file is to us.
    package enum Content {
        /// None of ours, hidden, or gone.
        case nothing
        case app(AppManifest)
        /// What `TryExec` names is not installed, and so the app is not either.
        case notInstalled(program: String)
        /// `reason`: the first error, with its line.
        case invalid(reason: String)
        /// Whether it is one of ours nobody knows.
        case unreadable(reason: String)
    }

    package func content(of file: Entry, home: String) -> Content {
        // As people hide an entry of the system's.
        if let status = file.status, status.kind == .other,
            Files.status("/dev/null")?.isSameFile(as: status) == true
        {
            return .nothing
        }
        let result: ManifestResult
        do throws(ManifestFile.Unreadable) {
            result = try ManifestFile(file.path, id: file.id, home: home).result
        } catch {
            let isGone = error.isMissing && Files.linkTarget(file.path) == nil
            return isGone ? .nothing : .unreadable(reason: "it \(error.reason)")
        }
        switch result {
        case .notAnApp: return .nothing
        case .app(let manifest, _):
            guard let program = manifest.tryExec, !Self.isInstalled(program) else {
                return .app(manifest)
            }
            return .notInstalled(program: program)
        case .invalid(let diagnostics):
            let first = diagnostics.first { $0.severity == .error } ?? diagnostics.first
            return .invalid(reason: first?.description ?? "it cannot be read")
        }
    }

    /// Whether it lies where the user keeps their own. Of the others, which packages and
    /// administrators leave behind, one that cannot be read is passed over: a later file of the
    /// same id counts.
    package func isOwn(_ path: String) -> Bool {
        directories.first.map { path.hasPrefix($0 + "/") } ?? false
    }

    /// As `TryExec` means it.
    package static func isInstalled(_ program: String) -> Bool {
        let path = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return Files.executable(program, searchPath: path).map(Files.isExecutable) ?? false
    }
}
