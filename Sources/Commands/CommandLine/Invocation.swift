import Linux
import Vocabulary

/// One call of a subcommand: what was typed, where it prints, whom it asks.
package struct Invocation {
    let options: Options
    let console: Console
    /// Connects to the daemon.
    let connect: () throws(Failure) -> any Control

    var operands: [String] { options.operands }
    var wantsJSON: Bool { options.has("json") }

    /// Prints a value as JSON if that was asked for, else as `text` prints it.
    func show(_ value: Value, _ text: (Value) -> Void) {
        if wantsJSON { console.print(value.json(pretty: true)) } else { text(value) }
    }

    /// The span that an option gives, such as `2h`.
    func interval(_ name: String) throws(Failure) -> Interval? {
        guard let text = options[name] else { return nil }
        guard let interval = Interval(text) else {
            throw Failure(noSpan: text, of: "--\(name) ")
        }
        return interval
    }

    /// The number that an option gives, within bounds.
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Failure) -> Int64? {
        guard let text = options[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw Failure(
                .usage,
                "--\(name) \(text.quoted) is no number from \(range.lowerBound) to "
                    + "\(range.upperBound)"
            )
        }
        return number
    }
}
