// What is said of transfers, on the wire and in reports. These words stay the same.

/// Which way the bytes of a transfer go.
package enum TransferWay: String, Hashable, Sendable, CaseIterable {
    case download, upload
}

/// Where a transfer stands.
package enum TransferStanding: String, Hashable, Sendable, CaseIterable {
    case running, waiting, paused, finished, failed, cancelled
}

/// How a transfer, or a task of a session, ended.
package enum TransferOutcome: String, Hashable, Sendable, CaseIterable {
    case finished, failed, cancelled
}

/// Why a transfer failed: what `ExchangeFailure.Code` says of the exchange, and what is no
/// server's doing.
package enum TransferFailureName: String, Hashable, Sendable, CaseIterable {
    case status, tooManyRedirects, badRedirect, untrusted, badAnswer, tooLarge, checksum, file
    case badURL, source, credentials, uncertain
    /// It was not done in time.
    case timedOut
    /// The user has closed its app.
    case closedByUser
    /// What it was to go on with is not there.
    case resumeGone
    /// There is a file of its name already.
    case exists

    package init(_ code: ExchangeFailure.Code) {
        self =
            switch code {
            case .status: .status
            case .tooManyRedirects: .tooManyRedirects
            case .badRedirect: .badRedirect
            case .untrusted: .untrusted
            case .badAnswer: .badAnswer
            case .tooLarge: .tooLarge
            case .checksum: .checksum
            case .file: .file
            case .badURL: .badURL
            case .source: .source
            case .credentials: .credentials
            case .uncertain: .uncertain
            }
    }
}
