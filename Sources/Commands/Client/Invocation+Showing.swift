import CommandTable
import Vocabulary

extension Invocation {
    /// As JSON, or as `text` shows it.
    func show<Reply: Encodable>(_ reply: Reply, _ text: (Reply) -> Void) throws(Failure) {
        do throws(ValueError) {
            show(try ValueEncoder().encode(reply)) { _ in text(reply) }
        } catch {
            throw Failure(.failed, "the reply cannot be printed: \(error)")
        }
    }

    /// A time as text, or a dash.
    func timeText(_ time: Report.Time?) -> String {
        time?.wall.map { Times.text($0, at: console.now) } ?? "–"
    }
}
