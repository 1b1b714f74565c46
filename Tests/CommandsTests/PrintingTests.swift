@testable import Commands
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

/// What the daemon's answers look like to a person. The answers are those of a real device.
struct PrintingTests {
    /// Newsboat, which runs at once, and a backup that waits for external power.
    let control: CoreControl
    var terminal = TestTerminal(width: 100)

    init() {
        control = CoreControl(at: terminal.now)
        var settings = Settings()
        settings.sharedWake = .zero
        control.send(.settings(settings))
        let newsboat = AppManifest(
            id: AppID("newsboat"),
            name: "Newsboat",
            modes: [.fetch],
            refreshCommand: ["newsboat", "-x", "reload"]
        )
        let backup = AppManifest(
            id: AppID("backup"),
            name: "Backup",
            modes: [.processing],
            processingCommand: ["restic", "backup"],
            processingNeeds: Needs(power: true)
        )
        control.send(.condition(.power, .hand, .value(0)))
        control.send(.manifests([.present(newsboat), .present(backup)]))
        control.pass(.minutes(1))
        control.send(.process(control.lastLaunch, .started(ProcessID(pid: 77, startTime: 1))))
        terminal.now = control.now
    }

    /// Why the backup waits, in the device's own words.
    var sentence: String {
        control.device.explain(AppID("backup"), at: control.now)[0].sentence
    }

    func finishRefresh(status: Int32, after interval: Interval = .seconds(2)) {
        let now = control.now
        control.now = Moment(
            boot: now.boot + interval,
            awake: now.awake + interval,
            wall: now.wall + interval,
            utcOffset: now.utcOffset
        )
        let usage = Usage(cpu: .milliseconds(250), memory: 12 << 20)
        control.send(.process(control.lastLaunch, .exited(.status(status), usage)))
    }

    @Test func explainIsASentenceAndThenATable() {
        let outcome = terminal.run("explain backup", control)
        #expect(outcome.status == 0)
        #expect(
            outcome.output == """
                \(sentence)

                  GATE            VALUE       NEEDED          SINCE      NEXT
                  external-power  on battery  external power  1 min ago  when it changes

                """
        )
    }

    @Test func explainAsJSONHasStableNames() {
        let outcome = terminal.run("explain --json backup", control)
        #expect(
            outcome.output == """
                [
                  {
                    "app": "backup",
                    "held": [],
                    "holds": [
                      {
                        "gate": "external-power",
                        "needed": "external power",
                        "since": "2026-03-03T12:00:00+01:00",
                        "title": "no external power",
                        "value": "on battery"
                      }
                    ],
                    "name": "Backup",
                    "sentence": "\(sentence)",
                    "state": "waiting",
                    "task": "processing"
                  }
                ]

                """
        )
    }

    @Test func whatFailsStandsFirstInStatus() {
        finishRefresh(status: 1)
        let outcome = terminal.run("status", control)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "Failing")
        #expect(lines[1].hasPrefix("  APP       IN A ROW  SINCE   NEXT TRY   REASON"))
        #expect(lines[2].hasPrefix("  newsboat  1         in 2 s  in 40 min"), "\(lines[2])")
        #expect(outcome.output.contains("power      off    1 min ago  set by hand"))
        #expect(outcome.output.hasSuffix("2 apps; today 1 background run, 2 s in all\n"))
    }

    /// The back-off of 15 minutes ends at night, when nothing is refreshed.
    @Test(arguments: [false, true])
    func `a failing app is tried again when its task may run, in one line as in the other`(
        isPaused: Bool
    ) throws {
        var settings = Settings()
        (settings.wakingFrom, settings.wakingUntil) = (.hours(7), .hours(12))
        settings.sharedWake = .zero
        control.send(.settings(settings))
        finishRefresh(status: 1)
        if isPaused { control.send(.user(.pause(nil), reply: ReplyToken(99))) }
        var later = terminal
        later.now = control.now
        let lines = later.run("status", control).output.split(separator: "\n").map(String.init)
        let tries = lines.filter { $0.hasPrefix("  newsboat ") }
        #expect(tries.count == 2, "\(lines)")
        let task = try #require(control.device.status(at: control.now).waiting.first)
        let time = task.next?.wall.map { Times.text($0, at: control.now) }
        let expected = isPaused ? ["when nothing holds it", "–"] : [time ?? "", time ?? ""]
        #expect(isPaused || time?.hasPrefix("tomorrow 07:0") == true, "\(task)")
        for (line, text) in zip(tries, expected) {
            #expect(line.contains("  \(text)  "), "\(line)")
        }
    }

    @Test func `only apps that are listed are counted`() {
        let gone = AppManifest(id: AppID("gone"), name: "Gone", modes: [.fetch])
        control.send(.manifests([.present(gone)]))
        #expect(control.device.status(at: control.now).apps == 3)
        control.send(.manifests([.removed(AppID("gone"))]))
        #expect(control.device.status(at: control.now).apps == 2)
        #expect(control.device.appList(at: control.now).count == 2)
        #expect(
            control.device.unknown(AppID("gonne")).fix == "offstage apps lists those that are known"
        )
    }

    @Test func statusShowsWhatRunsAndWhatIsPaused() {
        #expect(
            terminal.run("status", control).output.hasPrefix(
                """
                Running
                  APP       STATE    TASK     SINCE  TIME LEFT  PID
                  newsboat  running  refresh  now    30 s       77

                Waiting
                  APP     TASK        NEXT  WHY
                  backup  processing  –     \(sentence)

                """
            )
        )
        control.send(.user(.pause(.hours(2)), reply: ReplyToken(1)))
        #expect(
            terminal.run("status", control).output.contains(
                "Paused\n  All background work is held for 2 h more; paused now.\n"
            )
        )
    }

    /// Of each section the beginning is shown: what the screen has room for.
    @Test(arguments: [nil, 24, 55] as [Int?])
    mutating func statusOfManyAppsIsSeenAtOnce(height: Int?) throws {
        terminal.height = height
        let manifests = (0..<1000).map { number in
            var manifest = AppManifest(id: AppID("many\(number)"), name: "Many \(number)")
            manifest.modes = [.processing]
            manifest.processingCommand = ["true"]
            manifest.processingNeeds = Needs(power: true)
            return ManifestChange.present(manifest)
        }
        control.send(.manifests(manifests))
        let output = terminal.run("status", control).output
        let shown = output.split(separator: "\n").count { $0.contains("  processing  ") }
        #expect(output.contains("… and \(1001 - shown) more: \"offstage tasks\"\n"), "\(output)")
        if let height {
            #expect(output.count { $0 == "\n" } == height - 1, "all but the line of the prompt")
            #expect(shown >= 3)
        } else {
            #expect(shown == 10)
        }
        #expect(terminal.run("status --json", control).output.contains("\"many999\""))
    }

    @Test func statusSaysOfWhatCanBeAskedForThatItWaits() {
        control.send(.condition(.locked, .kernel, .noDevice))
        #expect(
            terminal.run("status", control).output.contains(
                """
                  Unknown: network, metered. Work that asks for one of them waits.
                  Also unknown: battery, idle, low-power, thermal, memory.

                """
            )
        )
        control.send(.condition(.network, .hand, .value(2)))
        control.send(.condition(.metered, .hand, .value(0)))
        let output = terminal.run("status", control).output
        #expect(output.contains("\n  Unknown: battery, idle, low-power, thermal, memory.\n"))
    }

    @Test(arguments: ["status", "conditions"])
    func whatTheDeviceCannotLackIsShownWithWhy(_ command: String) {
        control.send(.condition(.power, .hand, .silent))
        control.send(.condition(.power, .kernel, .noDevice))
        #expect(terminal.run(command, control).output.contains("  on (no battery)  "))
        let check = Check.sensor(.power, control.device.conditions[.power], problem: "")
        #expect(check.isGood && check.found == "on (no battery)")
    }

    @Test func historyIsReadDownwards() {
        finishRefresh(status: 0)
        let outcome = terminal.run("history", control)
        #expect(
            outcome.output == """
                TIME      APP       WHAT     TOOK    CPU    MEMORY  RESULT
                12:01:02  newsboat  refresh   2 s  0.2 s  ≥ 12 MiB  new data: exit status 0

                """
        )
        control.pass(.minutes(40))
        control.send(.user(.leave(AppID("newsboat")), reply: ReplyToken(1)))
        control.send(.process(control.lastLaunch, .started(ProcessID(pid: 78, startTime: 2))))
        finishRefresh(status: 1)
        let lines = terminal.run("history", control).output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.last?.contains("failed") == true)
        var later = terminal
        later.now = control.now
        let since = later.run("history --since 30m", control).output.split(separator: "\n")
        #expect(since.count == 2, "\(since)")
    }

    @Test func appsAndTasksAreTables() {
        finishRefresh(status: 1)
        let apps = terminal.run("apps", control).output
        #expect(apps.hasPrefix("APP       STATE        MODES       LAST USED  LAST RUN  RESULT\n"))
        #expect(apps.contains("newsboat  not running  fetch       –          in 2 s    failed\n"))
        let tasks = terminal.run("tasks backup", control).output
        #expect(
            tasks.hasPrefix(
                "APP     TASK        KIND        STATE    NEXT  WHY\nbackup  processing"
            )
        )
    }

    @Test func anEmptyDeviceSaysSo() {
        let control = CoreControl(at: terminal.now)
        #expect(terminal.run("tasks", control).output == "Nothing is waiting.\n")
        #expect(terminal.run("history", control).output == "Nothing has run yet.\n")
        #expect(terminal.run("apps", control).output.hasPrefix("No app has an [X-Offstage] group"))
    }

    @Test func namesOfAppsCannotSteerTheTerminal() {
        let nasty = AppManifest(
            id: AppID("nasty"),
            name: "\u{1B}]0;owned\u{7}\u{202E}x\n",
            modes: [.processing],
            processingCommand: ["true"],
            processingNeeds: Needs(power: true)
        )
        control.send(.manifests([.present(nasty)]))
        for line in ["status", "apps", "tasks", "explain nasty"] {
            let output = terminal.run(line, control).output
            #expect(output.contains("owned") || output.contains("nasty"))
            let isClean = output.unicodeScalars.allSatisfy { scalar in
                scalar == "\n"
                    || scalar.properties.generalCategory != .control
                        && scalar.properties.generalCategory != .format
            }
            #expect(isClean, "\(line)")
        }
    }

    @Test func coloursAreForTerminalsThatWantThem() {
        #expect(!terminal.run("status", control).output.contains("\u{1B}"))
        var colored = terminal
        colored.isColored = true
        let output = colored.run("status", control).output
        #expect(output.contains("\u{1B}[32mRunning\u{1B}[0m"))
        let plain = output.replacing("\u{1B}[0m", with: "").replacing("\u{1B}[1m", with: "")
        #expect(plain.contains("  newsboat  running  refresh  now    30 s       77\n"))
    }

    @Test func aNarrowTerminalContinuesTheLastColumn() {
        var narrow = terminal
        narrow.width = 60
        let lines = narrow.run("tasks backup", control).output.split(separator: "\n")
        #expect(lines.count > 2)
        #expect(lines.allSatisfy { $0.count <= 70 }, "\(lines)")
        var file = terminal
        file.width = nil
        #expect(file.run("tasks backup", control).output.split(separator: "\n").count == 2)
    }

    @Test func aNarrowTerminalWrapsTheWidestColumnsBetweenWords() {
        var narrow = terminal
        narrow.width = 70
        let lines = narrow.run("conditions", control).output.split(separator: "\n")
        #expect(lines.count > Condition.allCases.count + 1)
        #expect(lines.contains { $0.hasPrefix("locked     unknown  –") })
        // Columns stand below each other.
        let column = lines.first?.firstRange(of: "MEANING")?.lowerBound
        let place = column.flatMap { end in lines.first.map { $0[..<end].count } } ?? 0
        for line in lines { #expect(line.count <= place || line.dropFirst(place - 1).first == " ") }
    }

    @Test func ofSeveralReasonsTheFirstIsSaidAndTheOthersCounted() {
        control.send(.user(.pause(nil), reply: ReplyToken(1)))
        let output = terminal.run("explain backup", control).output
        let sentence = "Backup (processing) waits: you paused all background work"
        #expect(output.hasPrefix(sentence + ", and 1 more reason."))
        #expect(output.contains("\n  external-power  "))
    }

    @Test func tablesNeedNoDaemon() {
        let gates = terminal.run("gates").output
        for gate in Gate.allCases { #expect(gates.contains("\n" + gate.name)) }
        let modes = terminal.run("modes").output
        for mode in BackgroundMode.allCases { #expect(modes.contains("\n" + mode.rawValue)) }
        let settings = terminal.run("settings --defaults").output
        for row in SettingRow.table { #expect(settings.contains("\n" + row.name)) }
        #expect(terminal.run("conditions", control).output.contains("power      off"))
    }

    @Test func lintSaysWhereAndWhatToWrite() throws {
        let scratch = ScratchDirectory()
        let good = try scratch.write(
            "good.desktop",
            """
            [Desktop Entry]
            Type=Application
            Name=Good
            Exec=true
            [X-Offstage]
            BackgroundModes=fetch;
            RefreshCommand=true
            UseFrom=exec:/bin/true

            """
        )
        let bad = try scratch.write(
            "bad.desktop",
            """
            [Desktop Entry]
            Type=Application
            Name=Bad
            Exec=true
            [X-Offstage]
            BackgroundModes=fetsh;

            """
        )
        let alone = terminal.run(["lint", good])
        #expect(alone.status == 0 && alone.errors == "")
        #expect(alone.output.hasPrefix("\(good): warning: is in no directory that is searched"))
        #expect(alone.output.split(separator: "\n").count == 1, "\(alone.output)")
        let outcome = terminal.run(["lint", good, bad])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("\(bad): error: line 6: BackgroundModes: \"fetsh\""))
        #expect(outcome.errors.contains("offstage: 1 of 2 cannot be used"))
        let json = terminal.run(["lint", "--json", bad]).output
        #expect(json.contains("\"line\": 6"))
        #expect(json.contains("\"usable\": false"))
        #expect(!outcome.errors.contains("docs/"), "who installed it has none")
        let absent = scratch("absent.desktop")
        let text = try scratch.write("a.txt", "")
        #expect(terminal.run(["lint", absent]).status == 3)
        #expect(terminal.run(["lint", text]).status == 1)
        // What cannot be read keeps nothing from being said of the others.
        let all = terminal.run(["lint", absent, text, good, scratch.path, bad])
        #expect(all.status == 1)
        #expect(all.output.hasPrefix("\(absent): error: is not there.\n"), "\(all.output)")
        #expect(all.output.contains("\(text): error: is not a desktop file. A manifest is"))
        #expect(all.output.contains("\(scratch.path): error: is a directory, not a file."))
        #expect(all.output.contains("\(good): warning: is in no directory that is searched"))
        #expect(all.output.contains("\(bad): error: line 6: "))
        #expect(all.errors.contains("offstage: 4 of 5 cannot be used"))
        let listed = terminal.run(["lint", "--json", absent, good]).output
        let reports = try ValueJSON.parse(listed, limit: 1 << 20).listValue ?? []
        #expect(reports.map { $0["file"] } == [.string(absent), .string(good)])
        #expect(reports.map { $0["usable"] } == [false, true])
        #expect(reports[0]["problems"]?[0]?["reason"] == "is not there")
        let large = try scratch.write("large.desktop", String(repeating: "x", count: 70_000))
        #expect(terminal.run(["lint", large]).status == 1)
    }

    @Test(arguments: [
        (
            "BackgroundModes=fetch;\nRefreshCommand=no-such-program", true,
            "warning: RefreshCommand: \"no-such-program\" is not in PATH."
        ),
        (
            "BackgroundModes=fetch;\nRefreshCommand=/etc/passwd", true,
            "warning: RefreshCommand: \"/etc/passwd\" is not executable."
        ),
        (
            "BackgroundModes=fetch;\nRefreshCommand=true\nNewDataFrom=command:/no/where", true,
            "warning: NewDataFrom: \"/no/where\" is not there."
        ),
        (
            "BackgroundModes=fetch;processing;\nRefreshCommand=true", true,
            "warning: BackgroundModes: \"processing\" has no effect, nothing uses it. Add "
                + "ProcessingCommand"
        ),
        (
            "BackgroundModes=bluetooth;", true,
            "\"bluetooth\" has no effect in this version. "
                + "\"offstage modes\" lists the modes that work."
        ),
        ("", true, "warning: BackgroundModes: names no mode"),
        (
            "BackgroundModes=fetch;\nRefreshCommand=true\nMemoryLimit=900G", true,
            "warning: MemoryLimit: \"900 GiB\" is more than memory-limit allows"
        ),
        (
            "BackgroundModes=fetch;\nRefreshCommand=true\nStopTimeout=20h", true,
            "warning: StopTimeout: \"20h\" is more than stop-timeout allows"
        ),
        (
            "BackgroundModes=fetch;\nPermittedTaskIdentifiers=refresh;", true,
            "\"refresh\" is what the manifest's own command is called."
        ),
        (
            "BackgroundModes=fetch;\nRefreshCommand=true\nRefreshInterval=15", false,
            "error: line 8: RefreshInterval: \"15\" has no unit. Say 15s, 15min, 15h or 15d."
        ),
    ])
    func lintSeesWhatHasNoEffectHere(_ lines: String, _ isUsable: Bool, _ message: String) throws {
        let scratch = ScratchDirectory()
        let entry = "[Desktop Entry]\nType=Application\nName=App\nExec=true\n[X-Offstage]\n"
        let file = try scratch.write("app.desktop", entry + lines + "\n")
        let outcome = terminal.run(["lint", file])
        #expect(outcome.status == (isUsable ? 0 : 1))
        #expect(outcome.output.contains(message), "\(outcome.output)")
    }

    /// Where an app is written its manifest is a copy of the installed one.
    @Test func lintKnowsACopyOfAnInstalledManifest() throws {
        let scratch = ScratchDirectory()
        let entry = "[Desktop Entry]\nType=Application\nName=App\nExec=true\n[X-Offstage]\n"
        let text = entry + "BackgroundModes=fetch;\n"
        let installed = try scratch.write("installed/harbour.desktop", text)
        let copy = try scratch.write("project/harbour.desktop", text)
        var manifest = AppManifest(id: AppID("harbour"), name: "App")
        manifest.file = installed
        control.send(.manifests([.present(manifest)]))
        let same = terminal.run(["lint", copy], control)
        #expect(same.output == "\(copy): good\n", "\(same)")
        try Files.set(copy, to: text + "# newer\n")
        let other = terminal.run(["lint", copy], control)
        #expect(other.output.contains("is the app of \(installed), which differs"), "\(other)")
    }

    /// However many files: each directory is listed once, and the daemon is asked once.
    @Test func lintAsksForTheAppsOnce() throws {
        let scratch = ScratchDirectory()
        let entry = "[Desktop Entry]\nType=Application\nName=App\nExec=true\n[X-Offstage]\n"
        let files = try (1...5).map {
            try scratch.write("app\($0).desktop", entry + "BackgroundModes=fetch;\n")
        }
        #expect(terminal.run(["lint"] + files, control).status == 0)
        for method in ["Apps", "Settings"] {
            #expect(control.calls.count { $0.method == method } == 1, "\(method)")
        }
    }

    @Test func lintSaysWhyAFileIsNoApp() throws {
        let scratch = ScratchDirectory()
        let entry = "[Desktop Entry]\nType=Application\nName=App\nExec=true\n"
        for (text, message) in [
            (entry, "there is no group [X-Offstage]."),
            (entry + "[X-Offstge]\n", "line 5: \"[X-Offstge]\" is not the group [X-Offstage]."),
            (entry + "Hidden=true\n[X-Offstage]\n", "line 5: the entry is hidden (Hidden=true)."),
            (
                entry + "TryExec=no-such-program\n[X-Offstage]\n",
                "TryExec: \"no-such-program\" is not installed."
            ),
        ] {
            let outcome = terminal.run(["lint", try scratch.write("app.desktop", text)])
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("error: " + message), "\(outcome.output)")
        }
        let odd = try scratch.write(
            "my app.desktop",
            entry + "[X-Offstage]\nBackgroundModes=fetch;\n"
        )
        #expect(terminal.run(["lint", odd]).output.contains("\"my app\" is the app's id"))
    }
}
