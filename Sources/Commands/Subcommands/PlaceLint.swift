import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// Where a manifest is, and whether the daemon finds it there.
struct PlaceLint {
    private let files = DesktopFiles.ofEnvironment()
    private let file: String
    private let invocation: Invocation

    init(_ file: String, _ invocation: Invocation) {
        (self.file, self.invocation) = (file, invocation)
    }

    /// The id under which it is found; else the one that it would have by its name. Nil: it has
    /// none.
    func id() -> AppID? { entry()?.id ?? DesktopFileID.id(relativePath: Files.name(of: file)) }

    /// The same file below a directory that is searched, by whatever path.
    private func entry() -> DesktopFiles.Entry? {
        guard let status = Files.status(file) else { return nil }
        return files.entries().first { $0.status?.isSameFile(as: status) == true }
    }

    /// What keeps the daemon from finding it.
    func check(_ id: AppID) -> [Diagnostic] {
        let first = files.entries().first { $0.id == id }
        if let first, isSame(first.path) { return [] }
        if let known = known(id), isSame(known) { return [] }
        guard entry() != nil, let first else { return [outside] }
        return [
            Diagnostic(
                .warning,
                value: id.name,
                reason: "is also the app of \(first.path), which is found first and used",
                fix: "Remove one of the two, or rename this one."
            )
        ]
    }

    private func isSame(_ other: String) -> Bool {
        guard let mine = Files.status(file), let status = Files.status(other) else { return false }
        return mine.isSameFile(as: status)
    }

    /// The daemon may have been told of other directories. Nil: it does not know the app, or none
    /// runs.
    private func known(_ id: AppID) -> String? {
        let apps = try? invocation.ask(Control1.Apps())
        return apps?.map(\.report).first { $0.app == id }?.file
    }

    private var outside: Diagnostic {
        let own = files.directories.first ?? ""
        return Diagnostic(
            .warning,
            reason: "is in no directory that is searched for manifests, so its app is not known",
            fix: "Copy it to \(own), or link it there."
        )
    }
}
