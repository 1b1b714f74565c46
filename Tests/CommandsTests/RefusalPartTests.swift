import DeviceCore
import Testing

@testable import Commands

/// What the daemon refuses comes as one text; programs read what to do from a field of its own.
struct RefusalPartTests {
    @Test(arguments: [
        Refusal(.held, reason: "a is not open", fix: "offstage open a"),
        Refusal(.held, reason: "a (b) needs a terminal (Terminal=true)", fix: "run it (f(x)) so"),
        Refusal(.invalid, reason: "it is odd", value: "x (y)", fix: "leave (it) out"),
        Refusal(.storage, reason: "the log cannot be read: error 5 (EIO)"),
        Refusal(.storage, reason: "no disk"), Refusal(.held, reason: "a(b)", fix: "c"),
    ])
    func `the fix is what it was`(refusal: Refusal) {
        let (message, fix) = DaemonControl.parts(of: refusal.text)
        #expect(fix == refusal.fix)
        #expect(message.hasPrefix(refusal.reason) && message.contains(refusal.value))
        #expect(fix.isEmpty || "\(message) (\(fix))" == refusal.text)
    }

    @Test(arguments: ["", "plain", ")", "(", "a)", "(b)", "a(b)", "a (b", "a b)"])
    func `a text that is no refusal's stays whole`(text: String) {
        #expect(DaemonControl.parts(of: text) == (text, ""))
    }
}
