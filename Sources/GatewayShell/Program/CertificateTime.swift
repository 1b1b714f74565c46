import CommandTable
import GatewayCore
import Linux
import TLS
import Vocabulary

/// The certificate that is served, and until when it is good.
struct CertificateTime {
    private let path: String
    let validity: CertificateValidity

    init(_ paths: GatewayPaths) throws(Failure) {
        path = paths.certificate
        validity = CertificateValidity(try paths.ownCertificate().validity)
    }

    /// Why nobody takes it; nil: they do.
    func problem(at wall: WallTime) -> String? {
        validity.problem(at: wall).map { "\(path): \($0)" }
    }

    func warn(at wall: WallTime) {
        if let warning = validity.warning(at: wall) { GatewayLog.write("\(path): \(warning)") }
    }
}
