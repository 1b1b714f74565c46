import Vocabulary

/// A message between `offstaged` and `offstage-net` that no such program sends.
package struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    package let reason: String

    package var description: String { reason }

    package init(_ reason: String) { self.reason = reason }
}

/// A message that is validated when it is sent, and when it arrives.
protocol NetworkMessage: LinkValue {
    func check() throws(NetworkError)
}

extension NetworkMessage {
    fileprivate static func read(_ bytes: [UInt8]) throws(NetworkError) -> Self {
        guard bytes.count <= NetworkFormat.messageBytes else { throw NetworkError("too long") }
        var fields = FieldReader(bytes)
        let message = try Self(from: &fields)
        guard fields.isAtEnd else { throw NetworkError("something behind it") }
        try message.check()
        return message
    }

    fileprivate func written() throws(NetworkError) -> [UInt8] {
        try check()
        let bytes = uncheckedBytes
        guard bytes.count <= NetworkFormat.messageBytes else { throw NetworkError("too long") }
        return bytes
    }

    fileprivate var uncheckedBytes: [UInt8] {
        var fields = FieldWriter()
        fields.put(self)
        return fields.bytes
    }
}

extension NetworkOrder: NetworkMessage {
    package init(_ bytes: [UInt8]) throws(NetworkError) { self = try Self.read(bytes) }

    package func bytes() throws(NetworkError) -> [UInt8] { try written() }

    /// For tests: also of what may not be sent.
    package var bytesUnchecked: [UInt8] { uncheckedBytes }

    func check() throws(NetworkError) {
        switch self {
        case .hello(let version): try demand((1...1 << 20).contains(version), "version")
        case .begin(_, let order): try order.check()
        case .upload(_, let order): try order.check()
        case .remove(let removal): try removal.check()
        case .stored(_, let durable): try demand(durable.isSize, "durable")
        case .proceed, .stop: break
        }
    }
}

extension NetworkReport: NetworkMessage {
    package init(_ bytes: [UInt8]) throws(NetworkError) { self = try Self.read(bytes) }

    package func bytes() throws(NetworkError) -> [UInt8] { try written() }

    /// For tests: also of what may not be sent.
    package var bytesUnchecked: [UInt8] { uncheckedBytes }

    func check() throws(NetworkError) {
        switch self {
        case .hello(let version, let lacks):
            try demand((1...1 << 20).contains(version), "version")
            try demand(Set(lacks).count == lacks.count, "part of a sandbox")
        case .retires: break
        case .answered(_, let answer): try answer.check()
        case .resource(_, let resource): try resource?.check()
        case .sent(_, let part): try demand(part.isValid(upTo: .largestSize), "digest")
        case .progress(_, let received, let durable):
            try demand(received.isSize && durable.isSize && durable <= received, "progress")
        case .ranges(_, let ranges):
            try demand(FilledBytes(prefix: 0, ranges: ranges).isValid, "ranges")
        case .ended(_, let end, let durable):
            try demand(durable.isSize, "durable")
            try end.check(durable: durable)
        }
    }
}

extension ExchangeOrder {
    fileprivate func check() throws(NetworkError) {
        try demand(url.isWebURL, "url")
        try headers.checkOfOrder()
        try resume?.check()
        try demand(sizeLimit?.isSize ?? true, "size limit")
        try demand(sha256?.count ?? 32 == 32, "SHA-256")
        try demand(moreConnections.isOfConnections, "connections")
        try demand(connectionsPerHost ?? 1 > 0, "connections per host")
        try checkManner(timeout, rateLimit, proxy)
        try credentials?.check()
    }
}

extension UploadOrder {
    fileprivate func check() throws(NetworkError) {
        try demand(url.isWebURL, "url")
        try headers.checkOfOrder()
        try demand(source.size.isSize, "size")
        try resource?.check()
        try demand(resource?.offset ?? 0 <= source.size, "offset")
        if let sent {
            try demand(resource != nil && sent.isValid(upTo: source.size), "digest")
        }
        try demand(connectionsPerHost ?? 1 > 0, "connections per host")
        try checkManner(timeout, rateLimit, proxy)
        try credentials?.check()
    }
}

extension Credentials {
    fileprivate func check() throws(NetworkError) {
        let cookieBytes = cookies.reduce(0) {
            $0 + $1.domain.utf8.count + $1.path.utf8.count + $1.name.utf8.count
                + $1.value.utf8.count
        }
        try demand(cookies.allSatisfy(\.isPlain), "cookie")
        try demand(cookieBytes <= 2 * Self.cookieBytes, "cookies")
        let loginBytes = logins.reduce(0) {
            $0 + ($1.host ?? "").utf8.count + $1.user.utf8.count + $1.password.utf8.count
        }
        try demand(loginBytes <= 2 * Self.loginBytes, "passwords")
        try demand(answers.count <= Self.mostAnswers, "answers")
        for answer in answers { try answer.check() }
        guard let certificate else { return }
        try demand(
            certificate.certificate.utf8.count <= Self.certificateBytes
                && certificate.key.utf8.count <= Self.keyBytes,
            "certificate"
        )
    }
}

extension Credentials.AnsweredChallenge {
    fileprivate func check() throws(NetworkError) {
        try demand(url.isWebURL, "url")
        try demand(user.isLine && password.isLine, "password")
        try demand(user.utf8.count <= Credentials.loginBytes, "user")
        try demand(password.utf8.count <= Credentials.loginBytes, "password")
        try demand(challenge.takesLogin, "challenge")
    }
}

extension UploadRemoval {
    fileprivate func check() throws(NetworkError) {
        try demand(url.isWebURL, "url")
        try resource.check()
        try headers.checkOfOrder()
        try demand(proxy.map { $0.isEmpty || $0.isLine } ?? true, "proxy")
    }
}

/// What both kinds of orders have.
private func checkManner(
    _ timeout: Interval,
    _ rateLimit: Int64?,
    _ proxy: String?
) throws(NetworkError) {
    try demand(timeout > .zero && timeout <= ExchangeOrder.longestTimeout, "timeout")
    try demand(rateLimit.map { $0 > 0 && $0.isSize } ?? true, "rate limit")
    try demand(proxy.map { $0.isEmpty || $0.isLine } ?? true, "proxy")
}

extension UploadResource {
    fileprivate func check() throws(NetworkError) {
        try demand(url.isWebURL, "url")
        try demand(offset.isSize, "offset")
    }
}

extension ExchangeAnswer {
    fileprivate func check() throws(NetworkError) {
        try demand((0...999).contains(status), "status")
        try demand(url.isWebURL, "url")
        try headers.check()
        try demand(offset.isSize && total?.isSize ?? true && offset <= total ?? .max, "offset")
        try demand(!startsAnew || offset == 0, "offset")
        try demand(moreConnections.isOfConnections, "connections")
        try demand(!isWhole || !startsAnew && total != nil, "length")
        if let validator { try validator.check() }
        try demand(body?.array.count ?? 0 <= Self.longestBody, "body")
    }
}

extension ExchangeEnd {
    fileprivate func check(durable: Int64) throws(NetworkError) {
        switch self {
        case .complete(let size): try demand(size == durable, "size")
        case .interrupted(let interruption):
            try demand(interruption.reason.isLine, "reason")
            let wait = interruption.retryAfter ?? .minutes(1)
            try demand((.seconds(30)...Interval.days(1)).contains(wait), "wait")
        case .failed(let failure): try demand(failure.reason.isLine, "reason")
        case .challenged(let answer):
            try demand(answer.status == 401, "challenge")
            try answer.check()
        }
    }
}

extension ResumePoint {
    fileprivate func check() throws(NetworkError) {
        try demand(offset.isSize && total?.isSize ?? true, "offset")
        try demand(offset > 0 || !ranges.isEmpty, "offset")
        // What has gaps needs an end.
        try demand(ranges.isEmpty || filled.isValid && total != nil, "ranges")
        try demand(filled.end <= total ?? .max, "offset")
        try validator.check()
    }
}

extension Validator {
    fileprivate func check() throws(NetworkError) {
        try demand(!text.isEmpty && text.utf8.count <= 1024 && text.isLine, "validator")
        guard let coding else { return }
        try demand((1...Self.longestCoding).contains(coding.utf8.count), "validator")
        try demand(coding.isLine, "validator")
    }
}

extension [HTTPField] {
    /// What the exchange itself says, or libcurl.
    private static var reserved: [String] {
        [
            "accept-encoding", "connection", "content-length", "expect", "host", "if-range",
            "range", "transfer-encoding", "upload-complete", "upload-draft-interop-version",
            "upload-length", "upload-offset",
        ]
    }

    fileprivate func checkOfOrder() throws(NetworkError) {
        try check()
        for field in self {
            try demand(!Self.reserved.contains(field.name.lowercased()), "header field")
        }
    }

    fileprivate func check() throws(NetworkError) {
        try demand(count <= NetworkFormat.mostHeaders, "header fields")
        let bytes = reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        try demand(bytes <= NetworkFormat.headerBytes, "header fields")
        for field in self { try demand(field.isLegal, "header field") }
    }
}

extension Int64 {
    /// Beside the first.
    fileprivate var isOfConnections: Bool { 0 <= self && self < ExchangeOrder.mostConnections }

    /// Of a file.
    fileprivate var isSize: Bool { (0...Self.largestSize).contains(self) }
    fileprivate static var largestSize: Int64 { 1 << 60 }
}

extension String {
    /// Without control characters, and not endless.
    fileprivate var isLine: Bool {
        utf8.count <= NetworkFormat.urlBytes && utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    fileprivate var isWebURL: Bool {
        (hasPrefix("http://") || hasPrefix("https://"))
            && utf8.count <= NetworkFormat.urlBytes
            && utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}

private func demand(_ holds: Bool, _ what: String) throws(NetworkError) {
    if !holds { throw NetworkError("no such \(what)") }
}
