internal import COpenSSL

/// What a certificate is to say; `issue` makes it, signed with SHA-256.
package struct CertificateTemplate: Sendable {
    package enum Purpose: Sendable {
        case authority
        case server
        case client
    }

    package var purpose: Purpose
    package var commonName: String
    /// `UID` in the subject's name.
    package var userID: String?
    /// Host names and addresses that a server answers for; `*` may stand for a label.
    package var hosts: [String] = []
    /// Seconds since 1970.
    package var validity: ClosedRange<Int64>
    /// Further extensions: their numbers (`1.2.3`) and DER bytes.
    package var extensions: [(number: String, value: [UInt8])] = []

    /// Whether `host` is an IP address, not a name.
    package static func isAddress(_ host: String) -> Bool {
        unsafe copenssl_is_address(host) == 1
    }

    package init(_ purpose: Purpose, commonName: String, validity: ClosedRange<Int64>) {
        (self.purpose, self.commonName, self.validity) = (purpose, commonName, validity)
    }

    /// A certificate for `key`, signed by the authority `issuer`; by `key` itself without one.
    package func issue(
        for key: P256PrivateKey,
        by issuer: (certificate: Certificate, key: P256PrivateKey)? = nil
    ) throws(TLSError) -> Certificate {
        let certificate = unsafe Certificate(owning: try made(X509_new(), "certificate"))
        let made = unsafe certificate.handle
        try check(unsafe X509_set_version(made, 2), "certificate")
        let serial = try Self.serialNumber()
        try check(unsafe copenssl_set_serial(made, serial, serial.count), "serial number")
        try check(
            unsafe copenssl_set_validity(made, validity.lowerBound, validity.upperBound),
            "validity",
            .input
        )
        try check(unsafe X509_set_pubkey(made, key.handle.pointer), "certificate")
        try setNames(of: certificate, issuer: issuer?.certificate)
        for (name, value) in standardExtensions {
            let authority = unsafe issuer?.certificate.handle ?? made
            let result = unsafe copenssl_add_extension(made, authority, name, value)
            try check(result, "extension \(name)", .input)
        }
        for (number, value) in extensions {
            let result = unsafe copenssl_add_raw_extension(made, number, value, value.count)
            try check(result, "extension \(number)", .input)
        }
        let signer = issuer?.key ?? key
        let count = unsafe X509_sign(made, signer.handle.pointer, EVP_sha256())
        guard count > 0 else { throw TLSError(taking: "sign", .library) }
        return certificate
    }

    private func setNames(
        of certificate: Certificate,
        issuer: Certificate?
    ) throws(TLSError) {
        let name = unsafe X509_get_subject_name(certificate.handle)
        var parts = [("CN", commonName)]
        if let userID { parts.append(("UID", userID)) }
        for (field, value) in parts {
            let result = unsafe X509_NAME_add_entry_by_txt(
                name,
                field,
                MBSTRING_FLAG,
                value,
                -1,
                -1,
                0
            )
            try check(result, "subject", .input)
        }
        let issuerName = unsafe issuer.map { unsafe X509_get_subject_name($0.handle) } ?? name
        try check(unsafe X509_set_issuer_name(certificate.handle, issuerName), "issuer")
    }

    /// Positive, 20 bytes at most, not to be guessed.
    private static func serialNumber() throws(TLSError) -> [UInt8] {
        var bytes = try Cryptography.randomBytes(16)
        bytes[0] &= 0x7F
        return bytes
    }

    /// In the notation of OpenSSL's configuration.
    private var standardExtensions: [(name: Int32, value: String)] {
        switch purpose {
        case .authority:
            [
                (NID_basic_constraints, "critical,CA:TRUE"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ]
        case .server:
            Self.leaf(for: "serverAuth")
                + (hosts.isEmpty ? [] : [(NID_subject_alt_name, alternativeNames)])
        case .client: Self.leaf(for: "clientAuth")
        }
    }

    private static func leaf(for use: String) -> [(name: Int32, value: String)] {
        [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, use),
            (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid"),
        ]
    }

    private var alternativeNames: String {
        hosts.map { (Self.isAddress($0) ? "IP:" : "DNS:") + $0 }
            .joined(separator: ",")
    }
}
