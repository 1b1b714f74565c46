/// Splits the text of a command into arguments as the Desktop Entry Specification says for `Exec`:
/// double quotes, a backslash before `"`, `` ` ``, `$` and `\` in them, `%` codes. No shell.
struct CommandText {
    /// What `%i`, `%c` and `%k` stand for in `Exec`.
    struct Codes {
        var icon: String?
        var name: String
        var file: String
    }

    private enum Piece: Equatable {
        case outside
        case inDoubleQuotes
        case inSingleQuotes
    }

    private let codes: Codes?
    private let home: String?
    private(set) var arguments: [String] = []
    /// What a strict reader would not have taken.
    private(set) var warnings: [Problem] = []

    private var argument: [UInt8] = []
    /// Whether there is an argument, if only an empty one in quotes.
    private var isOpen = false

    /// A command of ours. Nothing is guessed: what a shell would have to read, and any `%` but
    /// `%%`, is a problem. `~/` at the beginning of an argument is the home directory.
    static func strict(_ text: String, home: String) throws(Problem) -> [String] {
        var command = CommandText(codes: nil, home: home)
        try command.read(Array(text.utf8))
        guard let program = command.arguments.first else {
            throw Problem("is empty", fix: "Name a program.")
        }
        if program.isEmpty
            || program.utf8.first != UInt8(ascii: "/") && program.utf8.contains(UInt8(ascii: "/"))
        {
            throw Problem(
                "is neither a name in PATH nor an absolute path",
                fix: "Begin the path with / or ~/.",
                part: program
            )
        }
        return command.arguments
    }

    /// The `Exec` of an entry, started without files. Takes what desktops take: single quotes, and
    /// reserved characters outside quotes.
    static func exec(
        _ text: String,
        codes: Codes
    ) throws(Problem) -> (arguments: [String], warnings: [Problem]) {
        var command = CommandText(codes: codes, home: nil)
        try command.read(Array(text.utf8))
        guard command.arguments.first?.isEmpty == false else {
            throw Problem("is empty", fix: "Name a program.")
        }
        return (command.arguments, command.warnings)
    }

    private init(codes: Codes?, home: String?) { (self.codes, self.home) = (codes, home) }

    private mutating func read(_ bytes: [UInt8]) throws(Problem) {
        var piece = Piece.outside
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch (piece, byte) {
            case (.outside, 0x20), (.outside, 0x09), (.outside, 0x0A), (.outside, 0x0D): end()
            case (.outside, UInt8(ascii: "\"")): (piece, isOpen) = (.inDoubleQuotes, true)
            case (.inDoubleQuotes, UInt8(ascii: "\"")): piece = .outside
            case (.outside, UInt8(ascii: "'")) where codes != nil:
                (piece, isOpen) = (.inSingleQuotes, true)
                warn(Problem.reserved("'"))
            case (.inSingleQuotes, UInt8(ascii: "'")): piece = .outside
            case (.inDoubleQuotes, UInt8(ascii: "\\")):
                guard index < bytes.count, Self.isEscapable(bytes[index]) else {
                    let problem = Problem(
                        #"has a \ in quotes that is not an escape"#,
                        fix: #"Write \\\\ for a backslash in quotes."#
                    )
                    if codes == nil { throw problem }
                    warn(problem)
                    argument.append(byte)
                    continue
                }
                argument.append(bytes[index])
                index += 1
            case (.outside, UInt8(ascii: "%")), (.inDoubleQuotes, UInt8(ascii: "%")):
                let next = index < bytes.count ? bytes[index] : 0
                index += 1
                try expand(next, isAlone: !isOpen && endsArgument(bytes, at: index))
            case (.outside, UInt8(ascii: "\\")) where codes != nil && index < bytes.count:
                warn(Problem.reserved("\\"))
                isOpen = true
                argument.append(bytes[index])
                index += 1
            case (.outside, _):
                try checkUnquoted(byte, next: index < bytes.count ? bytes[index] : 0)
                isOpen = true
                argument.append(byte)
            case (.inDoubleQuotes, _), (.inSingleQuotes, _): argument.append(byte)
            }
        }
        guard piece == .outside else {
            throw Problem("has a quote that is not closed", fix: "Close it.")
        }
        end()
    }

    private mutating func end() {
        guard isOpen else { return }
        var text = String(decoding: argument, as: UTF8.self)
        if let home { text = text.expandingTilde(home) }
        arguments.append(text)
        (argument, isOpen) = ([], false)
    }

    private func endsArgument(_ bytes: [UInt8], at index: Int) -> Bool {
        index >= bytes.count || bytes[index] == 0x20 || bytes[index] == 0x09
    }

    /// Replaces the field code `%code`; `isAlone` when it is the whole argument.
    private mutating func expand(_ code: UInt8, isAlone: Bool) throws(Problem) {
        if code == UInt8(ascii: "%") {
            isOpen = true
            return argument.append(code)
        }
        let text = "%" + String(decoding: [code], as: UTF8.self)
        guard let codes else {
            throw Problem(
                "has a % code, but such a command is given nothing",
                fix: "Write %% for a percent sign.",
                part: text
            )
        }
        let replacement: String
        switch code {
        case UInt8(ascii: "c"): replacement = codes.name
        case UInt8(ascii: "k"): replacement = codes.file
        case UInt8(ascii: "i"):
            guard isAlone else {
                return warn(
                    Problem("has %i within an argument", fix: "Set it apart.", part: text)
                )
            }
            if let icon = codes.icon { arguments += ["--icon", icon] }
            return
        case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "u"), UInt8(ascii: "U"),
            UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "n"), UInt8(ascii: "N"),
            UInt8(ascii: "v"), UInt8(ascii: "m"):
            if isAlone { return }
            replacement = ""
        default:
            throw Problem(
                "has an unknown % code",
                fix: "Write %% for a percent sign.",
                part: code == 0 ? "%" : text
            )
        }
        isOpen = true
        argument.append(contentsOf: replacement.utf8)
    }

    private mutating func checkUnquoted(_ byte: UInt8, next: UInt8) throws(Problem) {
        let character = String(decoding: [byte], as: UTF8.self)
        switch character {
        case "~" where argument.isEmpty && next == UInt8(ascii: "/") && home != nil: return
        case "~" where argument.last == UInt8(ascii: "=") && home != nil:
            throw Problem(
                "has ~ within an argument, where it is not the home directory",
                fix: "Write the option and its path as two words, or the whole path."
            )
        case "'", "\\", ">", "<", "~", "|", "&", ";", "$", "*", "?", "#", "(", ")", "`":
            if codes == nil { throw Problem.reserved(character) }
            warn(Problem.reserved(character))
        default: return
        }
    }

    private mutating func warn(_ problem: Problem) {
        if !warnings.contains(problem) { warnings.append(problem) }
    }

    private static func isEscapable(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "`") || byte == UInt8(ascii: "$")
            || byte == UInt8(ascii: "\\")
    }
}

extension Problem {
    /// A character that a shell would read stands outside quotes.
    static func reserved(_ character: String) -> Problem {
        Problem(
            "has \(character) outside double quotes, and no shell reads it",
            fix: "Put the argument in double quotes, or use sh -c \"…\"."
        )
    }
}
