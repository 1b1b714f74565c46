/// What the values of a key look like, and how one is read.
struct ManifestType<Result>: Sendable {
    /// As the documents name it: `time`.
    let name: String
    let read: @Sendable (DesktopText) throws(Problem) -> Result
}

extension ManifestType where Result == Bool {
    static let boolean = ManifestType(name: "true or false") { text throws(Problem) in
        try text.boolean()
    }
}

extension ManifestType where Result == Interval {
    static let time = ManifestType(name: "time") { text throws(Problem) in
        let string = try text.string()
        guard let interval = Interval(string) else {
            let mistake = Interval.mistake(in: string)
            throw Problem(mistake.reason, fix: mistake.fix)
        }
        guard interval > .zero else {
            throw Problem("is not a time greater than zero", fix: "Write more than 0.")
        }
        return interval
    }
}

extension ManifestType where Result == Int64 {
    static let size = ManifestType(name: "size") { text throws(Problem) in
        let string = try text.string()
        guard let size = ByteSize.parse(string), size > 0 else {
            throw Problem(
                "is not a size",
                fix: "Write a number of bytes, or one with K, M or G, such as 200M."
            )
        }
        guard size >= 1 << 20 else {
            throw Problem("has no room for a program", fix: "Write at least 1M, such as 200M.")
        }
        return size
    }
}

extension ManifestType where Result == [BackgroundMode] {
    static let modes = ManifestType(name: "list of modes") { text throws(Problem) in
        let modes = try text.list { name throws(Problem) in
            if let mode = BackgroundMode(name: name) { return mode }
            let names = BackgroundMode.allCases.map(\.rawValue)
            throw Problem(
                "is not a mode",
                fix: Spelling.hint(
                    for: name,
                    among: names,
                    otherwise: "The modes are \(names.joined(separator: ", "))."
                ),
                part: name
            )
        }
        return modes.sorted()
    }
}

extension ManifestType where Result == [String] {
    static let command = ManifestType(name: "command") { text throws(Problem) in
        try CommandText.strict(try text.string(), home: text.home)
    }

    static let commandSource = ManifestType(name: "command:PROGRAM…") { text throws(Problem) in
        guard case (.command, let rest)? = SourceKind.split(try text.string()) else {
            throw Problem(
                "does not say how failure is seen",
                fix: "Write command: and a program that fails when the run did."
            )
        }
        return try CommandText.strict(rest, home: text.home)
    }

    static let paths = ManifestType(name: "list of paths") { text throws(Problem) in
        try text.list(text.path)
    }

    static let identifiers = ManifestType(name: "list of names") { text throws(Problem) in
        try text.list { name throws(Problem) in
            let plain = name.utf8.last == UInt8(ascii: "*") ? name.utf8.dropLast() : name.utf8[...]
            let isValid = plain.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "*") }
            guard isValid, name.utf8.count <= 255 else {
                throw Problem(
                    "is not a task identifier",
                    fix: "Write a name without spaces, of 255 bytes at most; a * may end it.",
                    part: name
                )
            }
            return name
        }
    }

    static let variableNames = ManifestType(name: "list of names") { text throws(Problem) in
        try text.list { name throws(Problem) in
            let plain = name.utf8.last == UInt8(ascii: "*") ? String(name.dropLast()) : name
            guard plain.isVariableName || name == "*" else {
                throw Problem(
                    "is not the name of a variable",
                    fix: "Write names such as TZ or QT_*, without values.",
                    part: name
                )
            }
            guard !EnvironmentVariable.isOurs(name) else { throw .ownVariable(name) }
            return name
        }
    }

    static let matchRules = ManifestType(name: "list of D-Bus match rules") {
        text throws(Problem) in
        try text.list(mayHaveCommas: true) { rule throws(Problem) in
            _ = try MatchRule(rule)
            return rule
        }
    }
}

extension ManifestType where Result == [EnvironmentVariable] {
    static let environment = ManifestType(name: "list of NAME=value") { text throws(Problem) in
        var names: Set<String> = []
        return try text.list { assignment throws(Problem) in
            guard let equals = assignment.utf8.firstIndex(of: UInt8(ascii: "=")),
                case let name = String(assignment[..<equals]), name.isVariableName
            else {
                throw Problem("is not NAME=value", fix: "Write NAME=value;", part: assignment)
            }
            guard !EnvironmentVariable.isOurs(name) else { throw .ownVariable(assignment) }
            guard names.insert(name).inserted else {
                throw Problem("sets a variable again", fix: "Remove one.", part: assignment)
            }
            let value = String(Substring(assignment.utf8[equals...].dropFirst()))
            return EnvironmentVariable(name: name, value: value.expandingTilde(text.home))
        }
    }
}

extension ManifestType where Result == [Int32] {
    static let statuses = ManifestType(name: "list of exit statuses") { text throws(Problem) in
        try text.list { number throws(Problem) in
            guard let status = Int32(number), (0...255).contains(status) else {
                throw Problem(
                    "is not an exit status",
                    fix: "Write numbers from 0 to 255, such as 75;",
                    part: number
                )
            }
            return status
        }
    }

    static let retryStatuses = ManifestType(name: statuses.name) { text throws(Problem) in
        let list = try statuses.read(text)
        guard !list.contains(0) else {
            throw Problem("has 0, which means success", fix: "Leave 0 out.")
        }
        return list
    }
}

extension ManifestType where Result == Needs {
    static let needs = ManifestType(name: "list of power, network, unmetered") {
        text throws(Problem) in
        let words = ["power", "network", "unmetered"]
        let found = try text.list { need throws(Problem) in
            guard !words.contains(need) else { return need }
            throw Problem(
                "is not a condition",
                fix: Spelling.hint(
                    for: need,
                    among: words,
                    otherwise: "Write power;, network; or unmetered;."
                ),
                part: need
            )
        }
        var needs = Needs()
        needs.power = found.contains("power")
        needs.network = found.contains("network")
        needs.unmetered = found.contains("unmetered")
        return needs
    }
}

extension ManifestType where Result == Interruption {
    static let interruption = ManifestType(name: "terminate or freeze") { text throws(Problem) in
        guard let interruption = Interruption(rawValue: text.raw) else {
            throw Problem("is neither terminate nor freeze", fix: "Write terminate or freeze.")
        }
        return interruption
    }
}

extension ManifestType where Result == ResultSource {
    static let resultSource = ManifestType(name: "exit, file:PATH or command:PROGRAM…") {
        text throws(Problem) in
        let string = try text.string()
        if string == "exit" { return .exit }
        switch SourceKind.split(string) {
        case (.file, let rest)?: return .file(try text.path(rest))
        case (.command, let rest)?:
            return .command(try CommandText.strict(rest, home: text.home))
        case (.exec, _)?, nil:
            throw Problem(
                "does not say how new data is seen",
                fix: "Write exit, file:PATH or command:PROGRAM…."
            )
        }
    }
}

extension ManifestType where Result == UseSource {
    static let useSource = ManifestType(name: "exec:PATH or file:PATH") { text throws(Problem) in
        switch SourceKind.split(try text.string()) {
        case (.exec, let rest)?: return .exec(try text.path(rest))
        case (.file, let rest)?: return .file(try text.path(rest))
        case (.command, _)?, nil:
            throw Problem("does not say how use is seen", fix: "Write exec:PATH or file:PATH.")
        }
    }
}

extension Problem {
    fileprivate static func ownVariable(_ part: String) -> Problem {
        Problem(
            "names a variable that Offstage sets itself",
            fix: "Choose a name that does not begin with \(EnvironmentVariable.ownPrefix).",
            part: part
        )
    }
}

/// What stands before the colon of a source.
private enum SourceKind: String {
    case file, command, exec

    static func split(_ text: String) -> (kind: SourceKind, rest: String)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            let kind = SourceKind(rawValue: String(text[..<colon]))
        else { return nil }
        return (kind, String(Substring(text.utf8[colon...].dropFirst().trimmed)))
    }
}

extension String {
    /// Letters, digits and `_`, no digit first.
    fileprivate var isVariableName: Bool {
        guard let first = utf8.first, !first.isDigit else { return false }
        return utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }
}
