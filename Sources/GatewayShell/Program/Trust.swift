import CommandTable
import Linux
import TLS

extension GatewayInvocation {
    /// Who vouches for the gateway: the file that was named, else that of the directory.
    func anchors() throws(Failure) -> (file: String, text: String) {
        let file = options["ca"] ?? paths.authority
        guard !Files.isMissing(file) else {
            throw Failure(
                .notFound,
                "there is no \(file), which says whom to trust",
                fix: "--ca=FILE names the gateway's ca.pem."
            )
        }
        return (file, try failing { try Files.text(file) })
    }
}

extension Failure {
    /// The certificate of the gateway at `address` is not taken: whom it is for, or who was
    /// trusted, and what to type instead. `host`: the name that was asked for; `file`: of the
    /// anchors.
    init(
        untrusted problem: CertificateProblem,
        at address: InternetAddress,
        as host: String,
        trusting file: String
    ) {
        let what = "\(address): \(problem)"
        switch problem {
        case .otherName(let names):
            let name = names.first { !$0.hasPrefix("*") }
            var example = "NAME:\(address.port)"
            if let name { example = "\(InternetAddress(host: name, port: address.port))" }
            self.init(
                .failed,
                what + ", not for \(host.isEmpty ? "localhost" : host)",
                fix:
                    "Use one of its names that leads to the gateway: --host=\(example). On "
                    + "the gateway's own machine, without --ca, its directory says the name."
            )
        case .unknownAuthority:
            self.init(
                .failed,
                "\(what) by \(file)",
                fix: "--ca=FILE names the file of its authority; for public ones "
                    + "/etc/ssl/certs/ca-certificates.crt."
            )
        case .expired:
            self.init(
                .failed,
                what,
                fix: "The gateway needs a new one: without server.pem and server.key in its "
                    + "directory, \"offstage-gateway init\" makes a new pair. If it has one, check "
                    + "the clock of this machine."
            )
        case .other: self.init(.failed, what)
        }
    }
}
