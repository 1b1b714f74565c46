internal import COpenSSL
internal import Glibc

/// Why a server's certificate is not taken.
package enum CertificateProblem: Equatable, Sendable {
    /// It is for these names and addresses, none of which was asked for.
    case otherName([String])
    /// Who issued it, by the name in it; no anchor vouches for that one.
    case unknownAuthority(String)
    /// Its time is over; in OpenSSL's words.
    case expired(String)
    /// Another reason, in the same.
    case other(String)

    /// `result`: of the verification.
    init(_ result: Int, _ certificate: Certificate?) {
        switch Int32(truncatingIfNeeded: result) {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            self = .otherName(certificate?.allNames ?? [])
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
            self = .unknownAuthority(certificate?.issuer ?? "")
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired(Self.explanation(result))
        default: self = .other(Self.explanation(result))
        }
    }

    private static func explanation(_ result: Int) -> String {
        unsafe String(cString: X509_verify_cert_error_string(result))
    }
}

extension CertificateProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .otherName(let names):
            let some = names.prefix(8).joined(separator: ", ")
            return "the certificate is for \(names.isEmpty ? "nobody" : some)"
                + (names.count > 8 ? " and \(names.count - 8) more" : "")
        case .unknownAuthority(let issuer):
            return "the certificate was issued by "
                + (issuer.isEmpty ? "nobody who is trusted" : "\"\(issuer)\", who is not trusted")
        case .expired(let text), .other(let text): return "the certificate is not taken: \(text)"
        }
    }
}

extension Certificate {
    /// All names and addresses of servers that it is for, as a person may read them.
    var allNames: [String] {
        let names = extensionValue("2.5.29.17") ?? []
        let found =
            DER.texts(names, tag: 0x82).map(Self.printable)
            // iPAddress: 4 or 16 bytes.
            + DER.contents(names, tag: 0x87).compactMap(Self.address)
        return found.isEmpty ? (subject(.commonName).map { [Self.printable($0)] } ?? []) : found
    }

    /// Organisation and common name of who issued it.
    var issuer: String {
        let name = unsafe X509_get_issuer_name(handle)
        let parts = [NamePart.organization, .commonName].compactMap { unsafe Self.text(name, $0) }
        return parts.map(Self.printable).joined(separator: " ")
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(family, bytes, &text, UInt32(text.count)) != nil else { return nil }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }

    /// It comes from a stranger: what would steer a terminal is not shown.
    private static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(255).map {
                [.control, .format].contains($0.properties.generalCategory) ? "?" : Character($0)
            }
        )
    }
}
