import Vocabulary

/// The name of a downloaded file, made safe: no path, no hidden file, no control characters.
enum FileName {
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
        var kept = ""
        for scalar in last.unicodeScalars {
            let isControl =
                scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator
            guard !isControl else { continue }
            guard kept.utf8.count + String(scalar).utf8.count <= limit else { break }
            kept.unicodeScalars.append(scalar)
        }
        // A leading dot hides a file, a leading dash makes it an option.
        let plain = kept.drop { $0 == "." || $0 == "-" || $0 == " " }
        let end = plain.lastIndex { $0 != " " && $0 != "." }
        guard let end else { return nil }
        return String(plain[...end])
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

    /// Without percent signs; nil: not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
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
        return String(validating: bytes, as: UTF8.self)
    }

    /// `filename*` of RFC 8187 before `filename`.
    private static func named(in header: String) -> String? {
        var plain: String?
        for part in parameters(of: header) {
            let (key, value) = (part.key.lowercased(), part.value)
            if key == "filename*" {
                let pieces = value.split(
                    separator: "'",
                    maxSplits: 2,
                    omittingEmptySubsequences: false
                )
                guard pieces.count == 3, pieces[0].lowercased() == "utf-8" else { continue }
                if let name = decoded(pieces[2]) { return name }
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
                        value.append(next == "\\" ? rest.popFirst() ?? next : next)
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
