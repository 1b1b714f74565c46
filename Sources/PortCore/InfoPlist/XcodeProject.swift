import Vocabulary

/// What a project.pbxproj says of the apps that it builds: the value of one build setting, which a
/// property list names as `$(PRODUCT_BUNDLE_IDENTIFIER)`.
package enum XcodeProject {
    /// No project that somebody works with has a larger one.
    package static let sizeLimit = 16 << 20

    private static let setting = "PRODUCT_BUNDLE_IDENTIFIER"

    /// Each value that a configuration of an app for iOS has; an empty one where a configuration
    /// leaves it to another file. Tests, extensions and apps of a watch are no such apps.
    package static func identifiers(
        _ bytes: [UInt8]
    ) throws(PropertyList.Mistake) -> Set<String> {
        var reader = Reader(bytes: bytes)
        let objects = try reader.root()["objects"]
        var identifiers: Set<String> = []
        for target in (objects?.map ?? [:]).values
        where target["isa"]?.text == "PBXNativeTarget"
            && target["productType"]?.text == "com.apple.product-type.application"
        {
            let list = objects?[target["buildConfigurationList"]?.text ?? ""]
            for number in list?["buildConfigurations"]?.list ?? [] {
                let settings = objects?[number.text ?? ""]?["buildSettings"]
                let system = settings?["SDKROOT"]?.text ?? "auto"
                guard system == "auto" || system == "iphoneos" else { continue }
                // There may be one for each system that it is built for.
                let values = (settings?.map ?? [:]).filter { name, _ in
                    name == setting || name.hasPrefix(setting + "[")
                }.values
                identifiers.formUnion(values.isEmpty ? [""] : values.map { $0.text ?? "" })
            }
        }
        return identifiers
    }

    /// The one of all these values, if there is one and it says all.
    package static func only(_ identifiers: Set<String>) -> String? {
        guard identifiers.count == 1, let only = identifiers.first, !only.isEmpty,
            only.unicodeScalars.allSatisfy({ scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "-": true
                default: false
                }
            })
        else { return nil }
        return only
    }
}

extension XcodeProject {
    /// A value of such a file.
    fileprivate enum Node {
        case text(String)
        case list([Node])
        case map([String: Node])

        var text: String? { if case .text(let text) = self { text } else { nil } }
        var list: [Node] { if case .list(let list) = self { list } else { [] } }
        var map: [String: Node] { if case .map(let map) = self { map } else { [:] } }

        subscript(name: String) -> Node? { map[name] }
    }

    /// Reads the older form of property lists: `{ name = value; }`, `( value, value )`, words and
    /// quoted texts, with comments between them.
    fileprivate struct Reader {
        let bytes: [UInt8]
        private var at = 0
        /// Lists and maps that are open.
        private var depth = 0
        private static let depthLimit = 32

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func root() throws(PropertyList.Mistake) -> Node {
            try skip()
            guard peek == UInt8(ascii: "{") else { throw mistake("it does not begin with a {") }
            let root = try value()
            try skip()
            guard at == bytes.count else { throw mistake("there is text behind its last }") }
            return root
        }

        private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

        private func mistake(_ reason: String) -> PropertyList.Mistake {
            let line = 1 + bytes[..<min(at, bytes.count)].count { $0 == UInt8(ascii: "\n") }
            return PropertyList.Mistake(reason: reason, line: line)
        }

        private func startsComment(_ second: Unicode.Scalar) -> Bool {
            peek == UInt8(ascii: "/") && at + 1 < bytes.count
                && bytes[at + 1] == UInt8(ascii: second)
        }

        /// Space and comments.
        private mutating func skip() throws(PropertyList.Mistake) {
            while let byte = peek {
                if byte <= 0x20 {
                    at += 1
                } else if startsComment("/") {
                    while let byte = peek, byte != UInt8(ascii: "\n") { at += 1 }
                } else if startsComment("*") {
                    at += 2
                    while at + 1 < bytes.count,
                        bytes[at] != UInt8(ascii: "*") || bytes[at + 1] != UInt8(ascii: "/")
                    {
                        at += 1
                    }
                    guard at + 1 < bytes.count else { throw mistake("it ends within a comment") }
                    at += 2
                } else {
                    return
                }
            }
        }

        private mutating func take(_ mark: Unicode.Scalar) throws(PropertyList.Mistake) -> Bool {
            try skip()
            guard peek == UInt8(ascii: mark) else { return false }
            at += 1
            return true
        }

        private mutating func value() throws(PropertyList.Mistake) -> Node {
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.depthLimit else { throw mistake("it is nested too deeply") }
            if try take("{") { return .map(try map()) }
            if try take("(") { return .list(try list()) }
            return .text(try word())
        }

        private mutating func map() throws(PropertyList.Mistake) -> [String: Node] {
            var map: [String: Node] = [:]
            while try !take("}") {
                let name = try word()
                guard try take("=") else { throw mistake("there is no = behind \(name.quoted)") }
                map[name] = try value()
                guard try take(";") else { throw mistake("there is no ; behind \(name.quoted)") }
            }
            return map
        }

        private mutating func list() throws(PropertyList.Mistake) -> [Node] {
            var list: [Node] = []
            while try !take(")") {
                list.append(try value())
                if try take(",") { continue }
                guard try take(")") else { throw mistake("there is no , in a list") }
                break
            }
            return list
        }

        /// Quoted or not. What stands for another character behind a \ is left as it is: no
        /// identifier has one.
        private mutating func word() throws(PropertyList.Mistake) -> String {
            try skip()
            var text: [UInt8] = []
            if let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                at += 1
                while let byte = peek, byte != quote {
                    if byte == UInt8(ascii: "\\") { at += 1 }
                    if let byte = peek { text.append(byte) }
                    at += 1
                }
                guard peek == quote else { throw mistake("it ends within a text") }
                at += 1
            } else {
                while let byte = peek, byte > 0x20, !"{}(),;=\"'".utf8.contains(byte) {
                    text.append(byte)
                    at += 1
                }
                guard !text.isEmpty else { throw mistake("there is no value") }
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
