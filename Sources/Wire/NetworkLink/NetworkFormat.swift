/// The link between `offstaged` and `offstage-net`: version and limits. Both come from one build,
/// but an upgrade may replace the program while the daemon runs.
package enum NetworkFormat {
    package static let version = 9
    /// The longest datagram, in bytes.
    package static let messageBytes = 131_072
    package static let urlBytes = 8_192
    /// Names and values of all header fields of a request, or of an answer.
    package static let headerBytes = 65_536
    package static let mostHeaders = 256
    /// Begun and not ended.
    package static let mostExchanges = 256
}
