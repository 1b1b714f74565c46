import CommandTable
import Linux
import Vocabulary

extension GatewayPaths {
    /// Fails when this user may not read what is there.
    static func checkReadable(_ path: String) throws(Failure) {
        guard !Files.isMissing(path), !Files.isReadable(path) else { return }
        let owner = Files.status(Files.directory(of: path))?.user
        throw Failure(
            .failed,
            "no permission to read \(path)",
            fix: owner.map { "Its directory belongs to user \($0)." } ?? ""
        )
    }

    /// What `init` makes and nothing else can take the place of.
    var essentials: [String] { [authority, certificate, certificateKey, tokenKey] }

    /// Fails where `init` was never run.
    func checkExists() throws(Failure) {
        for path in essentials { try Self.checkReadable(path) }
        guard !essentials.contains(where: { Files.exists($0) }) else { return }
        throw Failure(
            .notFound,
            "there is no gateway in \(directory.quoted)",
            fix: "\"offstage-gateway init --directory=\(directory.shellWord)\" creates one; "
                + "--directory names another."
        )
    }

    /// Fails when a gateway cannot be run from what is there.
    func checkComplete() throws(Failure) {
        try checkExists()
        let missing = essentials.filter { !Files.exists($0) }
        guard !missing.isEmpty else { return }
        throw Failure(
            .failed,
            "the gateway in \(directory.quoted) lacks "
                + missing.map(Files.name).joined(separator: ", "),
            fix: "Take it from a backup: \"offstage-gateway help backup\"."
        )
    }

    /// Fails when the directory belongs to another user: files made there would keep that user's
    /// service from starting.
    func checkOwner() throws(Failure) {
        guard let owner = Files.status(directory)?.user, owner != CurrentProcess.user else {
            return
        }
        throw Failure(
            .failed,
            "\(directory.quoted) belongs to user \(owner), and this is user "
                + "\(CurrentProcess.user)",
            fix: "Start it as that user, or with its service manager."
        )
    }
}
