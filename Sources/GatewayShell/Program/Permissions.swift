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
