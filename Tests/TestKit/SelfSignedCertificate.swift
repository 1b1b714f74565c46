import Linux

/// A new certificate that its own key has signed, and that key, as files in PEM.
package enum SelfSignedCertificate {
    /// `more`: other options of `openssl req`.
    package static func make(
        at certificate: String,
        key: String,
        name: String,
        _ more: String...
    ) throws {
        let made = try Command(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=\(name)",
            ] + more
        ).run()
        guard made.succeeded else { throw DidNotHappen(description: made.errors) }
    }
}
