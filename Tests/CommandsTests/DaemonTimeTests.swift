import AppProtocol
import DeviceCore
import Testing
import Vocabulary

/// What is typed as a date or time of day is meant by the daemon's clock, which may be a virtual
/// one.
struct DaemonTimeTests {
    private let terminal = TestTerminal()

    /// It is Thursday 14:00 there, and Tuesday 12:00 here.
    private func ahead() -> CoreControl {
        var now = terminal.now
        now.wall = now.wall + .hours(50)
        return CoreControl(at: now)
    }

    @Test func `a virtual clock is moved to a date`() throws {
        let control = ahead()
        for (words, hours) in [
            ("18:30", 4.5), ("2026-03-06 14:00", 24), ("tomorrow 14:00", 24), ("1h 30m", 1.5),
        ] {
            terminal.run("simulate advance \(words)", control)
            let (method, arguments) = try #require(control.calls.last)
            #expect(method == "Advance")
            #expect(arguments.first == .double(hours * 3600), "\(words)")
        }
    }

    @Test(arguments: [
        ("18:30", 4.5, "today 18:30"), ("12:00", 22, "tomorrow 12:00"),
        ("tomorrow 07:00", 17, "tomorrow 07:00"), ("2026-03-07", 34, "Sat 00:00"),
        ("Tue 12:00", 118, "Tue 12:00"),
    ])
    func `the beginning and the end that were typed are those of a virtual clock`(
        words: String,
        hours: Double,
        shown: String
    ) throws {
        let control = ahead()
        let time = Value.double(control.now.wall.secondsSince1970 + hours * 3600)
        let paused = terminal.run("pause \(words)", control)
        #expect(paused.output == "Paused until \(shown).\n", "\(paused)")
        #expect(control.calls.last?.arguments.first?["until"] == time)
        let begin = ["--after", words]
        let stored = terminal.run(["submit", "--refresh"] + begin + ["--", "a"], control)
        #expect(stored.output.contains(" and begins \(shown) or later;"), "\(stored)")
        #expect(control.calls.last?.arguments.first?["earliest"] == time)
        let fetched = terminal.run(["download"] + begin + ["https://example.org/a"], control)
        #expect(fetched.output.hasSuffix("\nNot before \(shown).\n"), "\(fetched)")
        #expect(control.calls.last?.arguments.last?["earliest"] == time)
    }

    @Test func `a span has its length, and is shown by a virtual clock`() throws {
        let control = ahead()
        #expect(terminal.run("pause 2h", control).output == "Paused until today 16:00.\n")
        #expect(control.calls.last?.arguments.first?["seconds"] == 7200.0)
        let report = try ValueJSON.parse(terminal.run("pause 2h --json", control).output)
        #expect(report["seconds"] == 7200.0 && report["until"] == "2026-03-05T16:00:00+01:00")
        let stored = terminal.run("submit --refresh --after 12h -- a", control).output
        #expect(stored.contains(" and begins tomorrow 02:00 or later;"), "\(stored)")
        #expect(control.calls.last?.arguments.first?["after"] == .double(12 * 3600))
    }

    /// What is here still to come may have passed there, and the other way round.
    @Test func `what has passed is so by a virtual clock`() {
        let control = ahead()
        let passed = terminal.run("pause 2026-03-05 13:00", control)
        #expect(passed.status == 2)
        #expect(
            passed.errors
                == "offstage: \"2026-03-05 13:00\" is in the past\nIt is 2026-03-05 14:00 now.\n"
        )
        #expect(!control.calls.contains { $0.method == "Pause" })
        control.send(.manifests([.present(AppManifest(id: AppID("reader"), name: "Reader"))]))
        control.send(.used(AppID("reader")))
        control.pass(.hours(1))
        #expect(control.history.count == 1)
        for (words, shown) in [("13:30", true), ("14:30", false), ("30m", false), ("2h", true)] {
            let told = terminal.run(["history", "--since", words], control)
            #expect(told.status == 0 && told.output.contains("reader") == shown, "\(told)")
        }
    }

    @Test(arguments: [
        (
            "submit --refresh --after 1999-12-24 -- true",
            "--after \"1999-12-24\" is in the past\nIt is 2026-03-03 12:00 now."
        ),
        (
            "submit --refresh --after 2222-12-24 -- true",
            "--after \"2222-12-24\" is more than 100 years from now"
        ),
        ("history --since 2222-01-01", "--since \"2222-01-01\" is in the future"),
    ])
    func `a date out of bounds is refused, and nothing is asked but how late it is`(
        line: String,
        message: String
    ) {
        let control = CoreControl(at: terminal.now)
        let outcome = terminal.run(line, control)
        #expect(outcome.status == 2 && outcome.output == "")
        #expect(outcome.errors.contains("offstage: " + message), "\(outcome.errors)")
        #expect(control.calls.map(\.method) == ["Overview"])
    }

    @Test func `a daemon is asked how late it is only for a time, and once`() {
        for (line, methods) in [
            ("pause", ["Pause"]), ("submit --refresh -- a", ["Submit"]),
            ("pause 18:30", ["Overview", "Pause"]),
            ("submit --refresh --after 18:30 -- a", ["Overview", "Submit"]),
            ("download --after 18:30 https://example.org/a", ["Overview", "Download"]),
            ("simulate advance 2h", ["Advance"]),
        ] {
            let control = CoreControl(at: terminal.now)
            terminal.run(line, control)
            #expect(control.calls.map(\.method) == methods, "\(line)")
        }
    }
}
