import ExchangeCore
import TestKit
import Vocabulary

/// A server that changes its object, and answers now as it should, now as it should not. It never
/// lies about which version its bytes are of: nobody could notice that.
struct RandomServer {
    var random: SeededRandom
    private(set) var version = 1
    private var tag = Tag.strong

    private enum Tag: CaseIterable { case strong, weak, absent, date }

    /// An answer as the shell sees it.
    struct Answer {
        var head: Exchange.Head
        /// Of each byte: version and place.
        var body: [VersionedByte] = []
        /// The connection breaks after so many bytes.
        var cut: Int?
        var redirect: String?
    }

    struct VersionedByte: Hashable {
        var version: Int
        var place: Int
    }

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    static func size(_ version: Int) -> Int {
        40 + (version < 0 ? encoded(version) : version) % 3
    }

    /// What a coding makes of a version, and back; of the same size, and with the same tag.
    private static func encoded(_ version: Int) -> Int { -1000 - version }

    static func object(_ version: Int) -> [VersionedByte] {
        (0..<size(version)).map { VersionedByte(version: version, place: $0) }
    }

    mutating func mayChange() {
        if random.below(4) == 0 { version += 1 }
        if random.below(8) == 0 { tag = random.pick(from: Tag.allCases) ?? .strong }
    }

    mutating func answer(_ fields: [HTTPField]) -> Answer {
        mayChange()
        switch random.below(12) {
        case 0: return error()
        case 1: return Answer(head: head(302, [], nil), redirect: "http://a.example/\(version)")
        default: break
        }
        let isTrue = isCurrent(fields.value(of: "If-Range"))
        // Some ignore what they are asked, in either direction.
        let sendsPart = random.below(5) == 0 ? random.below(2) == 0 : isTrue
        guard let range = fields.value(of: "Range"),
            let first = Int(range.dropFirst(6).dropLast()), sendsPart
        else { return whole() }
        return part(from: first)
    }

    private mutating func error() -> Answer {
        let status = random.pick(from: [412, 416, 416, 503]) ?? 503
        var fields = random.below(2) == 0 ? validators : []
        let size = random.below(2) == 0 ? Self.size(version) : random.below(50)
        fields.append(HTTPField("Content-Range", "bytes */\(size)"))
        // A true server does not say that of a length which is not its object's.
        if status == 416, size != Self.size(version) { fields = [fields[fields.count - 1]] }
        return Answer(head: head(status, fields, 0))
    }

    private mutating func whole() -> Answer {
        let body = Self.object(version)
        var answer = Answer(head: head(200, validators, nil), body: body)
        // Without a length a body that is cut looks like one that is not.
        if random.below(4) > 0 {
            answer.head.length = Int64(body.count)
            if random.below(2) == 0 { answer.cut = random.below(body.count) }
        }
        mayEncode(&answer)
        return answer
    }

    /// Although nobody asks for that.
    private mutating func mayEncode(_ answer: inout Answer) {
        guard random.below(10) == 0 else { return }
        answer.head.fields.append(HTTPField("Content-Encoding", "gzip"))
        answer.body = answer.body.map {
            VersionedByte(version: Self.encoded($0.version), place: $0.place)
        }
    }

    private mutating func part(from asked: Int) -> Answer {
        let size = Self.size(version)
        let first = max(0, min(size - 1, asked + (random.below(6) == 0 ? random.below(5) - 2 : 0)))
        let end = random.below(3) == 0 ? first + 1 + random.below(size - first) : size
        let total = random.below(5) == 0 ? "*" : "\(size)"
        var fields = random.below(6) == 0 ? [] : validators
        if random.below(10) > 0 {
            fields.append(HTTPField("Content-Range", "bytes \(first)-\(end - 1)/\(total)"))
        }
        let body = Array(Self.object(version)[first..<end])
        var answer = Answer(head: head(206, fields, nil), body: body)
        if random.below(2) == 0 { answer.head.length = Int64(body.count) }
        if random.below(3) == 0 { answer.cut = random.below(body.count + 1) }
        mayEncode(&answer)
        return answer
    }

    private func head(_ status: Int, _ fields: [HTTPField], _ length: Int64?) -> Exchange.Head {
        Exchange.Head(status: status, fields: fields, length: length)
    }

    private var validators: [HTTPField] {
        switch tag {
        case .strong: [HTTPField("ETag", "\"\(version)\"")]
        case .weak: [HTTPField("ETag", "W/\"1\"")]
        case .absent: []
        case .date:
            [
                HTTPField("Last-Modified", date(version)),
                HTTPField("Date", "Mon, 02 Mar 2026 12:00:00 GMT"),
            ]
        }
    }

    private func date(_ version: Int) -> String {
        "Sun, 01 Mar 2026 \(10 + version / 50):00:\(10 + version % 50) GMT"
    }

    private func isCurrent(_ text: String?) -> Bool {
        guard let text else { return true }
        return text == "\"\(version)\"" || text == date(version)
    }
}
