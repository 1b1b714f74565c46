package import Vocabulary

/// What is durable of a download.
package struct FetchedPart: Hashable, Sendable {
    /// From where another attempt goes on.
    package var point: ResumePoint
    /// What was said of this version; nil: nothing, or the store has the part since version 11.
    package var head: KeptHead?

    package var offset: Int64 { point.offset }
    package var total: Int64? { point.total }
    package var ranges: [Range<Int64>] { point.ranges }
    package var filled: FilledBytes { point.filled }
}

/// Stored as the point was that had no head, with the head beside its fields.
extension FetchedPart: Codable {
    private enum CodingKeys: String, CodingKey { case head }

    package init(from decoder: any Decoder) throws {
        point = try ResumePoint(from: decoder)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        head = try fields.decodeIfPresent(KeptHead.self, forKey: .head)
    }

    package func encode(to encoder: any Encoder) throws {
        try point.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(head, forKey: .head)
    }
}

/// What an answer has said of a file, as far as it is kept with the bytes that it has brought: an
/// answer that brings only the rest need not say it again (RFC 9110, section 15.3.7), and one that
/// says that nothing is missing does not.
package struct KeptHead: Hashable, Sendable, Codable {
    /// After all redirects; nil: that of the order, or one that is too long.
    let url: String?
    let fields: [HTTPField]

    /// Of names, values and the URL, in bytes: there may be one for each of thousands of transfers.
    static let longest = 4096
    /// A longer one is left out; so is a longer URL.
    static let longestField = 2048
    static let mostFields = 32

    /// What a file gets of it: its name and its time.
    private static let ofFile = ["content-disposition", "last-modified"]
    /// What apps need first; they get others as far as there is room.
    private static let ofTask = ofFile + ["content-type", "content-length", "etag"]
    /// What is said of a message or its connection. A cookie may have been replaced since.
    private static let passing = [
        "connection", "content-range", "keep-alive", "proxy-authenticate", "set-cookie", "trailer",
        "transfer-encoding", "upgrade",
    ]
}

extension KeptHead {
    /// Nil: it says nothing that would be missed.
    init?(of answer: ExchangeAnswer, for transfer: Transfer) {
        let isElsewhere = answer.url != transfer.order.url
        let url = isElsewhere && answer.url.utf8.count <= Self.longestField ? answer.url : nil
        let needed = transfer.task == nil ? Self.ofFile : Self.ofTask
        let headers = answer.whole(answer.total).headers
        var fields = headers.filter { needed.contains($0.name.lowercased()) }
        if transfer.task != nil {
            fields += headers.filter { field in
                let name = field.name.lowercased()
                return !needed.contains(name) && !Self.passing.contains(name)
            }
        }
        var room = Self.longest - (url?.utf8.count ?? 0)
        var kept: [HTTPField] = []
        for field in fields where kept.count < Self.mostFields {
            let size = field.name.utf8.count + field.value.utf8.count
            guard size <= min(room, Self.longestField) else { continue }
            room -= size
            kept.append(field)
        }
        guard url != nil || !kept.isEmpty else { return nil }
        self.init(url: url, fields: kept)
    }
}

extension ExchangeAnswer {
    /// With what is known of the version that it brings a part of, and that it does not say itself.
    func completed(by part: FetchedPart?) -> ExchangeAnswer {
        guard status == 206, let part, let head = part.head, part.point.validator == validator
        else { return self }
        var answer = self
        answer.headers += head.fields.filter { headers.value(of: $0.name) == nil }
        return answer
    }
}

extension Transfer {
    /// Of an attempt that has ended. One that had nothing to fetch any more has none of its own.
    func answer(of attempt: Attempt) -> ExchangeAnswer? {
        if let answer = attempt.answer { return answer }
        guard let resume, let head = resume.head else { return nil }
        return ExchangeAnswer(
            status: 200,
            headers: head.fields,
            url: head.url ?? order.url,
            total: resume.total,
            validator: resume.point.validator
        )
    }
}

extension Transfer.Attempt {
    /// What is durable of `transfer`. Nil: nothing that a later attempt could go on with.
    func fetched(of transfer: Transfer, at durable: Int64) -> FetchedPart? {
        guard let answer, let validator = answer.validator else { return nil }
        // Told apart from these, `durable` may have reached some of them.
        let end = answer.total ?? 0
        let further = ranges.filter { $0.lowerBound > durable && $0.upperBound <= end }
        guard durable > 0 || !further.isEmpty else { return nil }
        var point = ResumePoint(offset: durable, validator: validator, total: answer.total)
        point.ranges = further
        // The first answer of a version is the one that says all.
        let known = transfer.resume?.point.validator == validator ? transfer.resume?.head : nil
        return FetchedPart(point: point, head: known ?? KeptHead(of: answer, for: transfer))
    }
}
