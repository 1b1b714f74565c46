import AppProtocol
import BuildIdentity
import CommandTable
import Commands
import DeviceCore
import TestKit
import Testing
import Vocabulary

/// What is typed, before anything is done about it.
struct CommandLineTests {
    let terminal = TestTerminal()

    @Test(arguments: [
        ("", "no command was given"),
        ("statsu", "there is no command \"statsu\"\nDid you mean status?"),
        ("refresh-all-of-it", "there is no command"),
        ("status --jsn", "there is no option \"--jsn\"\nDid you mean --json?"),
        ("status -x", "there is no option \"-x\"\n\"offstage help status\" lists the options."),
        ("status now", "status: unexpected argument \"now\"\nUsage: offstage status"),
        (
            "explain",
            "explain: APP or ID is missing\nUsage: offstage explain APP [TASK]\n"
                + "       offstage explain ID..."
        ),
        ("explain a b c", "explain: unexpected argument \"c\"\nGive an app"),
        ("move", "move: ID is missing\nUsage: offstage move --first|--last ID..."),
        ("dismiss", "dismiss: give either apps or --all"),
        ("dismiss a --all", "dismiss: give either apps or --all"),
        (
            "download --wait=5 http://localhost/a",
            "--wait takes no value\nWrite --wait alone; \"offstage help download\" lists"
        ),
        ("download -w=5 http://localhost/a", "--wait takes no value\nWrite --wait alone"),
        ("download --overw=yes http://localhost/a", "--overwrite takes no value\n"),
        ("download --wiat=5 http://localhost/a", "there is no option \"--wiat\"\nDid you mean"),
        ("set", "set: CONDITION or SETTING is missing"),
        ("set battery", "set: VALUE is missing"),
        ("set battery -1", "battery cannot be \"-1\""),
        ("history -n", "-n needs an argument: NUMBER"),
        ("history -n many", "--lines \"many\" is not a number from 1 to 10000000"),
        ("history -n 0", "--lines \"0\" is not a number from 1 to 10000000"),
        ("history --since long", "--since \"long\" is not a time"),
        ("cancel a b c", "cancel: unexpected argument \"c\"\nGive an app"),
        ("pause soon", "\"soon\" is not a time\nWrite a number and a unit, such as 90s,"),
        // It might be any of ten minutes, and of which day.
        ("pause 14:0", "\"14:0\" is not a time\nWrite a number and a unit, such as 90s,"),
        ("submit --refresh --after 14:0 -- true", "--after \"14:0\" is not a time\nWrite"),
        ("simulate advance soon", "\"soon\" is not a time\nWrite a number and a unit"),
        ("pause 5 2h", "pause: unexpected argument \"2h\"\nGive one"),
        ("pause 0", "\"0\" is not a time"),
        ("history --since 5", "--since \"5\" has no unit\nSay 5s, 5min, 5h or 5d."),
        ("set wake-grant 5", "wake-grant cannot be \"5\": it has no unit\nSay 5s, 5min, 5h or 5d."),
        ("set wake-grant 5d", "wake-grant cannot be \"5d\": it is out of bounds\nWrite a time"),
        ("set failure-command 'mail'", "failure-command cannot be \"'mail'\": it has ' outside"),
        ("set batery 40", "there is no condition or setting \"batery\"\nDid you mean battery?"),
        ("set battery full", "battery cannot be \"full\"\nWrite one of: 0 to 100, auto."),
        ("set power maybe", "power cannot be \"maybe\"\nWrite one of: off, on, auto."),
        ("set run-slots 0", "run-slots cannot be \"0\"\nWrite a number from 1 to 1000."),
        ("set shared-purse on", "shared-purse is now called shared-budget\nWrite"),
        ("set refresh-floor 1h", "refresh-floor is now called minimum-refresh-interval\nWrite"),
        ("simulate", "simulate: something is missing"),
        ("simulate launch", "simulate launch: of which app?"),
        ("simulate launch a --days 1", "--days is for the virtual device, not for \"launch\""),
        ("simulate --days 0", "--days \"0\" is not a number from 1 to 3660"),
        ("simulate --days 1 --seed x", "--seed \"x\" is not a number"),
        ("simulate advance", "simulate advance: by how much"),
        ("simulate advance 1h feed", "simulate advance: by how much"),
        ("simulate advance 2", "\"2\" has no unit\nSay 2s, 2min, 2h or 2d."),
        ("simulate advance 0s", "\"0s\" is not a time greater than zero"),
        ("simulate advance 1h --patience x", "--patience \"x\" is not a time"),
        ("simulate launch a --patience 1s", "--patience is for simulate advance"),
        ("simulate --days 1 --patience 1s", "--patience is for simulate advance"),
        ("simulate lunch a", "there is no simulation \"lunch\"\nDid you mean launch?"),
        ("submit -- true", "submit: say either --refresh or --processing"),
        ("submit --refresh --processing -- true", "submit: say either"),
        ("submit --refresh", "submit: COMMAND is missing"),
        ("submit --refresh --after never -- true", "--after \"never\" is not a time"),
        ("submit --refresh --after -1h -- true", "--after \"-1h\" is less than nothing\nWrite it"),
        ("submit --refresh --every 99999d -- true", "--every \"99999d\" is more than 100 years\n"),
        (
            "submit --refresh --every 2026-12-24 -- true",
            "--every \"2026-12-24\" is a point in time, not a span\nWrite a number"
        ),
        (
            "pause soon",
            "\"soon\" is not a time\nWrite a number and a unit, such as 90s, 15min, 2h or 1d, or a "
                + "local time, such as 18:30"
        ),
        ("simulate expire a b --refresh", "simulate: --refresh is for the launch of a task"),
        ("simulate launch a --processing", "simulate: --processing is for the launch of a task"),
        (
            "simulate launch a b --processing --refresh",
            "simulate: a task is either --refresh or --processing"
        ),
        (
            "submit --refresh --after 2 -- true",
            "--after \"2\" has no unit\nSay 2s, 2min, 2h or 2d."
        ),
        (
            "submit --refresh --every 2 -- true",
            "--every \"2\" has no unit\nSay 2s, 2min, 2h or 2d."
        ),
        ("submit --refresh --setenv A -- true", "--setenv \"A\" is not a variable assignment"),
        ("submit --refresh --setenv =1 -- true", "--setenv \"=1\" is not a variable assignment"),
        (
            "submit --refresh --setenv OFFSTAGE_APP=x -- true",
            "--setenv \"OFFSTAGE_APP=x\" names a variable that Offstage sets itself\nChoose"
        ),
        ("submit --refresh --power -- true", "submit: --refresh does not take --power\nLeave"),
        (
            "upload --idempotent http://localhost/a /etc/passwd",
            "upload: --idempotent is for POST and PATCH only\nAdd --method POST"
        ),
        (
            "upload --idempotent --method put http://localhost/a /etc/passwd",
            "upload: --idempotent is for POST and PATCH only\nAdd --method POST"
        ),
        (
            "upload http://localhost/a -",
            "upload: - would be standard input, which is not possible\nName a file"
        ),
    ])
    func whatIsWrongWithItIsSaid(_ line: String, _ message: String) {
        let control = CoreControl(at: terminal.now)
        let outcome = terminal.run(line, control)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("offstage: " + message), "\(outcome.errors)")
        #expect(control.calls.isEmpty)
    }

    @Test(arguments: [
        "begin upload --socket /x", "begin upload --json --socket=/x", "begin --socket /x upload",
        "begin --json upload --socket /x", "begin -- upload",
    ])
    func `an option behind the name of a task keeps its argument`(_ line: String) {
        let control = CoreControl(at: terminal.now)
        terminal.run(line, control)
        #expect(control.calls.map(\.method) == ["BeginTask"])
        #expect(control.calls.first?.arguments.first == "upload")
    }

    @Test func howManyArgumentsACommandTakesIsSaid() {
        for (line, count, limit) in [
            ("submit --refresh --", 4097, 4096), ("lint", 4097, 4096),
            ("transfers --clear", 1025, 1024),
        ] {
            let words = line + String(repeating: " 7", count: count)
            let outcome = terminal.run(words, CoreControl(at: terminal.now))
            let name = line.prefix { $0 != " " }
            #expect(
                outcome.errors
                    == "offstage: \(name): \(count) arguments are too many\n"
                    + "It takes \(limit) at most.\n"
            )
        }
    }

    /// The terminal's zone is that of its clock.
    @Test func datesAndTimesOfDayAreTaken() throws {
        let control = CoreControl(at: terminal.now)
        let tomorrow = LocalTime(day: terminal.now.local.day + 1, timeOfDay: .hours(18))
        let wait = tomorrow.wall(utcOffset: terminal.now.utcOffset) - terminal.now.wall
        let date = tomorrow.description.prefix(10)
        terminal.run("submit --refresh --after \(date)T18:00 -- true", control)
        let earliest = (terminal.now.wall + wait).secondsSince1970
        #expect(control.calls.last?.arguments.first?["earliest"] == .double(earliest))
        #expect(control.calls.last?.arguments.first?["after"] == nil)
        terminal.run("download --after \(date)T18:00 https://example.org/a", control)
        #expect(control.calls.last?.arguments.last?["earliest"] == .double(earliest))
        // A date, as it is: the clock may be set before it comes. In one word and in two.
        let clock = LocalTime(terminal.now.wall + .hours(2), utcOffset: terminal.now.utcOffset)
        let soon = (terminal.now.wall + .hours(2)).secondsSince1970
        for (words, until) in [
            ("\(date)T18:00", earliest), ("\(date) 18:00", earliest),
            ("tomorrow 18:00", earliest), ("\(clock.description.suffix(8))", soon),
        ] {
            #expect(terminal.run("pause \(words)", control).status == 0, "\(words)")
            #expect(control.calls.last?.arguments.first?["until"] == .double(until), "\(words)")
            #expect(control.calls.last?.arguments.first?["seconds"] == nil)
        }
        terminal.run("pause 2h", control)
        #expect(control.calls.last?.arguments.first?["seconds"] == 7200.0)
        #expect(control.calls.last?.arguments.first?["until"] == nil)
        let earlier = LocalTime(terminal.now.wall - .hours(2), utcOffset: terminal.now.utcOffset)
        #expect(
            terminal.run("history --since \(earlier.description.suffix(8))", control).status == 0
        )
    }

    /// What was understood is said: 08:00 has passed today.
    @Test(arguments: [
        ("pause 08:00", "Paused until tomorrow 08:00.\n"),
        ("pause 2026-03-06 18:30", "Paused until Fri 18:30.\n"),
        ("pause 30m", "Paused until today 12:30.\n"),
        ("pause", "Paused until \"offstage continue\".\n"),
        (
            "download --after 08:00 https://example.org/a",
            "transfer 1: https://example.org/a\nNot before tomorrow 08:00.\n"
        ),
        ("download https://example.org/a", "transfer 1: https://example.org/a\n"),
        (
            "submit --refresh --after 08:00 -- a",
            "command.a is stored and begins tomorrow 08:00 or later; \"offstage explain "
                + "command.a\" says when it runs\n"
        ),
    ])
    func aTimeThatWasTypedIsPrintedWithItsDay(_ line: String, _ output: String) {
        #expect(terminal.run(line, CoreControl(at: terminal.now)).output == output)
    }

    /// Days are those of the daemon, whose clock is far ahead.
    @Test func timesAreToldByAVirtualClock() throws {
        var ahead = terminal.now
        ahead.wall = ahead.wall + .hours(50)
        let control = CoreControl(at: ahead)
        control.send(.condition(.power, .hand, .value(0)))
        control.pass(.hours(2))
        let conditions = terminal.run("conditions", control).output
        #expect(conditions.contains("today 14:00"), "\(conditions)")
        #expect(!conditions.contains("Thu"), "\(conditions)")
    }

    @Test func withoutADaemonTheStatusIsFour() {
        let outcome = terminal.run("status")
        #expect(
            outcome
                == Outcome(status: 4, output: "", errors: "offstage: the daemon is not running\n")
        )
    }

    @Test func anUnknownAppIsNotFound() {
        let control = CoreControl(at: terminal.now)
        control.send(.manifests([.present(AppManifest(id: AppID("newsboat"), name: "Newsboat"))]))
        let outcome = terminal.run("tasks newsbaot", control)
        #expect(outcome.status == 3)
        #expect(outcome.errors == "offstage: no app of that name: newsbaot\n")
        #expect(terminal.run("tasks newsboat", control).status == 0)
    }

    @Test func optionsBeforeTheCommandHoldForIt() {
        let control = CoreControl(at: terminal.now)
        let outcome = terminal.run("--json status", control)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("{\n"))
    }

    @Test(arguments: ["history -20", "history -n 20", "history --lines=20", "logs -20 newsboat"])
    func aNumberAloneIsHowManyLines(_ line: String) throws {
        let control = CoreControl(at: terminal.now)
        terminal.run(line, control)
        let arguments = try #require(control.calls.first).arguments
        #expect(arguments.last?[line.hasPrefix("logs") ? "lines" : "limit"] == 20)
    }

    @Test func whatIsNoNumberOfLinesStaysWhatItIs() throws {
        let control = CoreControl(at: terminal.now)
        #expect(terminal.run("history -n -20", control).status == 2)
        #expect(control.calls.isEmpty)
    }

    @Test func completionsArePrintedForEachShell() {
        for (shell, text) in OffstageProgram.table.completions.scripts {
            #expect(terminal.run("completions \(shell)").output == text)
        }
        let other = terminal.run("completions fihs")
        #expect(other.status == 2 && other.errors.contains("Did you mean fish?"))
    }

    @Test func whatFollowsACommandToSubmitIsItsOwn() throws {
        let control = CoreControl(at: terminal.now)
        let line = "submit --processing --power --every 1d --id b --setenv A=1=2 restic --json -n"
        #expect(terminal.run(line, control).status == 0)
        let (method, arguments) = try #require(control.calls.first)
        #expect(method == "Submit")
        let fields = try #require(arguments.first)
        #expect(fields["command"] == ["restic", "--json", "-n"])
        #expect(fields["kind"] == "processing")
        #expect(fields["power"] == true)
        #expect(fields["network"] == nil)
        #expect(fields["every"] == 86_400.0)
        #expect(fields["id"] == "b")
        #expect(fields["environment"] == ["A=1=2"])
        #expect(fields["directory"]?.stringValue?.hasPrefix("/") == true)
        #expect(fields["token"]?.stringValue?.utf8.count ?? 99 <= 64)
    }

    @Test func aVirtualDeviceRunsTheSameFromTheSameSeed() {
        let line = "simulate --days 1 --apps 3 --seed 11"
        let outcome = terminal.run(line)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("Seed 11: 1 day, 3 apps\n"))
        #expect(outcome.output.hasSuffix("rules held at every step.\n"))
        #expect(terminal.run(line) == outcome)
        let json = terminal.run(line + " --seeds 2 --json").output
        #expect(json.hasPrefix("[\n"))
        #expect(json.contains("\"seed\": 12"))
    }

    @Test func versionAndHelpNeedNoDaemon() {
        #expect(terminal.run("--version").output == "offstage \(Version.number)\n")
        #expect(terminal.run("-V") == terminal.run("--version"))
        for line in ["help", "--help", "-h"] {
            let outcome = terminal.run(line)
            #expect(outcome.status == 0)
            for command in OffstageProgram.table.commands {
                #expect(outcome.output.contains(command.summary))
            }
        }
    }

    @Test(arguments: OffstageProgram.table.commands.map(\.name))
    func eachCommandHasHelpWithExamplesThatAreRight(_ name: String) throws {
        let command = try #require(OffstageProgram.table.commands.first { $0.name == name })
        let help = terminal.run("help \(name)")
        #expect(help.status == 0)
        #expect(terminal.run("\(name) --help") == help)
        #expect(help.output.contains("Usage: offstage \(name)"))
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(!command.examples.isEmpty)
        for example in command.examples {
            #expect(help.output.contains("  offstage \(example.command)\n"))
            #expect(example.command.hasPrefix(name))
            // It would start the daemon in place of this test, or write into this directory.
            if ["daemon", "new"].contains(name) { continue }
            // What its output goes to is the shell's business.
            let own = example.command.prefix { $0 != ">" && $0 != "|" }
            let outcome = terminal.run(String(own))
            #expect(outcome.status != 2, "\(example.command): \(outcome.errors)")
        }
    }
}
