/// One value of a desktop entry file as it stands there, and the ways to read it.
struct DesktopText {
    let raw: String
    /// What `~` stands for.
    let home: String

    /// With the escapes `\s \n \t \r \\` replaced.
    func string() throws(Problem) -> String {
        var bytes: [UInt8] = []
        var isEscape = false
        for byte in raw.utf8 {
            if isEscape {
                isEscape = false
                bytes.append(try unescaped(byte))
            } else if byte == UInt8(ascii: "\\") {
                isEscape = true
            } else {
                bytes.append(byte)
            }
        }
        if isEscape { throw Self.endsInBackslash }
        return try checked(bytes)
    }

    /// Elements end in `;` (the last one need not); `\;` is a semicolon within one.
    func list() throws(Problem) -> [String] {
        var list: [String] = []
        var bytes: [UInt8] = []
        var isEscape = false
        for byte in raw.utf8 {
            if isEscape {
                isEscape = false
                bytes.append(byte == UInt8(ascii: ";") ? byte : try unescaped(byte))
            } else if byte == UInt8(ascii: "\\") {
                isEscape = true
            } else if byte == UInt8(ascii: ";") {
                list.append(try element(bytes))
                bytes = []
            } else {
                bytes.append(byte)
            }
        }
        if isEscape { throw Self.endsInBackslash }
        if !bytes.isEmpty { list.append(try element(bytes)) }
        return list
    }

    /// No list of ours is as long as this.
    private static let elementLimit = 1000

    /// The list without repeats, each element read by `read`. `mayHaveCommas`: they belong to what
    /// an element is written in.
    func list<Element: Equatable>(
        mayHaveCommas: Bool = false,
        _ read: (String) throws(Problem) -> Element
    ) throws(Problem) -> [Element] {
        var result: [Element] = []
        let list = try list()
        guard list.count <= Self.elementLimit else {
            throw Problem(
                "has \(list.count) elements",
                fix: "Write \(Self.elementLimit) at most."
            )
        }
        for text in list {
            let element: Element
            do throws(Problem) {
                element = try read(text)
            } catch {
                throw mayHaveCommas ? error : Self.ofCommas(text, read) ?? error
            }
            if !result.contains(element) { result.append(element) }
        }
        return result
    }

    /// An element that is several with commas between, as other files have their lists; nil: it is
    /// not.
    private static func ofCommas<Element>(
        _ text: String,
        _ read: (String) throws(Problem) -> Element
    ) -> Problem? {
        let parts = parts(text)
        guard parts.count > 1 else { return nil }
        do throws(Problem) {
            for part in parts { _ = try read(part) }
        } catch {
            return nil
        }
        return commas(in: text)
    }

    /// For what may be one name with a comma in it, too.
    static func commas(in text: String) -> Problem? {
        let parts = parts(text)
        guard parts.count > 1 else { return nil }
        return Problem(
            "has a comma, which separates nothing",
            fix: "Separate with ; as in \(parts.joined(separator: ";")).",
            part: text
        )
    }

    private static func parts(_ text: String) -> [String] {
        text.split(separator: ",").map { String(Substring($0.utf8.trimmed)) }
            .filter { !$0.isEmpty }
    }

    func boolean() throws(Problem) -> Bool {
        switch raw {
        case "true": return true
        case "false": return false
        default: throw Problem("is neither true nor false", fix: "Write true or false.")
        }
    }

    /// An absolute path; `~/` at its beginning is the home directory.
    func path(_ text: String) throws(Problem) -> String {
        let path = text.expandingTilde(home)
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Problem(
                "is not an absolute path",
                fix: "Begin it with / or ~/.",
                part: text
            )
        }
        return path
    }

    private func element(_ bytes: [UInt8]) throws(Problem) -> String {
        let text = String(Substring(Substring(try checked(bytes)).utf8.trimmed))
        guard !text.isEmpty else {
            throw Problem("has an empty element", fix: "Remove one ; of two.")
        }
        return text
    }

    private func unescaped(_ byte: UInt8) throws(Problem) -> UInt8 {
        switch byte {
        case UInt8(ascii: "s"): return UInt8(ascii: " ")
        case UInt8(ascii: "n"): return UInt8(ascii: "\n")
        case UInt8(ascii: "t"): return UInt8(ascii: "\t")
        case UInt8(ascii: "r"): return UInt8(ascii: "\r")
        case UInt8(ascii: "\\"): return byte
        default:
            throw Problem(
                "has a \\ that is not an escape",
                fix: #"Write \\ for a backslash; in quotes of a command, \\\\."#
            )
        }
    }

    private func checked(_ bytes: [UInt8]) throws(Problem) -> String {
        guard !bytes.contains(0) else {
            throw Problem("contains a zero byte", fix: "Remove it.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static var endsInBackslash: Problem {
        Problem("ends in a single backslash", fix: #"Write \\ for a backslash."#)
    }
}

extension String {
    /// With `~/` at the beginning replaced by `home` and `/`.
    package func expandingTilde(_ home: String) -> String {
        utf8.starts(with: "~/".utf8) ? home + String(dropFirst()) : self
    }
}
