internal import COpenSSL

/// An X.509 certificate.
@safe
package final class Certificate: @unchecked Sendable {  // never changed, counted atomically
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe X509_free(handle) }

    /// The first one in a PEM text.
    package convenience init(pem: String) throws(TLSError) {
        let input = try MemoryText(pem)
        let read = unsafe PEM_read_bio_X509(input.handle, nil, { _, _, _, _ in -1 }, nil)
        unsafe self.init(owning: try made(read, "certificate", .input))
    }

    /// All of a PEM text, in its order; text between them is skipped.
    package static func all(inPEM text: String) throws(TLSError) -> [Certificate] {
        let input = try MemoryText(text)
        var found: [Certificate] = []
        while let next = unsafe PEM_read_bio_X509(input.handle, nil, { _, _, _, _ in -1 }, nil) {
            found.append(unsafe Certificate(owning: next))
        }
        let isAtEnd = copenssl_is_at_end_of_pem() == 1
        guard isAtEnd else { throw TLSError(taking: "certificate", .input) }
        return found
    }

    package func pem() throws(TLSError) -> String {
        let output = try MemoryText()
        try check(unsafe PEM_write_bio_X509(output.handle, handle), "certificate")
        return output.text
    }

    /// SHA-256 of its DER form.
    package func fingerprint() throws(TLSError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        try check(unsafe X509_digest(handle, EVP_sha256(), &digest, &count), "certificate")
        return digest
    }

    /// A part of the subject's name.
    package enum NamePart: Sendable {
        case commonName
        /// `UID`, where push certificates have their topic.
        case userID
        case organizationalUnit
        case organization

        var number: Int32 {
            switch self {
            case .commonName: NID_commonName
            case .userID: NID_userId
            case .organizationalUnit: NID_organizationalUnitName
            case .organization: NID_organizationName
            }
        }
    }

    /// The first such part of the subject's name; nil when it has none.
    package func subject(_ part: NamePart) -> String? {
        unsafe Self.text(X509_get_subject_name(handle), part)
    }

    /// The first such part of a name of OpenSSL's.
    static func text(_ name: OpaquePointer?, _ part: NamePart) -> String? {
        let index = unsafe X509_NAME_get_index_by_NID(name, part.number, -1)
        guard index >= 0 else { return nil }
        let entry = unsafe X509_NAME_get_entry(name, index)
        var text: UnsafeMutablePointer<UInt8>?
        let count = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        guard count >= 0 else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe copenssl_free(text) }
        return unsafe String(
            decoding: UnsafeBufferPointer(start: text, count: Int(count)),
            as: UTF8.self
        )
    }

    /// The DER bytes of the extension with this number (`1.2.840.113635.100.6.3.6`); nil when there
    /// is none.
    package func extensionValue(_ number: String) -> [UInt8]? {
        guard let object = unsafe OBJ_txt2obj(number, 1) else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        let index = unsafe X509_get_ext_by_OBJ(handle, object, -1)
        guard index >= 0,
            let data = unsafe X509_EXTENSION_get_data(X509_get_ext(handle, index))
        else { return nil }
        return unsafe [UInt8](
            UnsafeBufferPointer(
                start: ASN1_STRING_get0_data(data),
                count: Int(ASN1_STRING_length(data))
            )
        )
    }

    /// Whether a server that shows it answers for `host`, a name or an address.
    package func covers(_ host: String) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_ip_asc(handle, host, 0) == 1
            || X509_check_host(handle, host, host.utf8.count, 0, nil) == 1
    }

    /// The names of servers that it is for, in its order, without those with a wildcard.
    package var hostNames: [String] {
        // dNSName in subjectAltName (RFC 5280 section 4.2.1.6).
        DER.texts(extensionValue("2.5.29.17") ?? [], tag: 0x82).filter { !$0.contains("*") }
    }

    /// From when to when it is valid, in seconds since 1970; nil for a time that cannot be read.
    package var validity: ClosedRange<Int64>? {
        let from = unsafe copenssl_seconds(X509_get0_notBefore(handle))
        let until = unsafe copenssl_seconds(X509_get0_notAfter(handle))
        guard from != .min, until != .min, from <= until else { return nil }
        return from...until
    }
}
