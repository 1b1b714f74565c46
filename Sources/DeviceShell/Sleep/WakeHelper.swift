internal import AppProtocol
internal import Linux
internal import SystemBus
internal import Vocabulary

/// Wakes the machine, and sends it back to sleep, by `offstage-wake` on the system bus: an ordinary
/// user's daemon may do neither itself.
@safe
final class WakeHelper: ServiceBus.Client {
    private var bus: Bus?
    /// It has an alarm of ours.
    private var hasAlarm = false
    /// Whether the lid was closed when the machine went to sleep; nil: nobody knows.
    private var lidWasClosed: Bool?
    /// Why it last refused; nil: it did not, or was not asked.
    private(set) var problem: String?

    /// logind waits for so long with the sleep, and not longer for us.
    private static let patience = Interval.seconds(4)

    init(_ systemBus: ServiceBus) { systemBus.add(self) }

    func connected(_ bus: Bus) throws(BusError) { self.bus = bus }

    func disconnected() {
        // Alarms end with the connection.
        (bus, hasAlarm) = (nil, false)
    }

    /// Whether the message bus would start it. Asking it would do so.
    static func isInstalled() -> Bool {
        ["/usr/share", "/usr/local/share"].contains {
            Files.exists("\($0)/dbus-1/system-services/\(Wake1.busName).service")
        }
    }

    /// The machine is about to sleep, and to be woken at `time`; nil: not by us.
    func prepare(wakingAt time: BootTime?, _ done: @escaping () -> Void) {
        readManager { [self] manager in
            lidWasClosed = manager?["LidClosed"]?.boolValue
            setAlarm(at: time, done)
        }
    }

    private func setAlarm(at time: BootTime?, _ done: @escaping () -> Void) {
        guard time != nil || hasAlarm else { return done() }
        call(Wake1.setAlarm.name, [.integer((time?.nanoseconds ?? 0) / 1000)], "t") { [self] in
            hasAlarm = time != nil && problem == nil
            if let problem, time != nil {
                DaemonLog.write("the machine is not woken for work: \(problem)")
            }
            done()
        }
    }

    /// The core asks for this after the work that the machine was woken for, if it has seen no sign
    /// of the user. logind knows of the lid, and of what other programs inhibit.
    func sleepAgain() {
        readManager { [self] manager in
            guard let manager else { return }
            if let reason = Self.reason(toStayAwake: manager, lidWasClosed: lidWasClosed) {
                return DaemonLog.write("the machine stays awake after its work: \(reason)")
            }
            call(Wake1.sleepAgain.name, [], "") { [self] in
                if let problem {
                    DaemonLog.write("the machine stays awake after its work: \(problem)")
                }
            }
        }
    }

    /// Nil: there is none.
    static func reason(toStayAwake manager: ValueMap, lidWasClosed: Bool?) -> String? {
        if lidWasClosed == true, manager["LidClosed"]?.boolValue == false {
            return "its lid was opened"
        }
        let inhibited = (manager["BlockInhibited"]?.stringValue ?? "").split(separator: ":")
        return inhibited.first { $0 == "sleep" || $0 == "idle" }
            .map { "a program inhibits \($0)" }
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
        _ then: @escaping () -> Void
    ) {
        guard let bus else {
            problem = "no system bus"
            return then()
        }
        do throws(BusError) {
            try bus.call(
                Target(Wake1.busName, Wake1.path, Wake1.busName, method),
                arguments,
                signature: signature,
                timeout: Self.patience
            ) { [self] answer in
                switch answer {
                case .success: problem = nil
                case .failure(let error): problem = error.message
                }
                then()
            }
        } catch {
            problem = error.message
            then()
        }
    }
}
