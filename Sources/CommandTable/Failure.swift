import Vocabulary

/// Why a command did not do what it was asked: said on standard error, told by the exit status.
package struct Failure: Error, Equatable, Sendable {
    package enum Code: Int32, Sendable {
        case failed = 1
        /// The command line itself is wrong.
        case usage = 2
        case notFound = 3
        /// The service that it would have asked does not run.
        case notRunning = 4
    }

    package var code: Code
    /// What was wrong, with the value.
    package var message: String
    /// What to do; may be empty.
    package var fix: String
    /// It is no sentence, and stands behind the message in brackets.
    package var isFixInLine = false
    /// How a service that does not answer was lost; nil: it did, or is not the one.
    package var loss: Loss?
    /// The service has nothing, or nothing more, to do it to.
    package var nothingToDo = false
    /// The connection stands, and the time for an answer is over.
    package var isLate = false

    /// The service is of another version, which does not have what it was asked.
    package var isOfOtherVersion = false

    /// How far a service had come when it went away.
    package enum Loss: Sendable {
        /// Nobody listens.
        case absent
        /// It went before it could be asked.
        case connecting
        /// It was asked, and nobody knows whether it did what it was asked.
        case unanswered
    }

    package init(_ code: Code, _ message: String, fix: String = "", loss: Loss? = nil) {
        (self.code, self.message, self.fix, self.loss) = (code, message, fix, loss)
    }
}

extension Failure {
    /// As people read it, after the name of the program.
    var lines: [String] {
        if fix.isEmpty { return [message] }
        return isFixInLine ? ["\(message) (\(fix))"] : [message, fix]
    }

    /// As programs read it.
    var report: Value {
        var fields: ValueMap = [
            "error": .string(message), "status": .integer(Int64(code.rawValue)),
        ]
        if !fix.isEmpty { fields["fix"] = .string(fix) }
        return .map(fields)
    }

    /// A word that the command has no place for.
    package init(unexpected word: String, to command: String, fix: String) {
        self.init(.usage, "\(command): unexpected argument \(word.quoted)", fix: fix)
    }

    /// `text` is not a time; `name` stands before it.
    package init(noSpan text: String, of name: String = "") {
        let mistake = Interval.mistake(in: text)
        self.init(.usage, "\(name)\(text.quoted) \(mistake.reason)", fix: mistake.fix)
    }

    /// `text` is neither a span nor a date nor a time of day.
    package init(noTime text: String, of name: String) {
        let mistake = Interval.mistake(in: text)
        let usual = Interval.mistake(in: "")
        let local = ", or a local time, such as 18:30, 2026-12-24 or 2026-12-24T18:30."
        self.init(
            .usage,
            "\(name)\(text.quoted) \(mistake.reason)",
            fix: mistake.fix == usual.fix ? mistake.fix.dropLast() + local : mistake.fix
        )
    }

    /// There is no such `word` among `words`; one of them may be meant.
    package static func unknown(
        _ kind: String,
        _ word: String,
        among words: [String],
        otherwise: String
    ) -> Failure {
        let suggestion = Spelling.suggestion(for: word, among: words)
        return Failure(
            .usage,
            "there is no \(kind) \(word.quoted)",
            fix: suggestion.map { "Did you mean \($0)?" } ?? otherwise
        )
    }
}
