import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

extension GatewayPlaces {
    /// The first name of the gateway's certificate; nil when it names nobody.
    func certificateName() throws -> String? {
        let own = try Certificate(pem: try Files.text(certificate))
        return own.hostNames.first ?? own.subject(.commonName)
    }

    /// The name that the gateway at `address` shows: on this machine it is our own, whose
    /// certificate may be for its public name only.
    func serverName(at address: InternetAddress) -> String {
        let isHere =
            ["", "localhost", "::1"].contains(address.host) || address.host.hasPrefix("127.")
        guard isHere, let own = try? Certificate(pem: try Files.text(certificate)),
            !own.covers(address.host), let name = try? certificateName()
        else { return address.host }
        return name
    }

    /// Fails when this user may not read what is there.
    func checkReadable(_ path: String) throws(Failure) {
        guard !Files.isMissing(path), !Files.isReadable(path) else { return }
        let owner = Files.status(directory)?.user
        throw Failure(
            .failed,
            "no permission to read \(path)",
            fix: owner.map { "The gateway is that of the user \($0)." } ?? ""
        )
    }

    /// Fails when the directory is somebody else's: files made there would keep its own service
    /// from starting.
    func checkOwner() throws(Failure) {
        guard let owner = Files.status(directory)?.user, owner != CurrentProcess.user else {
            return
        }
        throw Failure(
            .failed,
            "\(directory.quoted) belongs to the user \(owner), and this is \(CurrentProcess.user)",
            fix: "Start it as that user, or with its service manager."
        )
    }
}
