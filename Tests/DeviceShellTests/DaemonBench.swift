import AppProtocol
import DeviceCore
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Vocabulary

/// The real daemon in a scratch directory, with a client on its socket. What it starts runs in
/// its home directory, where tests look for what was written.
final class DaemonBench {
    let daemon: ScratchDaemon
    private var bus: Bus?

    /// Nothing but the work itself takes time: no pauses, the day has no night.
    static let quick = """
        pause-after-boot = 0s
        pause-after-start = 0s
        pause-after-resume = 0s
        shared-wake = 0s
        settle-time = 0s
        waking-from = 00:00
        waking-until = 00:00
        refreshes-per-day = 100000

        """

    /// `starting`: false leaves the start to the test.
    init(
        _ settings: String = "",
        options: [String] = [],
        as user: User? = nil,
        starting: Bool = true
    ) throws {
        daemon = try ScratchDaemon(options: options, settings: Self.quick + settings, as: user)
        if starting { try daemon.start() }
    }

    var step: ControlStep.Kind? {
        LaunchMarkers(daemon.scratch("state/launches")).recordedStep()?.kind
    }

    // MARK: Files

    /// A path in the home directory of the apps.
    func home(_ name: String) -> String { daemon.scratch("home/" + name) }

    func read(_ name: String) -> String { (try? Files.text(home(name), limit: 1 << 26)) ?? "" }

    func lines(_ name: String) -> [String] { read(name).split(separator: "\n").map(String.init) }

    /// Writes a shell script into the home directory; run it as `sh NAME`.
    func script(_ name: String, _ text: String) throws {
        try daemon.scratch.write("home/" + name, text + "\n")
    }

    /// Writes the manifest of an app with `keys` in its group of ours.
    /// The keeper that signed last.
    var keeper: ProcessIdentity? { try? DaemonLock(daemon.scratch("state/lock")).keeper() }

    func manifest(_ name: String, exec: String = "true", entry: String = "", _ keys: String) throws
    {
        try daemon.write(
            manifest: name,
            """
            [Desktop Entry]
            Type=Application
            Name=\(name)
            Exec=\(exec)
            \(entry)

            [X-Offstage]
            \(keys)

            """
        )
    }

    /// A manifest of a refresh command that is a shell script.
    func refresh(_ name: String, _ script: String, _ keys: String = "") throws {
        try self.script(name + ".sh", script)
        try manifest(name, "BackgroundModes=fetch;\nRefreshCommand=sh \(name).sh\n\(keys)")
    }

    /// Waits for a file that an app writes.
    @discardableResult
    func wait(
        for name: String,
        _ isWanted: (String) -> Bool = { $0.hasSuffix("\n") }
    ) throws -> String {
        do {
            return try Wait.until(file: home(name), "written by an app", isWanted)
        } catch let error as DidNotHappen {
            throw DidNotHappen(description: "\(error); it was: \(read(name))\n\(report)")
        }
    }

    // MARK: The client

    /// Calls a method of `Control1` and waits for its answer.
    @discardableResult
    func ask(_ method: String, _ arguments: Value...) throws -> Value {
        try ask(method, arguments)
    }

    func ask(_ method: String, _ arguments: [Value]) throws -> Value {
        try ask(client(), method, arguments)
    }

    /// The same, on another socket.
    func ask(at socket: String, _ method: String) throws -> Value {
        try ask(Bus.connect(toSocket: socket, timeout: .seconds(60)), method, [])
    }

    private func ask(_ bus: Bus, _ method: String, _ arguments: [Value]) throws -> Value {
        let target = Target(Control1.busName, Control1.path, Control1.name, method)
        let signature = Control1.interface.method(method)?.inputSignature ?? ""
        let answers = try bus.call(
            target,
            arguments,
            signature: signature,
            timeout: .milliseconds(Int64(Wait.limitMilliseconds))
        )
        return answers.first ?? .null
    }

    /// The name and words of the error that a call is answered with.
    func refusal(_ method: String, _ arguments: Value...) throws -> (name: String, text: String) {
        do {
            let answer = try ask(method, arguments)
            throw DidNotHappen(description: "\(method) was not refused: \(answer)")
        } catch let error as BusError {
            guard case .refused(let name) = error.reason else { throw error }
            return (name, error.message)
        }
    }

    private func client() throws -> Bus {
        if let bus, bus.isOpen { return bus }
        let bus = try Command.acting(as: daemon.user) {
            try Bus.connect(toSocket: daemon.socket, timeout: .seconds(60))
        }
        self.bus = bus
        return bus
    }

    func kill() throws {
        bus = nil
        try daemon.kill()
    }

    /// Asks it to end; how it ended.
    func stop() throws -> ProcessExit? {
        bus = nil
        return try daemon.stop()
    }

    /// Forgets the connection to a daemon that is about to end.
    func disconnect() { bus = nil }

    func restart() throws {
        try kill()
        try daemon.start()
    }

    /// Whether it answers, as it must after everything that peers do.
    func answers() throws -> Bool {
        try ask("Version")["pid"]?.integerValue == Int64(daemon.identity?.pid ?? 0)
    }

    @discardableResult
    func submit(
        _ script: String,
        id: String,
        kind: String = "processing",
        _ more: ValueMap = [:]
    ) throws -> Value {
        try ask("Submit", submission(script, id, kind, more))
    }

    /// The same, without waiting for the answer.
    func sendSubmit(_ script: String, id: String, kind: String) throws {
        try send("Submit", [submission(script, id, kind, [:])])
    }

    /// A call, without waiting for its answer.
    func send(_ method: String, _ arguments: [Value]) throws {
        let target = Target(Control1.busName, Control1.path, Control1.name, method)
        let signature = Control1.interface.method(method)?.inputSignature ?? ""
        try client().notify(target, arguments, signature: signature)
    }

    private func submission(
        _ script: String,
        _ id: String,
        _ kind: String,
        _ more: ValueMap
    ) -> Value {
        var options: ValueMap = [
            "kind": .string(kind), "id": .string(id), "command": ["sh", "-c", .string(script)],
        ]
        for entry in more.entries { options[entry.key] = entry.value }
        if options["directory"] == nil { options["directory"] = .string(home("")) }
        return .map(options)
    }

    func set(_ name: String, _ value: String) throws {
        try ask("Set", .string(name), .string(value), [:])
    }

    /// The lines of the history, newest first.
    func history(_ app: String? = nil) throws -> [Value] {
        let options: ValueMap = app.map { ["app": .string($0)] } ?? [:]
        return try ask("History", .map(options)).listValue ?? []
    }

    /// All lines, page by page.
    func allHistory() throws -> [Value] {
        var lines: [Value] = []
        var before: Value = .integer(.max)
        while true {
            let page = try ask("History", ["limit": 1000, "before": before]).listValue ?? []
            guard let last = page.last?["id"] else { return lines }
            lines += page
            before = last
        }
    }

    /// The runs of an app, newest first.
    func runs(_ app: String) throws -> [Value] {
        try history(app).filter { $0["what"] == "run" }
    }

    /// A row of the conditions.
    func condition(_ name: String) throws -> Value {
        let rows = try ask("Conditions").listValue ?? []
        return rows.first { $0["condition"]?.stringValue == name } ?? .null
    }

    func setting(_ name: String) throws -> String {
        let settings = try ask("Settings").listValue ?? []
        let row = settings.first { $0["setting"] == .string(name) }
        return row?["value"]?.stringValue ?? ""
    }

    func explain(_ app: String) throws -> Value {
        try ask("Explain", .string(app), [:])[0] ?? .null
    }

    func app(_ name: String) throws -> Value? {
        try ask("Apps").listValue?.first { $0["app"] == .string(name) }
    }

    /// What runs, or is frozen, for an app.
    func running(_ app: String) throws -> Value? {
        try ask("Status")["running"]?.listValue?.first { $0["app"] == .string(app) }
    }

    /// Waits until the daemon says so; looks again at each change of what it keeps on disk.
    func wait(until what: String, _ isSo: () throws -> Bool) throws {
        let watch = try Inotify()
        _ = try watch.add(daemon.scratch("state"), [.modified, .created, .movedTo])
        let end = Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds))
        while try !isSo() {
            guard Clocks.boot() < end,
                Poll.ready(
                    watch.descriptor.number,
                    for: .readable,
                    milliseconds: Wait.limitMilliseconds
                )
            else { throw DidNotHappen(description: "\(what)\n\(report)") }
            _ = try watch.events()
        }
    }

    /// Waits for the next run of an app to end, and returns its line.
    func nextRun(_ app: String, after known: Int = 0) throws -> Value {
        var found: Value?
        try wait(until: "run \(known + 1) of \(app)") {
            let runs = try self.runs(app)
            found = runs.count > known ? runs[runs.count - known - 1] : nil
            return found != nil
        }
        return found ?? .null
    }

    /// For the message of a test that fails.
    var report: String {
        let status = (try? ask("Status").description) ?? "no answer"
        let history = (try? history().prefix(5).map(\.description).joined(separator: "\n")) ?? ""
        return "daemon: \(daemon.log)\nstatus: \(status)\nhistory: \(history)"
    }

    // MARK: Processes

    /// Whether the kernel lets a process do nothing. `known`: the step, where none is on record.
    func isFrozen(
        _ process: ProcessIdentity,
        _ known: ControlStep.Kind? = nil
    ) throws -> Bool {
        guard process.isAlive else { return false }
        let mounts = try Mounts()
        switch known ?? step {
        case .cgroup2: return try CgroupV2.of(process.pid, in: mounts)?.isFrozen == true
        case .cgroup1: return try CgroupV1Freezer.of(process.pid, in: mounts)?.isFrozen == true
        case .signals: return ProcessStatus(of: process.pid)?.standsStill == true
        case nil: return false
        }
    }

    func waitUntilFrozen(_ process: ProcessIdentity, _ isWanted: Bool = true) throws {
        try Wait.until("frozen: \(isWanted)\n\(report)", { try isFrozen(process) == isWanted })
    }

    /// The manifest of an app without a window, which runs `command` when it is opened.
    func installReader(_ command: String) throws {
        try manifest("reader", exec: command, entry: "NoDisplay=true", "BackgroundModes=fetch;")
    }

    /// Opens and leaves that app, which writes its number into a file, until it stands still.
    func suspendReader(writing name: String) throws -> ProcessIdentity {
        try ask("Open", "reader", [:])
        let reader = try process(from: name)
        try ask("Leave", "reader", [:])
        try waitUntilFrozen(reader)
        return reader
    }

    /// Lets time pass in which a busy process would show: another one counts for a while.
    func letOthersWork() throws {
        let work = Command("sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
        guard try work.run().succeeded else { throw DidNotHappen(description: "some work") }
    }

    /// The process whose number an app wrote into a file.
    func process(from name: String) throws -> ProcessIdentity {
        let text = try wait(for: name)
        guard let pid = text.split(separator: "\n").last.flatMap({ Int32($0) }),
            let process = ProcessIdentity(of: pid)
        else { throw DidNotHappen(description: "a living process in \(name): \(text)") }
        return process
    }

    /// Who had written its number into a file and may have ended since; only to be waited for.
    func process(ended name: String) throws -> [ProcessIdentity] {
        let text = try wait(for: name)
        return text.split(separator: "\n").compactMap { Int32($0) }
            .compactMap { ProcessIdentity(of: $0) }
    }
}
