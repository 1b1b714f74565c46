import Linux
package import Vocabulary

/// Where a command prints, and what it must know of the place.
package final class Console {
    package enum Style: String {
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    /// Columns of the terminal; nil when the output goes elsewhere.
    package let width: Int?
    /// Its lines; nil as well then.
    package let height: Int?
    package let isColored: Bool
    /// Whether a person sees standard error, so that a bar makes sense there.
    package let errorsAreSeen: Bool
    /// The time by which "in 12 min" is said, in the zone of what is typed and printed.
    package let now: Moment
    /// The same for what a daemon says, once it has been asked for it.
    package var daemonNow: Moment?
    private let output: ([UInt8]) -> Void
    private let errors: ([UInt8]) -> Void

    package init(
        width: Int?,
        height: Int? = nil,
        isColored: Bool,
        errorsAreSeen: Bool = false,
        now: Moment,
        output: @escaping ([UInt8]) -> Void,
        errors: @escaping ([UInt8]) -> Void
    ) {
        (self.width, self.height, self.isColored, self.now) = (width, height, isColored, now)
        self.errorsAreSeen = errorsAreSeen
        (self.output, self.errors) = (output, errors)
    }

    /// Standard output and error of a program.
    package static func standard(of program: String) -> Console {
        Clocks.readZone()
        let isTerminal = Terminal.isTerminal(1)
        let noColor = CurrentProcess.environment("NO_COLOR") ?? ""
        let isDumb = CurrentProcess.environment("TERM") == "dumb"
        // As other programs have it: what the user says goes before what the terminal says.
        let columns = CurrentProcess.environment("COLUMNS").flatMap { Int($0) }
        let width = columns.flatMap { $0 > 0 ? $0 : nil } ?? Terminal.size(1)?.columns ?? 80
        return Console(
            width: isTerminal ? width : nil,
            height: isTerminal ? Terminal.size(1)?.rows : nil,
            isColored: isTerminal && noColor.isEmpty && !isDumb,
            errorsAreSeen: Terminal.isTerminal(2),
            now: Clocks.now(),
            output: { StandardStream.output.write($0, program) },
            errors: { StandardStream.errors.write($0, program) }
        )
    }

    package func print(_ line: String) { output(Array((line + "\n").utf8)) }
    package func printError(_ line: String) { errors(Array((line + "\n").utf8)) }
    /// A piece of a line.
    package func writeError(_ text: String) { errors(Array(text.utf8)) }
    /// Bytes of another program, passed on as they are.
    package func write(_ bytes: ArraySlice<UInt8>) { output(Array(bytes)) }

    package func styled(_ text: String, _ style: Style?) -> String {
        guard let style, isColored, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}
