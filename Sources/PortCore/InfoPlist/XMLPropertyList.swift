import Vocabulary

/// The XML form of a property list: the elements that it may have, and no other XML.
struct XMLPropertyList {
    private let bytes: [UInt8]
    private var at = 0
    private var line = 1
    private var count = 0
    private var lines: [PropertyList.Place] = []

    static func read(_ bytes: [UInt8]) throws(PropertyList.Mistake) -> PropertyList {
        var reader = XMLPropertyList(bytes: bytes)
        let root = try reader.document()
        return PropertyList(root: root, lines: reader.lines)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private struct Tag: Equatable {
        var name: String
        var isEnd = false
        var isEmpty = false
    }

    private mutating func document() throws(PropertyList.Mistake) -> Value {
        guard try tag() == Tag(name: "plist") else {
            throw mistake("it has no <plist>: it is no property list in XML")
        }
        let root = try value(try tag(), depth: 0)
        guard try tag() == Tag(name: "plist", isEnd: true) else {
            throw mistake("<plist> has more than one value")
        }
        return root
    }

    private func mistake(_ reason: String) -> PropertyList.Mistake {
        PropertyList.Mistake(reason: reason, line: line)
    }

    private mutating func step() {
        if bytes[at] == UInt8(ascii: "\n") { line += 1 }
        at += 1
    }

    private func isHere(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard at + count <= bytes.count else { return false }
        return "\(text)".utf8.elementsEqual(bytes[at..<at + count])
    }

    /// Over everything up to the end of `text`.
    private mutating func skip(through text: StaticString) throws(PropertyList.Mistake) {
        while at < bytes.count, !isHere(text) { step() }
        guard at < bytes.count else { throw mistake("it ends within a comment or declaration") }
        at += text.utf8CodeUnitCount
    }

    /// The next tag; only white space, comments and declarations may stand before it.
    private mutating func tag() throws(PropertyList.Mistake) -> Tag {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"):
                if isHere("<!--") {
                    try skip(through: "-->")
                } else if isHere("<?") {
                    try skip(through: "?>")
                } else if isHere("<!") {
                    try skip(through: ">")
                } else {
                    return try readTag()
                }
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"),
                0xEF, 0xBB, 0xBF:
                step()
            default: throw mistake("there is text outside of an element")
            }
        }
        throw mistake("it ends too soon")
    }

    private mutating func readTag() throws(PropertyList.Mistake) -> Tag {
        at += 1
        var tag = Tag(name: "")
        if at < bytes.count, bytes[at] == UInt8(ascii: "/") {
            tag.isEnd = true
            at += 1
        }
        let start = at
        while at < bytes.count, ByteClass.isName(bytes[at]) { at += 1 }
        tag.name = String(decoding: bytes[start..<at], as: UTF8.self)
        // Attributes mean nothing here; a > may stand in quotes.
        var quote: UInt8?
        while at < bytes.count {
            let byte = bytes[at]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                tag.isEmpty = bytes[at - 1] == UInt8(ascii: "/") && at > start
                at += 1
                return tag
            }
            step()
        }
        throw mistake("it ends within a tag")
    }

    private mutating func value(
        _ tag: Tag,
        depth: Int
    ) throws(PropertyList.Mistake) -> Value {
        guard !tag.isEnd else { throw mistake("</\(tag.name)> closes nothing") }
        count += 1
        guard depth < PropertyList.depthLimit, count <= PropertyList.countLimit else {
            throw mistake("it is too large")
        }
        switch tag.name {
        case "true", "false":
            if !tag.isEmpty { _ = try text(of: tag.name) }
            return .bool(tag.name == "true")
        case "dict": return tag.isEmpty ? .map([:]) : try map(depth)
        case "array": return tag.isEmpty ? .list([]) : try list(depth)
        case "string", "date", "data":
            let first = line
            let text = tag.isEmpty ? "" : try text(of: tag.name)
            if tag.name == "string" { lines.append(PropertyList.Place(text: text, line: first)) }
            return .string(text)
        case "integer":
            let text = tag.isEmpty ? "" : try text(of: tag.name)
            guard let number = Self.integer(text) else {
                throw mistake("\(text.quoted) is no integer")
            }
            return .integer(number)
        case "real":
            let text = tag.isEmpty ? "" : try text(of: tag.name)
            guard let number = Double(text) else { throw mistake("\(text.quoted) is no number") }
            return .double(number)
        default: throw mistake("a property list has no element <\(tag.name.quoted)>")
        }
    }

    /// With spaces around it, and in hexadecimal digits too.
    private static func integer(_ text: String) -> Int64? {
        var digits = text[...]
        while digits.first?.isWhitespace == true { digits.removeFirst() }
        while digits.last?.isWhitespace == true { digits.removeLast() }
        let sign = digits.hasPrefix("-") ? "-" : ""
        let number = digits.dropFirst(sign.count)
        guard number.hasPrefix("0x") || number.hasPrefix("0X") else { return Int64(digits) }
        return Int64(sign + number.dropFirst(2), radix: 16)
    }

    private mutating func map(_ depth: Int) throws(PropertyList.Mistake) -> Value {
        var pairs: [(String, Value)] = []
        while true {
            let tag = try tag()
            if tag == Tag(name: "dict", isEnd: true) { return .map(ValueMap(pairs)) }
            guard tag.name == "key", !tag.isEnd else {
                throw mistake("a <dict> has a value without a <key>")
            }
            let first = line
            let key = tag.isEmpty ? "" : try text(of: "key")
            lines.append(PropertyList.Place(text: key, line: first, isKey: true))
            pairs.append((key, try value(try self.tag(), depth: depth + 1)))
        }
    }

    private mutating func list(_ depth: Int) throws(PropertyList.Mistake) -> Value {
        var values: [Value] = []
        while true {
            let tag = try tag()
            if tag == Tag(name: "array", isEnd: true) { return .list(values) }
            values.append(try value(tag, depth: depth + 1))
        }
    }

    /// The text up to the end of the element, with its entities replaced.
    private mutating func text(of name: String) throws(PropertyList.Mistake) -> String {
        var text: [UInt8] = []
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"):
                if isHere("<!--") {
                    try skip(through: "-->")
                } else if isHere("<![CDATA[") {
                    at += 9
                    let start = at
                    try skip(through: "]]>")
                    text += bytes[start..<at - 3]
                } else {
                    guard try readTag() == Tag(name: name, isEnd: true) else {
                        throw mistake("<\(name)> holds another element")
                    }
                    return String(decoding: text, as: UTF8.self)
                }
            case UInt8(ascii: "&"): text += try entity()
            default:
                text.append(bytes[at])
                step()
            }
        }
        throw mistake("<\(name)> is not closed")
    }

    private mutating func entity() throws(PropertyList.Mistake) -> [UInt8] {
        let start = at + 1
        guard let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw mistake("an & begins no entity; write &amp;")
        }
        at = end + 1
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        switch name {
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default: break
        }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard name.first == "#", let number, number != 0, let scalar = Unicode.Scalar(number)
        else { throw mistake("there is no entity \(name.quoted)") }
        return Array(String(Character(scalar)).utf8)
    }
}
