import AppProtocol
import EventLoop
import Linux
import SystemBus
import Vocabulary

/// `org.offstage.Wake1` on the system bus. Who calls is known from the bus and asked of polkit;
/// what may be done is decided by `WakeLedger`; sleep itself is logind's.
final class WakeService {
    private let loop: EventLoop
    private let bus: Bus
    private var ledger: WakeLedger
    private var object: ExportedObject?
    private var alarm: TimerSource?
    private var idle: TimerSource?
    /// Fires on each return from sleep too, before logind tells of it.
    private let jumps: ClockJumps
    private var jumpSource: DescriptorSource?
    /// The connections whose alarms these are, by user.
    private var owners: [WakeLedger.User: String]
    /// Each tells when one of them has gone.
    private var watches: [WakeLedger.User: Subscription] = [:]
    /// The bus is gone, or the name is somebody else's.
    private(set) var isLost = false

    private static let logind = (
        destination: String?.some("org.freedesktop.login1"), path: "/org/freedesktop/login1",
        interface: "org.freedesktop.login1.Manager"
    )
    /// How long it stays when it has nothing to remember.
    private let linger: Interval

    init(
        _ loop: EventLoop,
        _ bus: Bus,
        _ ledger: WakeLedger = WakeLedger(),
        owners: [WakeLedger.User: String] = [:],
        linger: Interval = .seconds(10)
    ) throws(LinuxError) {
        (self.loop, self.bus, self.ledger) = (loop, bus, ledger)
        (self.owners, self.linger) = (owners, linger)
        jumps = try ClockJumps()
        alarm = try TimerSource(loop, wakingTheMachine: true) { [unowned self] in rang() }
        idle = try TimerSource(loop) { [unowned self] in endIfIdle() }
        jumpSource = try DescriptorSource(loop, jumps.descriptor.number, .readable) {
            [unowned self] _ in
            if (try? jumps.happened()) == true { self.ledger.isAwake(at: Clocks.now()) }
        }
    }

    func serve() throws(BusError) {
        try bus.onDisconnect { [unowned self] in lose() }
        for (user, owner) in owners { watches[user] = try watch(owner) }
        object = try bus.export(Wake1.interface, at: Wake1.path) { [unowned self] in take($0) }
        try bus.call(
            .messageBus("RequestName"),
            [.string(Wake1.busName), .integer(4)],
            signature: "su"
        ) { [unowned self] answer in
            guard case .success(let values) = answer, values.first?.integerValue == 1 else {
                return lose()
            }
        }
        stayAwhile()
    }

    private func watch(_ connection: String) throws(BusError) -> Subscription {
        try bus.onSignal(
            "NameOwnerChanged",
            of: Target.messageBusName,
            at: Target.messageBusPath,
            from: Target.messageBusName,
            about: connection
        ) { [unowned self] message in
            guard message.sender == Target.messageBusName,
                message.arguments.last?.stringValue == ""
            else { return }
            forget(connection)
        }
    }

    private func lose() {
        isLost = true
        loop.exit()
    }

    // MARK: Calls

    private func take(_ call: ObjectCall) {
        stayAwhile()
        guard let sender = call.sender else {
            return call.refuse(Wake1.notPermitted, "nobody knows who calls")
        }
        let isSleep = call.method.name == Wake1.sleepAgain.name
        do throws(BusError) {
            try bus.call(
                .messageBus("GetConnectionUnixUser"),
                [.string(sender)],
                signature: "s"
            ) { [unowned self] answer in
                guard case .success(let values) = answer,
                    let user = values.first?.integerValue.flatMap(UInt32.init(exactly:))
                else { return call.refuse(Wake1.notPermitted, "nobody knows who calls") }
                authorize(sender, user, isSleep ? Wake1.sleepAction : Wake1.alarmAction) {
                    [unowned self] error in
                    if let error { return call.refuse(error.name, error.text) }
                    isSleep ? sleepAgain(call, user) : setAlarm(call, user, sender)
                }
            }
        } catch {
            call.refuse(Wake1.failed, error.message)
        }
    }

    /// An error of D-Bus.
    private typealias ErrorReply = (name: String, text: String)

    /// Nobody is asked to type a password: this is done while nobody looks.
    private func authorize(
        _ sender: String,
        _ user: UInt32,
        _ action: String,
        _ then: @escaping (ErrorReply?) -> Void
    ) {
        // Root needs no polkit, and may be without it.
        guard user != 0 else { return then(nil) }
        let subject = Value.list([
            .string("system-bus-name"), .map(ValueMap([("name", .string(sender))])),
        ])
        do throws(BusError) {
            try bus.call(
                Target(
                    "org.freedesktop.PolicyKit1",
                    "/org/freedesktop/PolicyKit1/Authority",
                    "org.freedesktop.PolicyKit1.Authority",
                    "CheckAuthorization"
                ),
                [subject, .string(action), .map(ValueMap([])), .integer(0), .string("")],
                signature: "(sa{sv})sa{ss}us"
            ) { answer in
                switch answer {
                case .success(let values):
                    let isPermitted = values.first?.listValue?.first?.boolValue == true
                    then(isPermitted ? nil : (Wake1.notPermitted, "polkit does not permit it"))
                case .failure(let error):
                    let name = error.isAbsence ? Wake1.noPolkit : Wake1.failed
                    then((name, "polkit does not answer: \(error.message)"))
                }
            }
        } catch {
            then((Wake1.failed, "polkit cannot be asked: \(error.message)"))
        }
    }

    private func setAlarm(_ call: ObjectCall, _ user: UInt32, _ sender: String) {
        let time = call.arguments.first?.integerValue ?? 0
        guard time > 0 else {
            ledger.clear(user)
            (owners[user], watches[user]) = (nil, nil)
            arm()
            return reply(call)
        }
        guard alarm?.isAlarm == true else {
            return call.refuse(
                Wake1.unavailable,
                "this machine has no real-time clock that can wake it"
            )
        }
        guard time <= Int64.max / 1000 else { return refuse(call, .tooFar) }
        do throws(BusError) {
            // Only for who may set one: the bus allows each connection so many matches, this one's
            // included. Before the bus is asked: nobody hears of one that had gone by then.
            let watch = try owners[user] == sender ? nil : watch(sender)
            try bus.call(
                .messageBus("NameHasOwner"),
                [.string(sender)],
                signature: "s"
            ) { [unowned self] answer in
                guard case .success(let values) = answer, values.first?.boolValue == true else {
                    return call.refuse(Wake1.failed, "the caller has gone")
                }
                let at = BootTime(nanoseconds: time * 1000)
                setAlarm(call, user, sender, watch ?? watches[user], at)
            }
        } catch {
            call.refuse(Wake1.failed, error.message)
        }
    }

    private func setAlarm(
        _ call: ObjectCall,
        _ user: UInt32,
        _ sender: String,
        _ watch: Subscription?,
        _ time: BootTime
    ) {
        do throws(WakeRefusal) {
            try ledger.set(user, at: time, now: Clocks.now())
            (owners[user], watches[user]) = (sender, watch)
            arm()
            reply(call)
        } catch {
            refuse(call, error)
        }
    }

    private func sleepAgain(_ call: ObjectCall, _ user: UInt32) {
        do throws(WakeRefusal) {
            try ledger.sleepAgain(user, now: Clocks.now())
        } catch {
            return refuse(call, error)
        }
        do throws(BusError) {
            // logind lets a user, root here, ignore what programs of the same user inhibit.
            try bus.properties(of: Self.logind) { [unowned self] answer in
                guard case .success(let manager) = answer,
                    let inhibited = manager["BlockInhibited"]?.stringValue
                else { return call.refuse(Wake1.failed, "logind does not say what is inhibited") }
                guard !inhibited.split(separator: ":").contains("sleep") else {
                    return call.refuse(Wake1.refused, "a program inhibits sleep")
                }
                suspend(call)
            }
        } catch {
            call.refuse(Wake1.failed, error.message)
        }
    }

    private func suspend(_ call: ObjectCall) {
        let (name, path, interface) = Self.logind
        do throws(BusError) {
            // 1: root as well keeps to what others inhibit, also if that began just now.
            try bus.call(
                Target(name, path, interface, "SuspendWithFlags"),
                [.integer(1)],
                signature: "t"
            ) { [unowned self] answer in
                switch answer {
                case .success: reply(call)
                case .failure(let error): call.refuse(Wake1.failed, error.message)
                }
            }
        } catch {
            call.refuse(Wake1.failed, error.message)
        }
    }

    private func reply(_ call: ObjectCall) {
        // A caller that has gone needs no answer.
        try? call.answer()
    }

    private func refuse(_ call: ObjectCall, _ why: WakeRefusal) {
        let text =
            switch why {
            case .inThePast: "the time is over"
            case .tooFar: "the time is more than \(WakeLedger.longest) away"
            case .tooManyUsers: "\(WakeLedger.users) users have alarms"
            case .notWoken: "no alarm of yours has woken the machine since it slept"
            }
        call.refuse(Wake1.refused, text)
    }

    // MARK: Time

    private func arm() { try? alarm?.arm(at: ledger.next) }

    private func rang() {
        ledger.rang(at: Clocks.now())
        arm()
        stayAwhile()
    }

    /// Whoever is gone wakes nobody any more.
    private func forget(_ name: String) {
        for (user, owner) in owners where owner == name {
            (owners[user], watches[user]) = (nil, nil)
            ledger.clear(user)
            // It may have nothing left to remember.
            stayAwhile()
        }
        arm()
    }

    private func stayAwhile() { try? idle?.arm(at: Clocks.boot() + linger) }

    private func endIfIdle() {
        let now = Clocks.now()
        guard ledger.isIdle(at: now) else {
            // With an alarm it stays; after a wake until nobody may use that any more.
            if ledger.next == nil { try? idle?.arm(at: now.boot + WakeLedger.patience) }
            return
        }
        loop.exit()
    }
}

extension BusError {
    /// Nobody has the name, and nothing can start its program.
    fileprivate var isAbsence: Bool {
        guard case .refused(let name) = reason else { return false }
        let names = ["ServiceUnknown", "NameHasNoOwner", "Spawn.ServiceNotFound"]
        return names.contains { name == "org.freedesktop.DBus.Error." + $0 }
    }
}
