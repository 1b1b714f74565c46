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

    package init(_ code: Code, _ message: String, fix: String = "") {
        (self.code, self.message, self.fix) = (code, message, fix)
    }
}

extension Failure {
    /// `text` is no span of time; `name` stands before it.
    package init(noSpan text: String, of name: String = "") {
        let mistake = Interval.mistake(in: text)
        self.init(.usage, "\(name)\(text.quoted) \(mistake.reason)", fix: mistake.fix)
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
