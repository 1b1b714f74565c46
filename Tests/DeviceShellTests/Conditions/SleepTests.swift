import AppProtocol
@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The daemon and the machine's sleep: what it asks of logind (python-dbusmock plays it), and what
/// it does on the way to sleep and back.
final class SleepTests {
    private let bench: DaemonBench
    private let bus: MessageBus
    private let logind: MockLogind

    init() throws {
        bench = try DaemonBench(starting: false)
        bus = try MessageBus(bench.daemon.scratch, "system")
        bench.daemon.options += ["--system-bus", bus.address]
        logind = try MockLogind(on: bus)
        try bench.daemon.start()
    }

    @Test func `the machine does not fall asleep by itself while a run lasts`() throws {
        try logind.wait(forInhibitors: ["sleep delay"])
        try bench.submit("while [ ! -e go ]; do sleep 0.1; done", id: "long")
        try logind.wait(forInhibitors: ["idle block", "sleep delay"])
        try bench.daemon.scratch.write("home/go", "")
        try logind.wait(forInhibitors: ["sleep delay"])
        let check = try bench.ask("Doctor").listValue?
            .first { $0["check"] == "staying awake during a run" }
        #expect(check?["found"] == "logind's idle inhibitor")
    }

    @Test func `what holds the machine awake ends with the daemon`() throws {
        try bench.submit("exec sleep 1000", id: "long")
        try logind.wait(forInhibitors: ["idle block", "sleep delay"])
        try bench.kill()
        try bench.daemon.start()
        // The run goes on, and the next daemon holds it awake.
        try logind.wait(forInhibitors: ["idle block", "sleep delay"])
        _ = try bench.stop()
        try logind.wait(forInhibitors: [])
    }

    @Test func `sleep waits until the daemon is ready for it, and no longer`() throws {
        try logind.wait(forInhibitors: ["sleep delay"])
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        try logind.prepareForSleep(false)
        try logind.wait(forInhibitors: ["sleep delay"])
    }

    @Test func `a stranger who says that the machine is about to sleep is not heard`() throws {
        try logind.wait(forInhibitors: ["sleep delay"])
        let names = try bus.bus().call(.messageBus("ListNames")).first?.listValue ?? []
        // To each that is there, for nobody else gets what a stranger tells all.
        for name in names.compactMap(\.stringValue) where name.hasPrefix(":") {
            let sent = try Command(
                "dbus-send",
                "--bus=\(bus.address)",
                "--dest=\(name)",
                "--type=signal",
                Logind.manager.path,
                "\(Logind.manager.interface).PrepareForSleep",
                "boolean:true"
            ).run()
            #expect(sent.succeeded, "\(sent.errors)")
        }
        try bench.letOthersWork()
        #expect(try logind.inhibitors() == ["sleep delay"])
    }

    @Test func `logind is asked when it comes, and again by a bus that was away`() throws {
        _ = try bench.stop()
        bus.end(MockLogind.service)
        try bench.daemon.start()
        try logind.start()
        try logind.wait(forInhibitors: ["sleep delay"])
        // The bus goes before the sleep that it told of is over.
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        bus.end(MockLogind.service)
        bus.end()
        try bus.start()
        try logind.start()
        try logind.wait(forInhibitors: ["sleep delay"])
    }

    // MARK: Waking the machine

    /// `offstage-wake`, which writes down what it is asked.
    /// `file`: its calls are answered once that is there, with the number of the call at its end.
    private func startHelper(waitingFor file: String? = nil) throws {
        try bus.mock(Wake1.busName, Wake1.path, Wake1.busName)
        for method in Wake1.interface.methods {
            try bus.addMethod(
                method.name,
                of: Wake1.busName,
                at: Wake1.path,
                takes: method.inputSignature,
                gives: "",
                "with open('\(bench.daemon.scratch("asked"))', 'a') as asked: asked.write("
                    + "'\(method.name) ' + ' '.join(map(str, args)) + '\\n')"
                    + (file.map(wait(for:)) ?? "")
            )
        }
    }

    private func wait(for file: String) -> String {
        """

        import os, time
        number = len(open('\(bench.daemon.scratch("asked"))').readlines())
        while not os.path.exists('\(file)' + str(number)): time.sleep(0.01)
        """
    }

    private var asked: [String] {
        let text = (try? Files.text(bench.daemon.scratch("asked"))) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// All that was sent to this program on the bus before has reached it.
    private func ping(_ name: String) throws {
        _ = try bus.bus().call(Target(name, "/", "org.freedesktop.DBus.Peer", "Ping"))
    }

    /// The daemon's name on the bus.
    private func daemonName() throws -> String {
        let names = try bus.bus().call(.messageBus("ListNames")).first?.listValue ?? []
        let pid = try Int64(#require(bench.daemon.identity).pid)
        let name = try names.compactMap(\.stringValue).first { name in
            let answer = try bus.bus().call(
                .messageBus("GetConnectionUnixProcessID"),
                [.string(name)],
                signature: "s"
            )
            return answer.first?.integerValue == pid
        }
        return try #require(name)
    }

    @Test func `awake again before it was ready, it still delays the next sleep`() throws {
        let answer = bench.daemon.scratch("answer")
        try startHelper(waitingFor: answer)
        try logind.wait(forInhibitors: ["sleep delay"])
        _ = try bench.ask("Set", "power", "on", [:])
        try bench.submit("true", id: "later", ["after": 7200])
        try logind.prepareForSleep(true)
        try Wait.until("the helper is asked") { !asked.isEmpty }
        try logind.prepareForSleep(false)
        // The helper answers after that.
        try bench.daemon.scratch.write("answer1", "")
        try ping(Wake1.busName)
        try ping(daemonName())
        #expect(try logind.inhibitors() == ["sleep delay"])
        // The next sleep is prepared as usual.
        try bench.daemon.scratch.write("answer2", "")
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        #expect(asked.count == 2)
    }

    @Test func `ready for one sleep it is not ready for the next`() throws {
        try startHelper(waitingFor: bench.daemon.scratch("answer"))
        try logind.wait(forInhibitors: ["sleep delay"])
        _ = try bench.ask("Set", "power", "on", [:])
        try bench.submit("true", id: "later", ["after": 7200])
        try logind.prepareForSleep(true)
        try Wait.until("the helper is asked") { asked.count == 1 }
        try logind.prepareForSleep(false)
        try logind.prepareForSleep(true)
        try bench.daemon.scratch.write("answer1", "")
        try Wait.until("the helper is asked again") { asked.count == 2 }
        try ping(daemonName())
        #expect(try logind.inhibitors() == ["sleep delay"])
        try bench.daemon.scratch.write("answer2", "")
        try logind.wait(forInhibitors: [])
    }

    @Test func `before it sleeps the helper is told when to wake the machine`() throws {
        try startHelper()
        try logind.wait(forInhibitors: ["sleep delay"])
        _ = try bench.ask("Set", "power", "on", [:])
        try bench.submit("true", id: "later", ["after": 7200])
        let start = Clocks.boot()
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        let words = try #require(asked.last).split(separator: " ")
        #expect(words.first == "SetAlarm")
        let alarm = try #require(Int64(words.last ?? ""))
        let ahead = BootTime(nanoseconds: alarm * 1000) - start
        #expect(ahead > .minutes(110) && ahead < .minutes(150), "\(ahead)")
        // Off the charger it is not woken.
        try logind.prepareForSleep(false)
        try logind.wait(forInhibitors: ["sleep delay"])
        _ = try bench.ask("Set", "power", "off", [:])
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        #expect(asked.last == "SetAlarm 0")
    }

    @Test func `work that needs the network is woken for although the sleep takes it down`() throws
    {
        try startHelper()
        try logind.wait(forInhibitors: ["sleep delay"])
        _ = try bench.ask("Set", "power", "on", [:])
        let (path, name) = (NetworkManager.service.path, NetworkManager.service.interface)
        try bus.mock(name, path, name)
        let properties: ValueMap = ["State": 70, "Connectivity": 4]
        try bus.add(path, of: name, main: path, name, properties)
        // The daemon may have read it before that.
        try bus.change(path, of: name, name, properties)
        try bench.wait(until: "the network") {
            try bench.condition("network")["source"] == "NetworkManager"
        }
        try bench.submit("true", id: "later", ["after": 7200, "network": true])
        try logind.prepareForSleep(true)
        try logind.wait(forInhibitors: [])
        try bus.change(path, of: name, name, ["State": 10, "Connectivity": 1])
        try ping(name)
        try ping(daemonName())
        #expect(try bench.condition("network")["value"] == "on")
        #expect(asked.last != "SetAlarm 0")
        #expect(asked.count == 1)
        // It has not slept: what is so counts.
        try logind.prepareForSleep(false)
        try bench.wait(until: "no network") { try bench.condition("network")["value"] == "off" }
    }
}
