// Whether a word stands for a symbol of Apple's.
extension SourceReader {
    func token(_ offset: Int) -> Token? {
        let place = at + offset
        return tokens.indices.contains(place) ? tokens[place] : nil
    }

    func isMark(_ mark: Unicode.Scalar, _ offset: Int) -> Bool {
        token(offset)?.isMark(mark) == true
    }

    func isName(_ name: String, _ offset: Int) -> Bool {
        guard let token = token(offset), token.kind == .name else { return false }
        return bytes[Int(token.start)..<Int(token.end)].elementsEqual(name.utf8)
    }

    /// Whether a type of this name is declared here.
    var isOwnType: Bool {
        guard let before = token(-1), before.kind == .name, before.word >= 0,
            case .keyword(let keyword)? = SymbolTable.words[Int(before.word)]
        else { return false }
        switch keyword {
        case .class, .struct, .enum, .protocol, .typealias, .actor:
            return !before.isQuoted && !isMark(".", -2)
        case .import, .func, .catch, .as, .addObserver, .objc, .objcMembers, .selector,
            .observe, .publisher, .notifications, .expirationHandler, .backgroundTask,
            .removeObserver, .uiApplicationMain, .nsError, .selectorType, .selectorFromString:
            return false
        }
    }

    /// Whether a variable of this name is declared here.
    var isOwnVariable: Bool { isName("let", -1) || isName("var", -1) }

    /// Whether the word that is read stands for this symbol.
    func isMeant(_ symbol: Symbol) -> Bool {
        switch symbol.form {
        case .name: return isMeantByName && !isNetworkings(0)
        case .path: return isMark(".", -1) && (isBehindPath(symbol) || isImplicit(symbol))
        case .method:
            return isName("func", -1) && methodName() == symbol.name
        case .label: return isMark(":", 1)
        case .initializer:
            return isMark(":", 1) && isMark("(", -1)
                && isName(String(symbol.name.prefix { $0 != "(" }), -2)
        case .module, .language: return false
        }
    }

    /// A name alone is not meant as the label of an argument, as what is declared here, or as a
    /// type within a type of the project's: `API.UNNotification`.
    private var isMeantByName: Bool {
        guard let word = token(0), let before = token(-1) else { return true }
        if isMark(":", 1), before.isMark("(") || before.isMark(",") { return false }
        if before.isMark(".") {
            // A property of the project's own.
            if isName("self", -2), ownVariables.contains(word.word) { return false }
            guard isUppercase(word), let owner = token(-2), owner.kind == .name, isUppercase(owner)
            else { return true }
            let name = text(owner)
            // Names of notifications are members of this type.
            return ModuleTable.isAnyones(name) || name == "Name"
        }
        if isName("func", -1) { return false }
        if isName("case", -1) { return isMark(".", 1) || isMark(":", 1) }
        return !ownVariables.contains(word.word)
    }

    private func isUppercase(_ token: Token) -> Bool {
        let first = bytes[Int(token.start)]
        return first >= UInt8(ascii: "A") && first <= UInt8(ascii: "Z")
    }

    /// Whether the names that lead to the member stand before it.
    private func isBehindPath(_ symbol: Symbol) -> Bool {
        var offset = 0
        for component in symbol.components.dropLast().reversed() {
            guard isMark(".", offset - 1), isName(component, offset - 2) else { return false }
            offset -= 2
        }
        return !isNetworkings(offset)
    }

    /// Whether the name there says that it is the one of FoundationNetworking, which a file needs
    /// that imports Offstage too: `FoundationNetworking.URLSession`, or with `::`.
    private func isNetworkings(_ offset: Int) -> Bool {
        let isSelector = isMark(":", offset - 1) && isMark(":", offset - 2)
        return (isSelector || isMark(".", offset - 1))
            && isName(SymbolTable.networking, offset - (isSelector ? 3 : 2))
    }

    /// Whether it is the member without the names that lead to it, where these are known:
    /// `URLSession(configuration: .default)`.
    private func isImplicit(_ symbol: Symbol) -> Bool {
        if case .variable(let variable) = symbol.implicit {
            return isName(variable, isMark("?", -2) || isMark("!", -2) ? -3 : -2)
        }
        guard let before = token(-2), before.kind == .mark || before.isOperandKeyword,
            ![")", "]", ">", "?", "!", "."].contains(where: { before.isMark($0) })
        else { return false }
        // With a type before it: `let mode: URLSessionConfiguration = .default`.
        if before.isMark("="), isOfType(symbol) { return true }
        switch symbol.implicit {
        case nil, .variable: return false
        case .anywhere: return true
        case .argument(let label):
            return before.isMark(":") && isName(label, -3) && !isNetworkings(-5)
        case .call(let label): return isMark("(", 1) && isName(label, 2)
        case .key(let variable):
            guard before.isMark("[") else { return false }
            return isName(variable, isMark("?", -3) || isMark("!", -3) ? -4 : -3)
        }
    }

    /// Whether the type of the member stands before the `=` that is before its point.
    private func isOfType(_ symbol: Symbol) -> Bool {
        var offset = isMark("?", -3) ? -4 : -3
        for component in symbol.components.dropLast().reversed() {
            guard isName(component, offset) else { return false }
            offset -= 2
        }
        return isMark(":", offset + 1)
    }

    /// The whole name of the function whose first word is read: `scene(_:openURLContexts:)`.
    private func methodName() -> String {
        wholeName(1) { place in isLabel(place) ? text(tokens[place]) : nil }
    }

    /// The same of a call, whose parenthesis is so far ahead.
    func callName(_ offset: Int) -> String {
        wholeName(offset) { place in
            guard place < tokens.count, !tokens[place].isMark(")") else { return nil }
            let isLabelled = tokens[place].kind == .name && place + 1 < tokens.count
            return isLabelled && tokens[place + 1].isMark(":") ? text(tokens[place]) : "_"
        }
    }

    /// `label`: what the parameter or argument that begins at this token is called.
    private func wholeName(_ parenthesis: Int, _ label: (Int) -> String?) -> String {
        guard let name = token(0) else { return "" }
        var labels = ""
        var open = 0
        var place = at + parenthesis
        // Nothing in a list of parameters is as long.
        let end = min(tokens.count, at + 500)
        while place < end {
            let token = tokens[place]
            if token.kind == .mark {
                switch Unicode.Scalar(token.mark) {
                case "(", "[", "{": open += 1
                case ")", "]", "}": open -= 1
                default: break
                }
                if open <= 0, token.isMark(")") || token.isMark("}") { break }
                if open == 1, token.isMark("(") || token.isMark(","), let label = label(place + 1) {
                    labels += label + ":"
                }
            }
            place += 1
        }
        return text(name) + "(" + labels + ")"
    }

    /// Whether the token is the label of a parameter: `name:` or `label name:`.
    private func isLabel(_ place: Int) -> Bool {
        guard place + 1 < tokens.count, tokens[place].kind == .name else { return false }
        if tokens[place + 1].isMark(":") { return true }
        return tokens[place + 1].kind == .name && place + 2 < tokens.count
            && tokens[place + 2].isMark(":")
    }
}

extension Token {
    /// Whether it is a keyword behind which an operand stands.
    fileprivate var isOperandKeyword: Bool {
        kind == .name && !isQuoted && SymbolTable.index.expectsOperand(Int(word))
    }
}
