/// Where an exchange's credentials are: files of the user, read for each attempt, so that nothing
/// of them is kept anywhere else and a renewed one counts.
package struct CredentialFiles: Hashable, Sendable, Codable {
    /// Each an absolute path without links. In Netscape's format.
    package var cookies: String?
    /// As ftp(1) and curl(1) have it.
    package var netrc: String?
    /// The client's, in PEM.
    package var certificate: String?
    /// Its key, in PEM; nil: it is in the file of the certificate.
    package var key: String?

    package init() {}

    package var isEmpty: Bool { self == CredentialFiles() }

    package var paths: [String] { [cookies, netrc, certificate, key].compactMap(\.self) }
}

/// What an exchange shows to servers that want to know who asks. Each part is shown only to those
/// whom it is for.
package struct Credentials: Hashable, Sendable, Codable {
    package var cookies: [Cookie] = []
    package var logins: [Login] = []
    /// What the app has answered to challenges of servers.
    package var answers: [AnsweredChallenge] = []
    /// For the origin of the order only.
    package var certificate: ClientCertificate?

    package init() {}

    package var isEmpty: Bool { self == Credentials() }

    /// Names and values of cookies, in bytes.
    package static let cookieBytes = 24_576
    /// Names and passwords.
    package static let loginBytes = 4_096
    /// Of a certificate with those that lead to its authority.
    package static let certificateBytes = 24_576
    package static let keyBytes = 16_384

    package struct Login: Hashable, Sendable, Codable {
        /// Nil: any that no other names.
        package var host: String?
        package var user: String
        package var password: String

        package init(host: String?, user: String, password: String) {
            (self.host, self.user, self.password) = (host, user, password)
        }
    }

    /// For the server of one origin, in one realm.
    package struct AnsweredChallenge: Hashable, Sendable, Codable {
        /// A URL of the origin.
        package var url: String
        package var challenge: HTTPChallenge
        package var user: String
        package var password: String

        package init(url: String, challenge: HTTPChallenge, user: String, password: String) {
            (self.url, self.challenge) = (url, challenge)
            (self.user, self.password) = (user, password)
        }
    }

    package struct ClientCertificate: Hashable, Sendable, Codable {
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            (self.certificate, self.key) = (certificate, key)
        }
    }

    /// Of challenges, so many to one exchange.
    package static let mostAnswers = 8
    /// Of the parameters of each.
    package static let challengeBytes = 2_048

    /// What could be of use on the way from this host: that of hosts with the same last two names.
    /// Which of it goes where is decided with each request.
    package func narrowed(to host: String) -> Credentials {
        var narrowed = self
        let site = Self.site(of: host)
        narrowed.cookies = cookies.filter { Self.site(of: $0.domain) == site }
        narrowed.logins = logins.filter { $0.host.map { Self.site(of: $0) == site } ?? true }
        return narrowed
    }

    private static func site(of host: String) -> String {
        host.isAddress
            ? host : host.lowercased().split(separator: ".").suffix(2).joined(separator: ".")
    }
}

extension String {
    /// An address, and no name: it has no domain above it.
    package var isAddress: Bool {
        contains(":")
            || split(separator: ".").last?.utf8.allSatisfy { (0x30...0x39).contains($0) }
                ?? false
    }
}

/// A line of a file of credentials that is none.
package struct CredentialError: Error, Hashable, Sendable, CustomStringConvertible {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String { reason }
}
