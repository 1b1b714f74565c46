import AppProtocol
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

    /// What was done, as JSON; people are told by the exit status.
    func report(_ done: ValueMap) {
        if wantsJSON { console.print(Value.map(done).json(pretty: true)) }
    }

    /// The same about the app, and the task, that the operands from `index` on name.
    func reportTask(from index: Int = 0) {
        var done: ValueMap = ["app": .string(operands[index])]
        if operands.count > index + 1 { done["task"] = .string(operands[index + 1]) }
        report(done)
    }
}
