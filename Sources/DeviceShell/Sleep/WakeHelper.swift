internal import AppProtocol
internal import DeviceCore
internal import Linux
internal import SystemBus
internal import Vocabulary

/// Wakes the machine, and sends it back to sleep, by `offstage-wake` on the system bus: an ordinary
/// user's daemon may do neither itself.
@safe
final class WakeHelper: ServiceBus.Client {
    private var bus: Bus?
    private var logind: NameWatch?
    private var upower: NameWatch?
    /// Since it was awake again; nil: the message bus was away meanwhile.
    private var watch: WakeWatch?
    /// It has an alarm of ours.
    private var hasAlarm = false
    /// How the machine went to sleep last, as far as anybody knows.
    private var before = Signs()
    /// When it was awake again.
    private var resumedAt = AwakeTime(nanoseconds: 0)
    /// Why it last set no alarm; nil: it did, or was not asked.
    private(set) var problem: Check.Helper.Problem?
    /// It has answered since the daemon started.
    private(set) var hasAnswered = false

    /// logind waits for so long with the sleep, and not longer for us.
    private static let patience = Interval.seconds(4)

    init(_ systemBus: ServiceBus) { systemBus.add(self) }

    func connected(_ bus: Bus) throws(BusError) {
        self.bus = bus
        logind = try NameWatch(ServiceRow.logind.name, on: bus) { _ in }
        upower = try NameWatch(ServiceRow.upower.name, on: bus) { _ in }
    }

    func disconnected() {
        // Alarms end with the connection.
        (bus, hasAlarm) = (nil, false)
        (watch, logind, upower) = (nil, nil, nil)
    }

    /// Where the message bus finds how to start it; nil: it is not installed. Asking it would start
    /// it.
    static func share() -> String? {
        ["/usr/local/share", "/usr/share"].first {
            Files.exists("\($0)/dbus-1/system-services/\(Wake1.busName).service")
        }
    }

    /// The machine is about to sleep, and to be woken at `time`; nil: not by us. `isNeeded`: nobody
    /// else wakes it then.
    func prepare(wakingAt time: BootTime?, isNeeded: Bool, _ done: @escaping () -> Void) {
        watch = nil
        readManager { [self] manager in
            before = Signs(manager ?? [:])
            setAlarm(at: time, isNeeded: isNeeded, done)
        }
    }

    func resumed() {
        resumedAt = Clocks.now().awake
        guard let bus, let logind, let upower else { return }
        // Without it the machine stays awake.
        watch = try? WakeWatch(on: bus, logind: logind, upower: upower) { [unowned self] then in
            // What daemons of others hold for their work is no sign of anybody.
            listInhibitors { then($0?.first { $0.who != Inhibitor.name }) }
        }
    }

    private func setAlarm(at time: BootTime?, isNeeded: Bool, _ done: @escaping () -> Void) {
        guard time != nil || hasAlarm else { return done() }
        call(Wake1.setAlarm.name, [.integer((time?.nanoseconds ?? 0) / 1000)], "t") { [self] in
            problem = $0.map { Check.Helper.Problem($0.message, $0.cause) }
            hasAlarm = time != nil && problem == nil
            if let problem, time != nil, isNeeded {
                DaemonLog.write("the machine is not woken for work: \(problem.text)")
            }
            done()
        }
    }

    /// The core asks for this after the work that the machine was woken for, if it has seen no sign
    /// of the user. logind knows of the lid, and of what other programs inhibit.
    func sleepAgain() { sleepAgain(asking: Self.mostQuestions) }

    /// logind notices that our own inhibitor is gone only when it is idle itself. Until then it
    /// also says that the machine is in use.
    private func sleepAgain(asking questions: Int) {
        listInhibitors { [self] inhibitors in
            if questions > 1, inhibitors?.contains(where: \.isOurs) == true {
                return sleepAgain(asking: questions - 1)
            }
            readManager { [self] manager in
                guard let inhibitors, let manager else {
                    return stayAwake("logind does not answer")
                }
                guard let watch else { return stayAwake("the message bus was away") }
                if let sign = watch.sign { return stayAwake(sign) }
                if let inhibitor = inhibitors.first {
                    return stayAwake("\(inhibitor.who) inhibits \(inhibitor.what)")
                }
                if let reason = before.reason(toStayAwake: manager, since: resumedAt) {
                    return stayAwake(reason)
                }
                call(Wake1.sleepAgain.name, [], "") { [self] in
                    if let error = $0 { stayAwake(error.message) }
                }
            }
        }
    }

    private func stayAwake(_ reason: String) {
        DaemonLog.write("the machine stays awake after its work: \(reason)")
    }

    private static let mostQuestions = 10

    /// Those of idleness and of sleep; nil: logind does not say.
    private func listInhibitors(_ then: @escaping ([Inhibition]?) -> Void) {
        guard let bus else { return then(nil) }
        do throws(BusError) {
            let (path, interface) = (Logind.manager.path, Logind.manager.interface)
            try bus.call(Target(ServiceRow.logind.name, path, interface, "ListInhibitors")) {
                then((try? $0.get())?.first?.listValue?.compactMap(Inhibition.init))
            }
        } catch {
            then(nil)
        }
    }

    private func readManager(_ then: @escaping (ValueMap?) -> Void) {
        guard let bus else { return then(nil) }
        do throws(BusError) {
            try bus.properties(
                of: (ServiceRow.logind.name, Logind.manager.path, Logind.manager.interface)
            ) { answer in
                then(try? answer.get())
            }
        } catch {
            then(nil)
        }
    }

    private func call(
        _ method: String,
        _ arguments: [Value],
        _ signature: String,
        _ then: @escaping (BusError?) -> Void
    ) {
        guard let bus else {
            return then(BusError(.disconnected, method, Wake1.busName, "no system bus"))
        }
        do throws(BusError) {
            try bus.call(
                Target(Wake1.busName, Wake1.path, Wake1.busName, method),
                arguments,
                signature: signature,
                timeout: Self.patience
            ) { [self] answer in
                hasAnswered = true
                switch answer {
                case .success: then(nil)
                case .failure(let error): then(error)
                }
            }
        } catch {
            then(error)
        }
    }
}

extension WakeHelper {
    /// What logind knows of somebody at the machine; nil: it does not say.
    struct Signs: Equatable {
        var lidIsClosed: Bool?
        var isIdle: Bool?

        init() {}

        init(_ manager: ValueMap) {
            lidIsClosed = manager["LidClosed"]?.boolValue
            isIdle = manager["IdleHint"]?.boolValue
        }

        /// Some desktops take the return from sleep for input, and say so within this time.
        private static let awakening = Interval.seconds(3)

        /// These are from before the sleep that ended at `resumed`. Nil: there is no reason.
        func reason(toStayAwake manager: ValueMap, since resumed: AwakeTime) -> String? {
            let now = Signs(manager)
            if lidIsClosed == true, now.lidIsClosed == false { return "its lid was opened" }
            // Behind a lock it counts as idle, whoever is there.
            guard isIdle == true, now.isIdle == false else { return nil }
            let since = manager["IdleSinceHintMonotonic"]?.integerValue ?? .max
            let isOfWake = since <= (resumed + Self.awakening).nanoseconds / 1000
            return isOfWake ? nil : "somebody uses it"
        }
    }

    /// A program keeps the machine from sleeping, or from being idle.
    struct Inhibition: Equatable {
        let what: String
        let who: String
        let isOurs: Bool

        /// Nil: of something else, or one that only delays.
        init?(_ row: Value) {
            guard let fields = row.listValue, fields.count == 6,
                let kinds = fields[0].stringValue?.split(separator: ":"),
                let what = kinds.first(where: { $0 == "sleep" || $0 == "idle" }),
                fields[3].stringValue?.hasPrefix("block") == true
            else { return nil }
            self.what = String(what)
            who = fields[1].stringValue ?? "a program"
            isOurs = fields[5].integerValue == Int64(CurrentProcess.pid)
        }
    }
}

extension BusError {
    fileprivate var cause: Check.Helper.Cause {
        switch reason {
        case .refused(Wake1.notPermitted): .refused
        case .refused(Wake1.noPolkit): .noPolkit
        default: .other
        }
    }
}
