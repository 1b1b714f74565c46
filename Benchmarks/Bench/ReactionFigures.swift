import DeviceShell
import Linux
import SystemBus
import TestKit
import Vocabulary

/// How soon the daemon acts on what the machine's services tell, and what it costs to follow them
/// while nothing is to be done (docs/benchmarks.md, Footprint). The services are mocks on a real
/// dbus-daemon. The work is real, and the kernel says whether it stands still.
struct ReactionFigures {
    /// Seconds of looking at an idle daemon.
    var idleSeconds: Int32 = 60

    private static let rounds = 15
    private static let login = "org.freedesktop.login1"
    private static let session = "/org/freedesktop/login1/session/_31"
    private static let power = "org.freedesktop.UPower"
    private static let display = "/org/freedesktop/UPower/devices/DisplayDevice"

    func run() throws -> [Figure] {
        let daemon = try ScratchDaemon(options: Self.sensors, settings: Self.settings)
        let bus = try MessageBus(daemon.scratch, "system")
        let session = try MessageBus(daemon.scratch, "session")
        daemon.options += ["--system-bus", bus.address]
        daemon.environment["DBUS_SESSION_BUS_ADDRESS"] = session.address
        try Self.addServices(to: bus)
        try daemon.start()
        let idle = try idle(daemon, bus)
        let process = try Self.startWork(daemon)
        let scope = try Scope(of: daemon, process)
        let plug = try Self.median(scope) { try Self.unplug($0, bus) }
        let user = try Self.median(scope) {
            try bus.change(
                Self.session,
                of: Self.login,
                Self.login + ".Session",
                ["IdleHint": .bool(!$0)]
            )
        }
        return idle + [
            Figure(name: "unplug to frozen, p50", unit: "ms", ours: plug.p50, limit: .atMost(1000)),
            Figure(
                name: "unplug to frozen, most",
                unit: "ms",
                ours: plug.most,
                limit: .atMost(1000)
            ),
            Figure(
                name: "user's return to processing stopped, p50",
                unit: "ms",
                ours: user.p50,
                limit: .atMost(1000)
            ),
            Figure(
                name: "user's return to processing stopped, most",
                unit: "ms",
                ours: user.most,
                limit: .atMost(1000)
            ),
        ]
    }

    // MARK: The machine

    private static let settings = """
        pause-after-start = 0s
        pause-after-boot = 0s
        shared-wake = 0s
        settle-time = 0s
        waking-from = 00:00
        waking-until = 00:00
        """

    /// The kernel's sources, as far as this machine has them.
    private static var sensors: [String] {
        [
            ("--pressure", Pressure.path(of: .memory)),
            ("--power-supplies", PowerSupply.usualDirectory),
            ("--routes", Routes.usualDirectory), ("--thermal", ThermalZone.usualDirectory),
        ].flatMap { Files.exists($1) ? [$0, $1] : [] }
    }

    /// A laptop on mains with its user away.
    private static func addServices(to bus: MessageBus) throws {
        let manager = "/org/freedesktop/login1"
        try bus.mock(power, "/org/freedesktop/UPower", power)
        try bus.add(
            "/org/freedesktop/UPower",
            of: power,
            main: "/org/freedesktop/UPower",
            power,
            ["OnBattery": false]
        )
        try bus.add(
            display,
            of: power,
            main: "/org/freedesktop/UPower",
            power + ".Device",
            ["IsPresent": true, "Type": 2, "Percentage": 80.0]
        )
        let network = "org.freedesktop.NetworkManager"
        try bus.mock(network, "/org/freedesktop/NetworkManager", network)
        try bus.add(
            "/org/freedesktop/NetworkManager",
            of: network,
            main: "/org/freedesktop/NetworkManager",
            network,
            ["State": 70, "Connectivity": 4, "Metered": 4]
        )
        let profiles = "net.hadess.PowerProfiles"
        try bus.mock(profiles, "/net/hadess/PowerProfiles", profiles)
        try bus.add(
            "/net/hadess/PowerProfiles",
            of: profiles,
            main: "/net/hadess/PowerProfiles",
            profiles,
            ["ActiveProfile": "balanced"]
        )
        try bus.mock(login, manager, login + ".Manager")
        func add(_ path: String, _ interface: String, _ properties: ValueMap) throws {
            try bus.add(path, of: login, main: manager, login + interface, properties)
        }
        try add(manager + "/seat/seat0", ".Seat", ["CanGraphical": true])
        try add(
            session,
            ".Session",
            [
                "Class": "user", "State": "active", "Type": "wayland", "LockedHint": false,
                "IdleHint": true, "IdleSinceHint": 7,
            ]
        )
        let sessions: Value = [["1", .string(session)]]
        try add(manager + "/user/_\(CurrentProcess.user)", ".User", ["Sessions": sessions])
    }

    private static func unplug(_ isUnplugged: Bool, _ bus: MessageBus) throws {
        try bus.change(
            "/org/freedesktop/UPower",
            of: power,
            power,
            ["OnBattery": .bool(isUnplugged)]
        )
    }

    /// On mains nobody tells anything; on battery UPower tells of each percent that is used.
    private func idle(_ daemon: ScratchDaemon, _ bus: MessageBus) throws -> [Figure] {
        let pid = daemon.identity?.pid ?? 0
        func wakeUps(during what: () throws -> Void) rethrows -> Double {
            pause(8)
            let before = ProcessFields(of: pid).wakeUps
            try what()
            return ProcessFields(of: pid).wakeUps - before
        }
        let onMains = wakeUps { pause(idleSeconds) }
        try Self.unplug(true, bus)
        let signals: Int32 = 12
        let onBattery = try wakeUps {
            for number in 1...signals {
                try bus.change(
                    Self.display,
                    of: Self.power,
                    Self.power + ".Device",
                    ["Percentage": .double(80 - Double(number))]
                )
                pause(idleSeconds / signals)
            }
        }
        try Self.unplug(false, bus)
        return [
            Figure(
                name: "idle daemon with four services, wake-ups in \(idleSeconds) s",
                unit: "",
                ours: onMains,
                limit: .atMost(0)
            ),
            Figure(
                name: "the same on battery, wake-ups for each signal of UPower",
                unit: "",
                ours: onBattery / Double(signals),
                limit: .atMost(1)
            ),
            Figure(
                name: "the same, resident",
                unit: "MB",
                ours: ProcessFields(of: pid)["VmRSS"] / 1024,
                limit: .atMost(20)
            ),
        ]
    }

    // MARK: The work

    private static func startWork(_ daemon: ScratchDaemon) throws -> ProcessIdentity {
        try daemon.scratch.write("home/index.sh", "echo $$ > pid; while :; do :; done\n")
        try daemon.write(
            manifest: "index",
            """
            [Desktop Entry]
            Type=Application
            Name=Index
            Exec=true

            [X-Offstage]
            BackgroundModes=processing;
            ProcessingCommand=sh index.sh
            ProcessingNeeds=power;
            WhenInterrupted=freeze
            """
        )
        let text = try Wait.until(file: daemon.scratch("home/pid")) { $0.hasSuffix("\n") }
        guard let pid = Int32(text.dropLast()), let process = ProcessIdentity(of: pid) else {
            throw DidNotHappen(description: "work that runs: \(text)")
        }
        return process
    }

    /// What the kernel says of a process of a launch.
    private struct Scope {
        let process: ProcessIdentity
        private let step: ControlStep.Kind?
        private let mounts: Mounts

        init(of daemon: ScratchDaemon, _ process: ProcessIdentity) throws {
            self.process = process
            step = LaunchMarkers(daemon.scratch("state/launches")).recordedStep()?.kind
            mounts = try Mounts()
        }

        func isFrozen() throws -> Bool {
            switch step {
            case .cgroup2: try CgroupV2.of(process.pid, in: mounts)?.isFrozen == true
            case .cgroup1: try CgroupV1Freezer.of(process.pid, in: mounts)?.isFrozen == true
            case .signals, nil: ProcessStatus(of: process.pid)?.isStopped == true
            }
        }

        func wait(frozen isWanted: Bool) throws {
            try Wait.until("frozen: \(isWanted)", { try isFrozen() == isWanted }) {
                pause(milliseconds: 1)
            }
        }
    }

    /// Milliseconds until the work stands still, from before the service is told to say so.
    /// `hold`: what holds it, or holds it no more.
    private static func median(
        _ scope: Scope,
        _ hold: (Bool) throws -> Void
    ) throws -> (p50: Double, most: Double) {
        var times: [Double] = []
        for _ in 0..<rounds {
            try scope.wait(frozen: false)
            times.append(
                try timed {
                    try hold(true)
                    try scope.wait(frozen: true)
                } / 1e6
            )
            try hold(false)
        }
        try scope.wait(frozen: false)
        return (times.median, times.max() ?? 0)
    }
}
