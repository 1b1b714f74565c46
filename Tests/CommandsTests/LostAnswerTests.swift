import AppProtocol
import CommandTable
import Linux
import TestKit
import Testing
import Vocabulary

@testable import Commands

/// A daemon that goes away before it has answered: what is asked again, and what is said.
struct LostAnswerTests {
    /// One that is lost so many times, in the same way.
    private final class Losing: Control {
        private var losses: Int
        private let loss: Failure.Loss
        private let answer: (EncodedCall) throws(Failure) -> [Value]
        private(set) var calls: [String] = []

        init(
            _ losses: Int,
            _ loss: Failure.Loss = .unanswered,
            answer: @escaping (EncodedCall) throws(Failure) -> [Value] = {
                (call) throws(Failure) in call.plainReply
            }
        ) {
            (self.losses, self.loss, self.answer) = (losses, loss, answer)
        }

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            // How late it is there.
            if call.arguments.first?["rows"] == 0 { return call.plainReply }
            calls.append("\(call.method) \(call.arguments)")
            guard losses > 0 else { return try answer(call) }
            losses -= 1
            throw Failure(.notRunning, "the daemon is lost", fix: "Start it.", loss: loss)
        }
    }

    private var terminal = TestTerminal()

    static let harmless = [
        "status", "apps", "tasks", "tasks a", "explain a", "history -n 3", "logs a", "conditions",
        "settings", "doctor", "open a", "leave a", "close a", "cancel a",
        "cancel a task", "pause", "pause 1h", "continue", "reload", "set battery 40",
        "set run-slots 2",
        "submit --refresh --id b -- true",
    ]

    @Test(arguments: harmless)
    func `what does no harm is asked again until it is answered, word for word`(line: String) {
        let control = Losing(3)
        let outcome = terminal.run(line, control)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(control.calls.count == 4)
        #expect(Set(control.calls).count == 1, "also the token of a submit")
        let words = "offstage: the daemon is lost; asking again, for 30s at most\n"
        #expect(outcome.errors == words, "said once, and not where the answer is")
    }

    @Test(arguments: [
        ("run a", "offstage history a"), ("run a task", "offstage history a"),
        ("simulate launch a", "offstage history a"), ("simulate expire a", "offstage history a"),
    ])
    func `what might be done twice is asked once, and said not to be known`(
        line: String,
        look: String
    ) {
        let control = Losing(1)
        let outcome = terminal.run(line, control)
        #expect(control.calls.count == 1)
        #expect(outcome.status == 4)
        #expect(
            outcome.errors == """
                offstage: the daemon is lost; the request may or may not have been carried out, \
                and asked again it might be twice
                "\(look)" shows whether it was; if not, type the same again.

                """
        )
    }

    @Test(arguments: ["run a", "status"])
    func `one that went before it was asked is asked by all`(line: String) {
        let control = Losing(2, .connecting)
        #expect(terminal.run(line, control).status == 0)
        #expect(control.calls.count == 3)
    }

    @Test func `who becomes the app is no other's to repeat`() {
        #expect(Control1.Open { $0.attach = 7 }.repetition == .twice)
        #expect(Control1.Open().repetition == .same)
    }

    @Test func `who finds nothing left to cancel has done it before`() {
        func refusal(_ losses: Int, nothingToDo: Bool) -> Outcome {
            terminal.run(
                "cancel a",
                Losing(losses) { (_) throws(Failure) in
                    var failure = Failure(.notFound, "a has nothing to cancel")
                    failure.nothingToDo = nothingToDo
                    throw failure
                }
            )
        }
        let done = refusal(1, nothingToDo: true)
        #expect(done.status == 0)
        #expect(
            done.errors.hasSuffix(
                "a has nothing to cancel; it was done before, or there was nothing to do\n"
            )
        )
        #expect(refusal(0, nothingToDo: true).status == 3, "it was the first to be heard")
        #expect(refusal(1, nothingToDo: false).status == 3)
    }

    @Test(arguments: [
        ("submit --refresh -- /bin/true", "offstage tasks command.true"),
        ("submit --refresh --id b -- /bin/true", "offstage tasks command.b"),
        ("cancel reader", "offstage tasks reader"), ("pause", "offstage status"),
        ("set battery 40", "offstage conditions"), ("set run-slots 2", "offstage settings"),
    ])
    func `at last it is said what is not known, and what shows it`(line: String, look: String) {
        var terminal = terminal
        terminal.patience = Patience(limit: .milliseconds(20))
        let outcome = terminal.run(line, Losing(.max))
        #expect(outcome.status == 4)
        let last = """
            offstage: the daemon is lost; no daemon has answered for 20ms; the request may or may \
            not have been carried out
            Start it. Then "\(look)" shows whether it was; if not, type the same again.

            """
        #expect(outcome.errors.hasSuffix("asking again, for 20ms at most\n" + last))
    }

    @Test func `of what changes nothing nothing is unknown`() {
        var terminal = terminal
        terminal.patience = Patience(limit: .milliseconds(20))
        let outcome = terminal.run("status", Losing(.max))
        #expect(outcome.status == 4)
        #expect(outcome.output == "")
        let last = "offstage: the daemon is lost; no daemon has answered for 20ms\nStart it.\n"
        #expect(outcome.errors.hasSuffix(last))
    }

    @Test func `nobody waits for a daemon that was not there, but for one that was`() {
        let absent = Losing(1, .absent)
        let outcome = terminal.run("status", absent)
        #expect(outcome.status == 4 && absent.calls.count == 1)
        #expect(outcome.errors == "offstage: the daemon is lost\nStart it.\n")
        var losses: [Failure.Loss] = [.unanswered, .absent, .absent]
        let control = CoreControl(at: terminal.now)
        let later = terminal.record { console in
            OffstageProgram.main(["status"], console) { _ throws(Failure) in
                guard !losses.isEmpty else { return control }
                throw Failure(.notRunning, "the daemon is lost", loss: losses.removeFirst())
            }
        }
        #expect(later.status == 0 && losses.isEmpty)
    }
}
