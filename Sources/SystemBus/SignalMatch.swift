/// A match rule of a peer, as far as it tells our own signals apart. What it says of arguments is
/// not looked at: the peer does that again.
struct SignalMatch: Equatable, Sendable {
    private let fields: [Substring: String]
    private let rule: String

    /// Rules of one connection.
    static let limit = 256

    /// `KEY='VALUE',…`
    init(_ rule: String) {
        self.rule = rule
        var fields: [Substring: String] = [:]
        var rest = rule[...]
        while let equals = rest.firstIndex(of: "=") {
            let key = rest[..<equals].drop { $0 == "," || $0 == " " }
            rest = rest[rest.index(after: equals)...]
            var value = ""
            var isQuoted = false
            while let character = rest.popFirst() {
                if character == "'" { isQuoted.toggle() }
                if character == ",", !isQuoted { break }
                if character != "'" { value.append(character) }
            }
            fields[key] = value
        }
        self.fields = fields
    }

    static func == (one: SignalMatch, other: SignalMatch) -> Bool { one.rule == other.rule }

    func holds(_ member: String, _ interface: String, _ path: String) -> Bool {
        func agrees(_ key: Substring, _ value: String) -> Bool {
            fields[key].map { $0 == value } ?? true
        }
        let isBelow = fields["path_namespace"].map { $0 == path || path.hasPrefix($0 + "/") }
        return agrees("type", "signal") && agrees("member", member)
            && agrees("interface", interface) && agrees("path", path) && isBelow ?? true
    }
}
