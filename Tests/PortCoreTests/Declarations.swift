/// What Swift sources declare, and inside which type's braces. It knows the form of this project's
/// sources: no string of several lines.
struct Declarations {
    /// All names: of types and members, and whole names of methods.
    private(set) var names: Set<String> = []
    /// By its full name, as `UIApplication.State`: a type, and what stands in its braces or in
    /// those of its extensions.
    private(set) var members: [String: Set<String>] = [:]
    /// Types that are declared, not those that are extended.
    private(set) var types: Set<String> = []

    mutating func read(_ source: String) {
        let text = Self.code(source)
        // The types whose braces are open; nil: other braces.
        var open: [String?] = []
        var next: String?
        guard let pattern = try? Regex(Self.pattern) else { return }
        for match in text.matches(of: pattern) {
            let (keyword, name) = (match.output[1].substring, match.output[2].substring)
            let owner = open.last.flatMap(\.self)
            switch (keyword, name.map(String.init)) {
            case ("extension", let name?): next = name
            case ("var", let name?), ("let", let name?), ("case", let name?):
                declare(name, in: owner, isLocal: !open.isEmpty)
            case ("func", let name?):
                let labels = Self.labels(text[match.range.upperBound...])
                declare(name, in: owner, isLocal: !open.isEmpty)
                declare("\(name)(\(labels))", in: owner, isLocal: !open.isEmpty)
            case (let keyword?, let name?):
                declare(name, in: owner, isLocal: !open.isEmpty)
                types.insert(name)
                let full = owner.map { "\($0).\(name)" } ?? name
                members[full, default: []] = members[full] ?? []
                if keyword != "typealias" { next = full }
            default:
                if text[match.range] == "{" {
                    open.append(next)
                    next = nil
                } else {
                    _ = open.popLast()
                }
            }
        }
    }

    private static let pattern =
        #"\b(extension|struct|enum|protocol|actor|typealias|var|let|func|case"#
        + #"|class(?! +(?:var|func|let)\b)) +`?([\w.]+)`?|[{}]"#

    /// What is local to a body is nobody's.
    private mutating func declare(_ name: String, in owner: String?, isLocal: Bool) {
        if let owner {
            members[owner, default: []].insert(name)
        } else if isLocal {
            return
        }
        names.insert(name)
    }

    /// Without comments, and without what stands in strings.
    private static func code(_ source: String) -> String {
        source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var code = ""
            var isText = false
            var rest = Substring(line)
            while let character = rest.popFirst() {
                if isText, character == "\\" {
                    _ = rest.popFirst()
                } else if character == "\"" {
                    isText.toggle()
                } else if !isText {
                    if character == "/", rest.first == "/" { break }
                    code.append(character)
                }
            }
            return code
        }.joined(separator: "\n")
    }

    /// The labels of a function's parameters, from behind its name.
    private static func labels(_ text: Substring) -> String {
        var labels = ""
        var depth = 0
        var parameter = ""
        for character in text {
            if "([{".contains(character) { depth += 1 }
            if depth == 0 { continue }
            if ")]}".contains(character) { depth -= 1 }
            if depth == 0 || depth == 1 && character == "," {
                let words = parameter.drop { $0 == "(" }.split(separator: ":").first ?? ""
                if let label = words.split(whereSeparator: \.isWhitespace).first {
                    labels += label + ":"
                }
                parameter = ""
                if depth == 0 { return labels }
            } else {
                parameter.append(character)
            }
        }
        return labels
    }

    /// Whether a path leads to a member: `UIApplication.LaunchOptionsKey.url`. What is between and
    /// is no type is a value of the type before: `UIDevice.current.batteryLevel`.
    func has(_ path: [String]) -> Bool {
        guard var type = path.first, let last = path.last, path.count > 1 else { return false }
        for name in path.dropFirst().dropLast() where members["\(type).\(name)"] != nil {
            type += ".\(name)"
        }
        return members[type]?.contains(last) == true
    }
}
