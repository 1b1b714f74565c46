/// Reads one Swift source for what a porter has to know.
struct SourceReader {
    let bytes: [UInt8]
    let tokens: [Token]
    private(set) var at = 0
    private var result = SourceFindings()
    private var blocks: [ConditionalBlock] = []
    /// Braces that are open.
    private var depth = 0
    /// Symbols that this source gives to types of its own, anywhere in it.
    private var ownHere: Set<Int> = []
    /// Words that this source gives to variables of its own.
    private(set) var ownVariables: Set<Int32> = []
    /// Modules that are imported on Linux and change what a name stands for: FoundationNetworking,
    /// and Offstage or what becomes it.
    private var importsNetworking = false
    private var importsOffstage = false
    private var importsCombine = false
    /// What has moved out of Foundation on Linux, into modules that are imported there.
    private var imported: Set<Int> = []
    /// Up to where the tokens belong to a call that is told as a whole.
    private var toldUpTo = 0

    static func read(_ bytes: [UInt8]) -> SourceFindings {
        var reader = SourceReader(bytes)
        return reader.read()
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens = SwiftLexer.tokens(bytes, SymbolTable.index)
    }

    private mutating func read() -> SourceFindings {
        while at < tokens.count {
            let token = tokens[at]
            switch token.kind {
            case .hash:
                readHash(token)
                continue
            case .name: readName(token)
            case .mark:
                if token.isMark("{") { depth += 1 }
                if token.isMark("}") { depth = max(0, depth - 1) }
            case .number, .text, .regex: break
            }
            if !blocks.isEmpty { blocks[blocks.count - 1].sawCode() }
            at += 1
        }
        // One that nobody has closed.
        while let block = blocks.popLast() { close(block, line: Int(tokens.last?.line ?? 1)) }
        // In such a file a session is one of Foundation's.
        let areFoundations = importsNetworking && !importsOffstage
        result.findings.removeAll { finding in
            guard case .symbol(let place) = finding.matter else { return false }
            return ownHere.contains(place) || imported.contains(place)
                || !importsCombine && SymbolTable.onlyCombinesPlaces.contains(place)
                || areFoundations && SymbolTable.sessionPlaces.contains(place)
        }
        if !importsNetworking, !importsOffstage { tellMissingImport() }
        result.leaveOutCovered()
        return result
    }

    /// At the first type of sessions, whose module on Linux is not Foundation.
    private mutating func tellMissingImport() {
        let first = result.findings.first { finding in
            guard case .symbol(let place) = finding.matter else { return false }
            return SymbolTable.sessionTypes.contains(place)
        }
        guard let line = first?.line else { return }
        let matter = Finding.Matter.symbol(SymbolTable.place("session types without their import"))
        let end = result.findings.lastIndex { $0.line == line } ?? 0
        result.findings.insert(Finding(line: line, matter: matter), at: end + 1)
    }

    // MARK: Directives

    func text(_ token: Token) -> String {
        String(decoding: bytes[Int(token.start)..<Int(token.end)], as: UTF8.self)
    }

    private mutating func readHash(_ token: Token) {
        let name = text(token)
        switch name {
        case "if":
            var block = ConditionalBlock(
                around: blocks.last?.current ?? Answers(.yes),
                depth: depth
            )
            begin(&block, token)
            blocks.append(block)
        case "elseif", "else":
            at += 1
            guard var block = blocks.popLast() else { return }
            at -= 1
            // Each branch opens and closes the same braces.
            depth = block.depth
            begin(&block, token)
            blocks.append(block)
        case "endif":
            at += 1
            if let block = blocks.popLast() { close(block, line: Int(token.line)) }
        default:
            if name == "selector", at >= toldUpTo { add("#selector", token) }
            if name == "keyPath" { add("#keyPath", token) }
            if !blocks.isEmpty { blocks[blocks.count - 1].sawCode() }
            at += 1
        }
    }

    /// The tokens of the condition are used up.
    private mutating func begin(_ block: inout ConditionalBlock, _ token: Token) {
        let condition = condition()
        let directive = tokens[at..<condition.endIndex].last.map { last in
            String(decoding: bytes[Int(token.start) - 1..<Int(last.end)], as: UTF8.self)
        }
        block.begin(
            condition.isEmpty ? Answers(.yes) : BuildCondition.answers(condition, in: bytes),
            directive?.split { $0 == " " || $0.isNewline }.joined(separator: " ") ?? "",
            line: Int(token.line),
            findings: result.findings.count
        )
        at = max(at + 1, condition.endIndex)
    }

    /// What follows on the line, and on the next ones while a parenthesis is open.
    private func condition() -> ArraySlice<Token> {
        var end = at + 1
        var open = 0
        while end < tokens.count, tokens[end].line == tokens[at].line || open > 0 {
            if tokens[end].kind == .hash { break }
            if tokens[end].isMark("(") { open += 1 }
            if tokens[end].isMark(")") { open -= 1 }
            end += 1
        }
        return tokens[at + 1..<end]
    }

    private mutating func close(_ block: ConditionalBlock, line: Int) {
        var block = block
        block.end(line: line, findings: result.findings.count)
        block.settle(&result.findings)
        // What stands in it stands in the block around it too.
        if block.branches.contains(where: \.hasCode), !blocks.isEmpty {
            blocks[blocks.count - 1].sawCode()
        }
    }

    // MARK: Names

    /// Whether what is read now can matter on Linux: what neither iOS nor Linux compiles does not.
    private var matters: Bool {
        guard let current = blocks.last?.current else { return true }
        return current.iOS != .no || current.linux != .no
    }

    private mutating func add(_ name: String, _ token: Token) {
        add(SymbolTable.place(name), token)
    }

    /// Once a line.
    private mutating func add(_ place: Int, _ token: Token) {
        guard matters else { return }
        let finding = Finding(line: Int(token.line), matter: .symbol(place))
        let sameLine = result.findings.reversed().prefix { $0.line == finding.line }
        if !sameLine.contains(finding) { result.findings.append(finding) }
    }

    private mutating func readName(_ token: Token) {
        guard token.word >= 0, let word = SymbolTable.words[Int(token.word)] else { return }
        switch word {
        case .keyword(let keyword):
            if isOwnType, keyword == .selectorType { fall([SymbolTable.place("Selector")]) }
            if !token.isQuoted { read(keyword, token) }
        case .symbols(let places, let owned):
            if isOwnType { return fall(owned) }
            if isOwnVariable {
                ownVariables.insert(token.word)
                return
            }
            for place in places where isMeant(SymbolTable.rows[place]) { add(place, token) }
            if isMark(".", -1), isMark("?", 1), isMark("(", 2) {
                let name = callName(2)
                if places.contains(where: { SymbolTable.rows[$0].name == name }) {
                    add("call of an optional method", token)
                }
            }
        }
    }

    /// What the project has under these names is its own.
    private mutating func fall(_ places: [Int], everywhere: Bool = false) {
        ownHere.formUnion(places)
        if depth == 0 || everywhere { result.ownSymbols += places }
    }

    // MARK: Keywords

    private mutating func read(_ keyword: SymbolTable.Keyword, _ token: Token) {
        switch keyword {
        case .import: readImport(token)
        case .objc, .objcMembers: if isMark("@", -1) { add("@objc", token) }
        case .uiApplicationMain:
            if isMark("@", -1) {
                add("@UIApplicationMain", token)
            } else if isMark("(", 1) {
                add("UIApplicationMain(_:_:_:_:)", token)
            }
        case .selectorType: if isMark("(", 1) || isMark(":", -1) { add("Selector", token) }
        case .selectorFromString: if isMark("(", 1) { add("Selector", token) }
        case .nsError: readError(token)
        case .observe:
            if isMark("(", 1), isMark("\\", 2) {
                add("observe(_:options:changeHandler:)", token)
            }
        case .publisher:
            readCall("publisher(for:)", label: "for", token)
        case .notifications:
            readCall("notifications(named:)", label: "named", token)
        case .expirationHandler:
            if isMark(".", -1), isMark("?", 1) || isMark("!", 1), isMark("(", 2) {
                add("call of an expiration handler", token)
            }
        case .addObserver: readObserver(token)
        case .removeObserver:
            if isMark("(", 1), isName("self", 2), isMark(")", 3) || isName("name", 4) {
                add("removeObserver(_:)", token)
            }
        case .backgroundTask:
            let kinds = ["appRefresh", "urlSession"]
            if isMark(".", -1), isMark("(", 1), isMark(".", 2),
                kinds.contains(where: { isName($0, 3) })
            {
                add("backgroundTask(_:action:)", token)
            }
        case .func, .class, .struct, .enum, .protocol, .typealias, .actor, .catch, .as, .selector:
            break
        }
    }

    /// A call of a method of Apple's, unless the project has one of this name.
    private mutating func readCall(_ name: String, label: String, _ token: Token) {
        guard isMark("(", 1), isName(label, 2) else { return }
        if isName("func", -1) { fall([SymbolTable.place(name)], everywhere: true) }
        if isMark(".", -1), isMark(":", 3) { add(name, token) }
    }

    private mutating func readImport(_ token: Token) {
        guard !isMark(".", -1), let next = self.token(1), next.kind == .name else { return }
        let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let"]
        let hasKind = kinds.contains(text(next)) && self.token(2)?.line == token.line
        guard let module = hasKind ? self.token(2) : next else { return }
        let name = text(module)
        importsCombine = importsCombine || name == "Combine"
        if blocks.last?.current.linux != .no {
            importsNetworking = importsNetworking || name == SymbolTable.networking
            imported.formUnion(SymbolTable.movedPlaces[name] ?? [])
            importsOffstage = importsOffstage || ModuleTable.becomesOffstage(name)
        }
        if let place = ModuleTable.place(name) { add(place, token) }
    }

    /// `as? NSError`, and a pattern: `catch let error as NSError`, `case let error as NSError`.
    private mutating func readError(_ token: Token) {
        if isMark("?", -1), isName("as", -2) { add("error as NSError", token) }
        if isName("as", -1), isName("catch", -4) || isName("case", -4) {
            add("error as NSError", token)
        }
    }

    /// A call with a selector; what stands in it is told with it.
    private mutating func readObserver(_ token: Token) {
        guard isMark("(", 1) else { return }
        var open = 0
        var place = at + 1
        var hasSelector = false
        while place < tokens.count, place < at + 500 {
            let token = tokens[place]
            if token.isMark("(") { open += 1 }
            if token.isMark(")") { open -= 1 }
            if open == 0 { break }
            if open == 1, token.kind == .name, text(token) == "selector",
                place + 1 < tokens.count, tokens[place + 1].isMark(":")
            {
                hasSelector = true
            }
            place += 1
        }
        guard hasSelector else { return }
        add("addObserver(_:selector:name:object:)", token)
        toldUpTo = place
    }
}
