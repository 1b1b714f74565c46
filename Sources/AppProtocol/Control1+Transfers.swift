package import Vocabulary

extension Control1 {
    /// One file to fetch.
    package struct DownloadFile: OptionMap, EnqueuedFile {
        package var url = ""
        package var file: String?
        package var sha256: String?
        package init() {}
        package init(url: String) { self.url = url }

        static var mostInList: Int { mostInCall }
        package var texts: [String] { [url] + [file, sha256].compactMap(\.self) }

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.required("url", &url, upTo: ExchangeOrder.longestURL)
            try fields.option("file", &file)
            try fields.option("sha256", &sha256)
        }
    }

    package struct Download: EnqueueCall {
        package typealias Reply = EnqueuedTransfers
        package var files: [DownloadFile] = []
        package var directory: String?
        package var overwrite = false
        package var connections: Int64?
        package var permissions: Int64?
        package var manner = TransferManner()
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("files", &files)
            try fields.option("directory", &directory, "an absolute path without links")
            try fields.option("overwrite", &overwrite, "replaces existing files when complete")
            try fields.option(
                "connections",
                &connections,
                in: 1...Int64(ExchangeOrder.mostConnections),
                "1 to 16, over which ranges of a file are fetched side by side"
            )
            try fields.option(
                "permissions",
                &permissions,
                in: 0o600...0o666,
                "of the files, 384 (0600) to 438 (0666), none to execute; 420 (0644) if they are "
                    + "not given"
            )
            try manner.pass(&fields)
        }

        package func check() throws(OptionError) {
            guard !files.isEmpty else {
                throw OptionError(reason: "there is no file to fetch", value: "", fix: "give a URL")
            }
            guard directory != nil else {
                throw OptionError(reason: "directory is missing", value: "", fix: "give directory")
            }
            for file in files {
                guard let sum = file.sha256, Checksum.bytes(sum) == nil else { continue }
                throw OptionError(
                    reason: "sha256 is not 64 hexadecimal digits",
                    value: sum,
                    fix: "sha256sum prints it"
                )
            }
            try manner.check()
        }
    }

    /// One file to send.
    package struct UploadFile: OptionMap, EnqueuedFile {
        package var url = ""
        package var file = ""
        package init() {}
        package init(url: String, file: String) { (self.url, self.file) = (url, file) }

        static var mostInList: Int { mostInCall }
        package var texts: [String] { [url, file] }

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.required("url", &url, upTo: ExchangeOrder.longestURL)
            try fields.required("file", &file)
        }
    }

    package struct Upload: EnqueueCall {
        package typealias Reply = EnqueuedTransfers
        package var files: [UploadFile] = []
        package var method: String?
        package var idempotent = false
        package var manner = TransferManner()
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("files", &files)
            try fields.option("method", &method, "\(UploadMethod.choice); PUT if it is not given")
            try fields.option(
                "idempotent",
                &idempotent,
                "a POST or PATCH may be sent again though the server may have the file"
            )
            try manner.pass(&fields)
        }

        package func check() throws(OptionError) {
            guard !files.isEmpty else {
                throw OptionError(reason: "there is no file to send", value: "", fix: "name a file")
            }
            guard UploadMethod(rawValue: method ?? "PUT") != nil else {
                throw OptionError(
                    reason: "no file is sent by this method",
                    value: method ?? "",
                    fix: "give \(UploadMethod.choice)"
                )
            }
            for file in files where !file.file.hasPrefix("/") || file.file.hasSuffix("/") {
                throw OptionError(
                    reason: "file is not an absolute path",
                    value: file.file,
                    fix: "give its whole path, without links"
                )
            }
            try manner.check()
        }
    }

    /// How transfers are made: what downloads and uploads have in common.
    package struct TransferManner: Equatable, Sendable {
        package var headers: [String]?
        package var discretionary = false
        package var after: Interval?
        package var earliest: WallTime?
        package var needs = Needs()
        package var rate: Int64?
        package var proxy: String?
        package var credentials = CredentialFiles()
        package var notifies = false
        package var token: String?
        package init() {}

        mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("headers", &headers, "each as NAME: VALUE")
            try fields.option(
                "discretionary",
                &discretionary,
                "waits for an unmetered network, power and an idle device"
            )
            try fields.option("after", &after)
            try fields.option("earliest", &earliest, "in place of after")
            try fields.option("unmetered", &needs.unmetered)
            try fields.option("power", &needs.power)
            try fields.option("rate", &rate, in: 1...1 << 50, "bytes a second")
            try fields.option("proxy", &proxy, "a URL; empty is none")
            let path = "an absolute path without links"
            try fields.option("cookies", &credentials.cookies, "\(path), in Netscape's format")
            try fields.option("netrc", &credentials.netrc, path)
            try fields.option("certificate", &credentials.certificate, "\(path), in PEM")
            try fields.option("key", &credentials.key, "of the certificate: \(path), in PEM")
            try fields.option(
                "notify",
                &notifies,
                "shows a notification on the desktop when all of the call have ended"
            )
            try fields.token(&token, "a repeated call with the same token gets the first answer")
        }

        func check() throws(OptionError) {
            guard after == nil || earliest == nil else { throw .both("after", "earliest") }
            if credentials.key != nil, credentials.certificate == nil {
                throw OptionError(
                    reason: "a key has no certificate",
                    value: credentials.key ?? "",
                    fix: "give the certificate too"
                )
            }
            for path in credentials.paths where !path.hasPrefix("/") || path.hasSuffix("/") {
                throw OptionError(
                    reason: "this is not the absolute path of a file",
                    value: path,
                    fix: "give its whole path, without links"
                )
            }
            try OptionError.check(headers: headers)
        }
    }

    package struct Transfers: ControlCall {
        package typealias Reply = [Reported<Report.Transfer>]
        package init() {}
    }

    /// The same in parts: an answer has room for some thousand only.
    package struct TransferPage: ControlCall {
        package typealias Reply = ListedTransfers
        package var transfers: [Int64]?
        package init() {}

        /// Far below what an answer may hold, however long the URLs are.
        package static let most = 500
        /// As many as are kept: what `more` tells can be asked for.
        package static let mostAsked = 20_000

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option(
                "transfers",
                &transfers,
                upTo: Self.mostAsked,
                "only these, in this order; what is gone is left out"
            )
        }
    }

    /// For who watches: what changes all the time, without all that is known of each.
    package struct TransferProgress: ControlCall {
        package typealias Reply = Report.TransferProgress
        package var transfers: [Int64]?
        package var rows: Int64?
        package var ended: Int64?
        package init() {}

        /// Of each list: as far below what an answer may hold as a page is.
        package static let most = Int64(TransferPage.most / 2)

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option(
                "transfers",
                &transfers,
                upTo: TransferPage.mostAsked,
                "only these; what is gone is left out"
            )
            let bounds = 0...Self.most
            try fields.option("rows", &rows, in: bounds, "in shown, more only if more run")
            try fields.option("ended", &ended, in: bounds, "in ended")
        }
    }

    package struct ChangeTransfers: ControlCall {
        package var action = TransferAction.pause
        package var transfers: [Int64] = []
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("action", &action)
            try fields.argument("transfers", &transfers)
        }
    }

    package struct MoveTransfers: ControlCall {
        package var transfers: [Int64] = []
        package var place: TransferPlace?
        package var directory: String?
        package var file: String?
        package var overwrite = false
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("transfers", &transfers)
            try fields.option("place", &place, "first or last, among those that wait")
            try fields.option("directory", &directory, "an absolute path without links")
            try fields.option("file", &file, "the name in the directory, for one transfer")
            try fields.option("overwrite", &overwrite, "replaces an existing file when complete")
        }

        package func check() throws(OptionError) {
            guard place == nil, directory == nil, file == nil, !overwrite else { return }
            throw OptionError(
                reason: "nothing is to be changed",
                value: "",
                fix: "give place, directory, file or overwrite"
            )
        }
    }

    package enum TransferPlace: String, CaseIterable, Sendable, FieldType {
        case first, last
    }

    package enum TransferAction: String, CaseIterable, Sendable, FieldType {
        case pause, resume, cancel
        /// Ended ones are listed no longer; without numbers: all of them.
        case forget
    }
}

/// A SHA-256 in hexadecimal digits.
package enum Checksum {
    /// Its 32 bytes; nil: it is none.
    package static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        var high: Int?
        for character in text {
            guard let digit = character.hexDigitValue else { return nil }
            if let first = high {
                bytes.append(UInt8(first * 16 + digit))
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
