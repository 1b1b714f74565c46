/// The file `.netrc`, as ftp(1) and curl(1) read it: names and passwords for machines.
package enum LoginFile {
    /// All entries that have a name or a password, the one for all other machines last.
    package static func parse(_ text: String) throws(CredentialError) -> [Credentials.Login] {
        var words = Words(text)
        var logins: [Credentials.Login] = []
        var others: Credentials.Login?
        var current: Credentials.Login?
        var isOfOthers = false
        func keep() {
            guard let entry = current, !(entry.user + entry.password).isEmpty else { return }
            if !isOfOthers { logins.append(entry) } else if others == nil { others = entry }
        }
        while let word = try words.next() {
            switch word {
            case "machine", "default":
                keep()
                isOfOthers = word == "default"
                let host = isOfOthers ? nil : try words.value(of: word).lowercased()
                current = Credentials.Login(host: host, user: "", password: "")
            case "login": current?.user = try words.value(of: word)
            case "password": current?.password = try words.value(of: word)
            case "account": _ = try words.value(of: word)
            case "macdef": words.skipMacro()
            case _: throw CredentialError("line \(words.line) has a word that is not known")
            }
        }
        keep()
        return logins + [others].compactMap(\.self)
    }

    private struct Words {
        private var rest: Substring
        private(set) var line = 1

        init(_ text: String) { rest = text[...] }

        /// Nil: there is none any more.
        mutating func next() throws(CredentialError) -> String? {
            while let first = rest.first {
                if first == "#" {
                    rest = rest.drop { !$0.isNewline }
                } else if first.isWhitespace {
                    take()
                } else {
                    return first == "\"" ? try quoted() : plain()
                }
            }
            return nil
        }

        mutating func value(of word: String) throws(CredentialError) -> String {
            // Its end may be that of the file, behind empty lines.
            let place = line
            guard let value = try next() else {
                throw CredentialError("line \(place) ends after \(word)")
            }
            return value
        }

        /// Up to an empty line.
        mutating func skipMacro() {
            var isEmpty = false
            while let first = rest.first {
                take()
                guard first.isNewline else {
                    isEmpty = false
                    continue
                }
                if isEmpty { return }
                isEmpty = true
            }
        }

        private mutating func take() {
            if rest.removeFirst().isNewline { line += 1 }
        }

        /// A `#` within a word is part of it: passwords have them.
        private mutating func plain() -> String {
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest.dropFirst(word.count)
            return String(word)
        }

        private mutating func quoted() throws(CredentialError) -> String {
            var word = ""
            rest.removeFirst()
            while let character = rest.popFirst(), !character.isNewline {
                if character == "\"" { return word }
                guard character == "\\", let escaped = rest.popFirst() else {
                    word.append(character)
                    continue
                }
                switch escaped {
                case "n": word.append("\n")
                case "r": word.append("\r")
                case "t": word.append("\t")
                case _: word.append(escaped)
                }
            }
            throw CredentialError("line \(line) has a quotation mark without its other one")
        }
    }
}
