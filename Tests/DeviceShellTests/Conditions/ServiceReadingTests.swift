import DeviceCore
@testable import DeviceShell
import Testing
import Vocabulary

/// What the properties of the machine's services mean.
struct ServiceReadingTests {
    private func objects(_ maps: [(ServiceObject, ValueMap)]) -> ServiceObjects {
        ServiceObjects(Dictionary(uniqueKeysWithValues: maps))
    }

    // MARK: UPower

    /// `lines`: whether each power line has power; nil: that is not known.
    private func upower(
        _ onBattery: Bool,
        _ display: ValueMap,
        lines: [Bool?] = []
    ) -> [Condition: Reading] {
        var objects = objects([
            (UPower.service, ["OnBattery": .bool(onBattery)]), (UPower.display, display),
        ])
        objects.listed = ["/org/freedesktop/UPower/devices/battery_BAT0"]
        objects.listed += lines.indices.map {
            "/org/freedesktop/UPower/devices/line_power_AC\($0)"
        }
        for (line, isOnline) in zip(UPower.lines(objects), lines) {
            objects[line] = isOnline.map { ["Online": .bool($0)] }
        }
        return UPower.read(objects)
    }

    @Test(
        arguments: [
            // A battery that is full, or unknown, discharges by nobody's word.
            (false, [false], 0), (false, [false, false], 0),
            (true, [true], 1), (true, [false, true], 1),
            (true, [nil], 0), (false, [false, nil], 1), (false, [], 1),
        ] as [(Bool, [Bool?], Int)]
    )
    func `power is on while a line has it, and by the batteries where no line is known`(
        onBattery: Bool,
        lines: [Bool?],
        value: Int
    ) {
        let display: ValueMap = ["IsPresent": true, "Type": 2, "Percentage": 80.0]
        #expect(upower(onBattery, display, lines: lines)[.power] == .value(value))
    }

    @Test func `power is the line, whatever the battery does`() {
        // Full, discharging, not charging: UPower's State.
        for state in [4, 2, 6] as [Int64] {
            let display: ValueMap = [
                "IsPresent": true, "Type": 2, "Percentage": 79.6, "State": .integer(state),
            ]
            #expect(upower(false, display) == [.battery: .value(80), .power: .value(1)])
            #expect(upower(true, display) == [.battery: .value(80), .power: .value(0)])
        }
    }

    @Test func `a machine without a battery has none, and runs on external power`() {
        let none: [Condition: Reading] = [.battery: .noDevice, .power: .noDevice]
        #expect(upower(false, ["IsPresent": false, "Type": 0, "Percentage": 0.0]) == none)
        // The battery of a mouse is not the machine's.
        #expect(upower(false, ["IsPresent": true, "Type": 5, "Percentage": 3.0]) == none)
    }

    @Test func `what is not read yet says nothing`() {
        #expect(UPower.read(ServiceObjects()).isEmpty)
        #expect(UPower.read(objects([(UPower.service, ["OnBattery": true])])).isEmpty)
    }

    // MARK: NetworkManager

    private func network(
        _ state: Int64,
        _ connectivity: Int64,
        metered: Int64 = 0,
        hasRoute: Bool? = nil
    ) -> [Condition: Reading] {
        let map: ValueMap = [
            "State": .integer(state), "Connectivity": .integer(connectivity),
            "Metered": .integer(metered),
        ]
        return NetworkManager.read(
            objects([(NetworkManager.service, map)]),
            hasRoute: hasRoute
        )
    }

    @Test(
        arguments: [
            // Connected globally, and what its check found: full, portal, limited, none, nothing.
            (70, 4, 2), (70, 2, 1), (60, 3, 0), (20, 1, 0), (70, 0, 2),
            // Connected to a site, or connecting, and not checked.
            (60, 0, 0), (40, 0, 0),
        ] as [(Int64, Int64, Int)]
    )
    func `connectivity is a network that leads everywhere`(
        state: Int64,
        connectivity: Int64,
        value: Int
    ) {
        #expect(network(state, connectivity)[.network] == .value(value))
    }

    @Test func `who manages no device does not speak for the network that others bring up`() {
        #expect(network(20, 1, hasRoute: true).isEmpty)
        #expect(network(10, 0, hasRoute: true).isEmpty)
        #expect(network(20, 1, hasRoute: false)[.network] == .value(0))
        #expect(network(70, 1, hasRoute: true)[.network] == .value(0))
    }

    @Test func `where NetworkManager checks nothing, that is said of the network alone`() {
        func remark(_ isChecked: Bool, _ condition: Condition) -> String? {
            let map: ValueMap = ["ConnectivityCheckEnabled": .bool(isChecked)]
            return NetworkManager.remark(objects([(NetworkManager.service, map)]), condition)
        }
        #expect(remark(false, .network)?.hasPrefix("not validated") == true)
        #expect(remark(true, .network) == nil)
        #expect(remark(false, .metered) == nil)
        #expect(NetworkManager.remark(ServiceObjects(), .network) == nil)
    }

    @Test func `a guess that the network is metered counts, and not knowing is not knowing`() {
        let values = (0...4).map { network(70, 4, metered: Int64($0))[.metered] }
        #expect(values == [nil, .value(1), .value(0), .value(1), .value(0)])
    }

    // MARK: power-profiles-daemon

    @Test func `only the profile that saves power is low-power mode`() {
        let readings = ["power-saver", "balanced", "performance"].map { profile in
            PowerProfiles.read(
                objects([(PowerProfiles.service, ["ActiveProfile": .string(profile)])])
            )[.lowPower]
        }
        #expect(readings == [.value(1), .value(0), .value(0)])
    }

    // MARK: logind

    private static let me: UInt32 = 1000

    private struct Person {
        var kind = "wayland"
        var isLocked = false
        var isIdle = false
        var idleSince: Int64 = 1
        var state = "active"
        var role = "user"
    }

    /// `stranger`: has the screen; he is none of the people, who are all the daemon's user.
    private func logind(
        _ people: [Person],
        stranger: Person? = nil,
        hasScreen: Bool = true
    ) -> [Condition: Reading] {
        func path(_ index: Int) -> String { "/org/freedesktop/login1/session/_3\(index)" }
        let list = people.indices.map { Value.list([.string("\($0)"), .string(path($0))]) }
        let isTaken = stranger != nil || !people.isEmpty
        let active = isTaken ? path(stranger == nil ? 0 : people.count) : "/"
        var maps: [(ServiceObject, ValueMap)] = [
            (Logind.user(Self.me), ["Sessions": .list(list)]),
            (
                Logind.seat,
                ["CanGraphical": .bool(hasScreen), "ActiveSession": ["1", .string(active)]]
            ),
        ]
        for (index, person) in (people + [stranger].compactMap(\.self)).enumerated() {
            let object = ServiceObject(
                path: path(index),
                interface: "org.freedesktop.login1.Session"
            )
            let map: ValueMap = [
                "Class": .string(person.role), "State": .string(person.state),
                "Type": .string(person.kind), "LockedHint": .bool(person.isLocked),
                "IdleHint": .bool(person.isIdle), "IdleSinceHint": .integer(person.idleSince),
            ]
            maps.append((object, map))
        }
        return Logind.read(objects(maps), of: Self.me)
    }

    @Test func `a lingering user has unlocked nothing, unless nobody could`() {
        #expect(logind([]) == [.locked: .value(2), .idle: .value(1)])
        #expect(logind([], hasScreen: false) == [.locked: .noDevice, .idle: .silent])
        let leaving = Person(state: "closing")
        #expect(logind([leaving])[.locked] == .value(2))
        // The user's own manager is no login.
        #expect(logind([Person(kind: "unspecified", role: "manager")])[.locked] == .value(2))
    }

    @Test func `the device is locked when each of the user's screens is`() {
        let (open, locked) = (Person(), Person(isLocked: true))
        #expect(logind([open])[.locked] == .value(0))
        #expect(logind([locked])[.locked] == .value(1))
        #expect(logind([locked, open])[.locked] == .value(0))
        // A login from afar does not unlock the screen; without a screen it is a login.
        let remote = Person(kind: "tty")
        #expect(logind([locked, remote])[.locked] == .value(1))
        #expect(logind([remote])[.locked] == .value(0))
    }

    @Test func `the device is idle when nobody works in any session`() {
        let (busy, away) = (Person(), Person(isIdle: true))
        #expect(logind([busy])[.idle] == .value(0))
        #expect(logind([away])[.idle] == .value(1))
        #expect(logind([away, busy])[.idle] == .value(0))
        #expect(logind([Person(isLocked: true)])[.idle] == .value(1))
    }

    @Test func `a desktop that never says whether it is idle is not taken for one in use`() {
        let mute = Person(idleSince: 0)
        #expect(logind([mute])[.idle] == .silent)
        #expect(logind([mute, Person(kind: "tty")])[.idle] == .silent)
        #expect(logind([mute, Person(isIdle: true)])[.idle] == .silent)
        #expect(logind([Person(isLocked: true, idleSince: 0)])[.idle] == .value(1))
    }

    @Test func `a terminal says nothing of use: its hint is as old as its login`() {
        for isIdle in [false, true] {
            let terminal = Person(kind: "tty", isIdle: isIdle)
            #expect(logind([terminal])[.idle] == .silent)
            #expect(logind([Person(isIdle: true), terminal])[.idle] == .value(1))
            #expect(logind([Person(), terminal])[.idle] == .value(0))
        }
    }

    @Test func `another user who sits at the machine uses it, and unlocks nothing of ours`() {
        let away = Person(isIdle: true, state: "online")
        #expect(logind([away], stranger: Person())[.idle] == .value(0))
        #expect(logind([away], stranger: Person(isIdle: true))[.idle] == .value(1))
        #expect(logind([away], stranger: Person(isLocked: true))[.idle] == .value(1))
        let locked = Person(isLocked: true, state: "online")
        #expect(logind([locked], stranger: Person())[.locked] == .value(1))
        #expect(logind([], stranger: Person()) == [.locked: .value(2), .idle: .value(0)])
        // A login screen is nobody, and a mute desktop says nothing.
        #expect(logind([away], stranger: Person(role: "greeter"))[.idle] == .value(1))
        #expect(logind([away], stranger: Person(idleSince: 0))[.idle] == .silent)
    }

    @Test func `nothing is said before each session is read, and of a user who has none`() {
        let list = Value.list([.list([.string("1"), .string("/session")])])
        let maps = objects([(Logind.user(Self.me), ["Sessions": list])])
        #expect(Logind.read(maps, of: Self.me).isEmpty)
        #expect(Logind.read(ServiceObjects(), of: Self.me).isEmpty)
    }
}
