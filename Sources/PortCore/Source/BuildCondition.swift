/// Whether something holds, as far as can be known without a build.
enum Answer: Equatable, Sendable {
    case no
    /// It depends on flags, versions or modules that nobody here knows.
    case unknown
    case yes

    static prefix func ! (answer: Answer) -> Answer {
        switch answer {
        case .no: .yes
        case .unknown: .unknown
        case .yes: .no
        }
    }

    static func && (left: Answer, right: Answer) -> Answer {
        if left == .no || right == .no { return .no }
        return left == .yes && right == .yes ? .yes : .unknown
    }

    static func || (left: Answer, right: Answer) -> Answer { !(!left && !right) }

    init(_ holds: Bool) { self = holds ? .yes : .no }
}

/// The answer where the app comes from and where it goes.
struct Answers: Equatable, Sendable {
    var iOS: Answer
    var linux: Answer
    /// Whether somebody who wrote it had Linux in mind.
    var namesLinux = false

    init(iOS: Answer, linux: Answer, namesLinux: Bool = false) {
        (self.iOS, self.linux, self.namesLinux) = (iOS, linux, namesLinux)
    }

    /// The same everywhere.
    init(_ answer: Answer) { self.init(iOS: answer, linux: answer) }

    static prefix func ! (answers: Answers) -> Answers {
        Answers(iOS: !answers.iOS, linux: !answers.linux, namesLinux: answers.namesLinux)
    }

    static func && (left: Answers, right: Answers) -> Answers {
        Answers(
            iOS: left.iOS && right.iOS,
            linux: left.linux && right.linux,
            namesLinux: left.namesLinux || right.namesLinux
        )
    }

    static func || (left: Answers, right: Answers) -> Answers { !(!left && !right) }
}

/// The condition of an `#if`: read from its tokens.
struct BuildCondition {
    private let tokens: ArraySlice<Token>
    private let bytes: [UInt8]
    private var at: Int
    private var depth = 0

    /// Conditions that are nested deeper are unknown.
    private static let depthLimit = 64

    static func answers(_ tokens: ArraySlice<Token>, in bytes: [UInt8]) -> Answers {
        var condition = BuildCondition(tokens: tokens, bytes: bytes, at: tokens.startIndex)
        return condition.disjunction()
    }

    private init(tokens: ArraySlice<Token>, bytes: [UInt8], at: Int) {
        (self.tokens, self.bytes, self.at) = (tokens, bytes, at)
    }

    private var token: Token? { at < tokens.endIndex ? tokens[at] : nil }

    private func text(_ token: Token) -> String {
        String(decoding: bytes[Int(token.start)..<Int(token.end)], as: UTF8.self)
    }

    /// Steps over two equal marks.
    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard at + 1 < tokens.endIndex, tokens[at].isMark(mark), tokens[at + 1].isMark(mark)
        else { return false }
        at += 2
        return true
    }

    private mutating func disjunction() -> Answers {
        var answers = conjunction()
        while take("|") { answers = answers || conjunction() }
        return answers
    }

    private mutating func conjunction() -> Answers {
        var answers = term()
        while take("&") { answers = answers && term() }
        return answers
    }

    private mutating func term() -> Answers {
        guard let token, depth < Self.depthLimit else {
            at = tokens.endIndex
            return Answers(.unknown)
        }
        at += 1
        if token.isMark("!") {
            depth += 1
            defer { depth -= 1 }
            return !term()
        }
        if token.isMark("(") {
            depth += 1
            defer { depth -= 1 }
            let answers = disjunction()
            if self.token?.isMark(")") == true { at += 1 }
            return answers
        }
        guard token.kind == .name else { return Answers(.unknown) }
        let name = text(token)
        guard self.token?.isMark("(") == true else { return Self.flag(name) }
        at += 1
        let argument = self.token.map { $0.kind == .name ? text($0) : "" } ?? ""
        var open = 1
        while let next = self.token, open > 0 {
            if next.isMark("(") { open += 1 }
            if next.isMark(")") { open -= 1 }
            at += 1
        }
        return Self.test(name, argument)
    }

    private static func flag(_ name: String) -> Answers {
        switch name {
        case "true": Answers(.yes)
        case "false": Answers(.no)
        default: Answers(.unknown)
        }
    }

    /// `os(iOS)`, `canImport(UIKit)` and their like.
    private static func test(_ name: String, _ argument: String) -> Answers {
        switch name {
        case "os":
            return Answers(
                iOS: Answer(argument == "iOS"),
                linux: Answer(argument == "Linux"),
                namesLinux: argument == "Linux"
            )
        case "canImport": return module(argument)
        // A device is meant, not the simulator of one.
        case "targetEnvironment": return Answers(.no)
        case "_runtime": return apples(argument == "_ObjC")
        case "objectFormat": return apples(argument == "MachO")
        default: return Answers(.unknown)
        }
    }

    /// What holds on iOS and not on Linux, or the reverse.
    private static func apples(_ isApples: Bool) -> Answers {
        Answers(iOS: Answer(isApples), linux: Answer(!isApples), namesLinux: !isApples)
    }

    private static func module(_ name: String) -> Answers {
        if everywhere.contains(name) { return Answers(.yes) }
        if linuxOnly.contains(name) { return apples(false) }
        if elsewhere.contains(name) { return Answers(.no) }
        if ModuleTable.isApples(name) { return apples(true) }
        // A package of somebody: it may be for Linux too.
        return Answers(.unknown)
    }

    private static let everywhere: Set<String> = [
        "Swift", "Foundation", "FoundationEssentials", "Dispatch", "Observation", "Synchronization",
        "RegexBuilder", "Distributed", "XCTest", "Testing", "_Concurrency", "_StringProcessing",
    ]
    private static let linuxOnly: Set<String> = [
        "Glibc", "FoundationNetworking", "FoundationXML", "Offstage",
    ]
    /// Neither on iOS nor where Offstage runs.
    private static let elsewhere: Set<String> = ["Android", "AppKit", "Cocoa", "Musl", "WinSDK"]
}
