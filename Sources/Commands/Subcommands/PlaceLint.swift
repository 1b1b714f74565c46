import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// Where manifests are, and whether the daemon finds them there. Made once for all the files of a
/// command: it lists every directory, and asks for every app.
struct PlaceLint {
    /// What is found first under an id, and every file with the id that it has.
    private struct Places {
        var paths: [AppID: String] = [:]
        private var ids: [FileKey: AppID] = [:]

        private struct FileKey: Hashable {
            let device: UInt64
            let inode: UInt64

            init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
        }

        mutating func add(_ id: AppID, _ path: String, _ status: FileStatus?) {
            if paths[id] == nil { paths[id] = path }
            guard let status else { return }
            let key = FileKey(status)
            if ids[key] == nil { ids[key] = id }
        }

        func id(of status: FileStatus) -> AppID? { ids[FileKey(status)] }
    }

    private let files = DesktopFiles.ofEnvironment()
    /// By the environment of this command.
    private var listed = Places()
    /// What the daemon has found, which may have been told of other directories; nil: none runs.
    private var known: Places?

    init(_ invocation: Invocation) {
        for entry in files.entries() {
            // As the daemon passes over what is not there.
            guard entry.status?.kind == .file || files.isOwn(entry.path) else { continue }
            listed.add(entry.id, entry.path, entry.status)
        }
        guard let apps = try? invocation.ask(Control1.Apps()) else { return }
        var places = Places()
        for app in apps.map(\.report) {
            guard let file = app.file else { continue }
            places.add(app.app, file, Files.status(file))
        }
        known = places
    }

    /// The id under which a file is found; else the one that it would have by its name. Nil: it
    /// has none.
    func id(of file: String) -> AppID? {
        let status = Files.status(file)
        return status.flatMap { known?.id(of: $0) ?? listed.id(of: $0) }
            ?? DesktopFileID.id(relativePath: Files.name(of: file))
    }

    /// What to do about a file that is not there: an app may have been named instead.
    func fix(absent file: String) -> String {
        let suffix = ".desktop"
        let isFile = file.hasSuffix(suffix)
        let app = AppID(isFile ? String(file.dropLast(suffix.count)) : file)
        if let path = (known ?? listed).paths[app] {
            return "The manifest of the app \(app.name) is \(path)."
        }
        return isFile ? "" : "Name a file: a manifest is called NAME.desktop."
    }

    /// What keeps the daemon from finding a file as `id`. Of a daemon that runs its own word
    /// counts, whatever this command's environment says.
    func check(_ file: String, _ id: AppID, _ bytes: [UInt8]) -> [Diagnostic] {
        let first = (known ?? listed).paths[id]
        if let first, isSame(file, first) { return [] }
        let isListed = Files.status(file).flatMap { listed.id(of: $0) } != nil
        guard isListed else {
            guard let first else { return [outside] }
            // Where an app is written its manifest is another file than the installed one.
            let installed = try? ManifestFile(first, id: id, home: BaseDirectory.home())
            return installed?.bytes == bytes ? [] : [differs(id, from: first)]
        }
        guard let first else { return [notFound] }
        return [
            Diagnostic(
                .warning,
                value: id.name,
                reason: "is also the app of \(first), which is found first and used",
                fix: "Remove one of the two, or rename this one."
            )
        ]
    }

    private func isSame(_ file: String, _ other: String) -> Bool {
        guard let mine = Files.status(file), let status = Files.status(other) else { return false }
        return mine.isSameFile(as: status)
    }

    private func differs(_ id: AppID, from first: String) -> Diagnostic {
        Diagnostic(
            .warning,
            value: id.name,
            reason: "is the app of \(first), which differs from this file",
            fix: "Copy this one there if it is the newer one."
        )
    }

    private var outside: Diagnostic {
        let own = files.directories.first ?? ""
        return Diagnostic(
            .warning,
            reason: "is in no directory that is searched for manifests, so its app is not known",
            fix: "Copy it to \(own), or link it there."
        )
    }

    private var notFound: Diagnostic {
        Diagnostic(
            .warning,
            reason: "is not known to the daemon: the daemon has not read this file yet, or "
                + "searches other directories than this command",
            fix: "Run \"offstage reload\". If that does not help, start the daemon with this "
                + "XDG_DATA_HOME and XDG_DATA_DIRS, or put the file where it searches."
        )
    }
}
