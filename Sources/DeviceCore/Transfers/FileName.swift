import Vocabulary

/// The name of a downloaded file, made safe: no path, no hidden file, no control characters.
enum FileName {
    private typealias Scalars = Substring.UnicodeScalarView

    /// In bytes, as most file systems have it.
    fileprivate static let limit = 200

    /// What the server calls it, else the last part of the URL.
    static func suggested(by answer: ExchangeAnswer?, of url: String) -> String {
        let header = answer?.headers.value(of: "Content-Disposition")
        return header.flatMap(named).flatMap(safe)
            ?? safe(lastPart(of: answer?.url ?? url))
            ?? safe(lastPart(of: url))
            ?? "download"
    }

    /// Nil: nothing is left of it.
    static func safe(_ name: String) -> String? { name.isSafe ? name : made(safe: name) }

    private static func made(safe name: String) -> String? {
        // What comes before is a path of somebody else's.
        let last = name.split(separator: "/").last?.split(separator: "\\").last ?? ""
        var kept = String.UnicodeScalarView()
        for scalar in last.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: continue
            default: kept.append(scalar)
            }
        }
        // A leading dot hides a file, a leading dash makes it an option.
        let plain = kept.drop { $0 == "." || $0 == "-" || $0 == " " }
        guard let end = lastIndex(in: plain) else { return nil }
        return shortened(plain[...end])
    }

    /// Of what a name may end with.
    private static func lastIndex(in name: Scalars) -> Scalars.Index? {
        name.lastIndex { $0 != " " && $0 != "." }
    }

    /// It keeps its extension, by which programs know what it is.
    private static func shortened(_ name: Scalars) -> String {
        guard String(name).utf8.count > limit else { return String(name) }
        let ending = ending(of: name)
        var bytes = String(ending).utf8.count
        let stem = name.prefix {
            bytes += String($0).utf8.count
            return bytes <= limit
        }
        guard let end = lastIndex(in: stem) else { return String(ending) }
        return String(stem[...end]) + String(ending)
    }

    /// From the last dot on, or from the one before `tar`.
    private static func ending(of name: Scalars) -> Scalars {
        let none = name[name.endIndex...]
        guard let dot = name.lastIndex(of: ".") else { return none }
        let ending = name[dot...]
        // Else it is the end of a sentence.
        guard ending.count <= 16, !ending.contains(" "), String(ending).utf8.count <= 32 else {
            return none
        }
        let before = name[..<dot].suffix(4)
        return String(before).lowercased() == ".tar" ? name[before.startIndex...] : ending
    }

    private static func lastPart(of url: String) -> String {
        let path = url.urlWithoutScheme.prefix {
            $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        let last = path[path.index(after: slash)...]
        return last.contains(UInt8(ascii: "%"))
            ? decoded(Substring(last)) ?? "" : String(Substring(last))
    }

    /// Nil: not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        String(validating: withoutPercents(text), as: UTF8.self)
    }

    private static func withoutPercents(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(text: rest.prefix(2)) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Of `filename*`: charset, language and text; nil: it cannot be read.
    private static func extended(_ value: String) -> String? {
        let pieces = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3 else { return nil }
        switch pieces[0].lowercased() {
        case "utf-8": return decoded(pieces[2])
        // RFC 5987 had it, and servers still send it.
        case "iso-8859-1":
            let scalars = withoutPercents(pieces[2]).map { UnicodeScalar($0) }
            return String(String.UnicodeScalarView(scalars))
        default: return nil
        }
    }

    /// `filename*` of RFC 8187 before `filename`.
    private static func named(in header: String) -> String? {
        var plain: String?
        for part in parameters(of: header) {
            let (key, value) = (part.key.lowercased(), part.value)
            if key == "filename*" {
                if let name = extended(value) { return name }
            } else if key == "filename", plain == nil {
                plain = value
            }
        }
        return plain
    }

    /// Of a header like `attachment; filename="a \"b\".txt"`.
    private static func parameters(of header: String) -> [(key: String, value: String)] {
        var found: [(String, String)] = []
        var rest = header.drop { $0 != ";" }.dropFirst()
        while !rest.isEmpty {
            let key = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(key.count)
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " }
                if rest.first == "\"" {
                    rest = rest.dropFirst()
                    while let next = rest.popFirst(), next != "\"" {
                        // Many servers escape nothing: before a letter it separates a path.
                        let escapes = next == "\\" && (rest.first == "\"" || rest.first == "\\")
                        value.append(escapes ? rest.removeFirst() : next)
                    }
                } else {
                    value = String(rest.prefix { $0 != ";" })
                }
            }
            let name = key.filter { $0 != " " && $0 != "\t" }
            found.append((name, value.trimmingSpaces))
            rest = rest.drop { $0 != ";" }.dropFirst()
        }
        return found
    }
}

extension String {
    /// As most names are: letters, digits and a few signs, none of them at the wrong end.
    fileprivate var isSafe: Bool {
        guard let first = utf8.first, let last = utf8.last, utf8.count <= FileName.limit else {
            return false
        }
        return first != UInt8(ascii: ".") && first != UInt8(ascii: "-")
            && last != UInt8(ascii: ".")
            && utf8.allSatisfy {
                0x21...0x7e ~= $0 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
            }
    }

    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension UInt8 {
    /// Two hexadecimal digits.
    fileprivate init?(text: Substring.UTF8View.SubSequence) {
        let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard text.count == 2, digits.count == 2 else { return nil }
        self = UInt8(digits[0] * 16 + digits[1])
    }
}
