import AppProtocol
import CommandTable
import Commands
import DeviceCore
import Vocabulary

/// A real device behind the command line, without a daemon around it: what it is asked it answers
/// from its reports, what it is told becomes an event.
final class CoreControl: Control {
    var device = Device()
    var now: Moment
    private(set) var calls: [(method: String, arguments: [Value])] = []
    private var history: [HistoryLine] = []
    /// The launch that was started last.
    private(set) var lastLaunch = LaunchID(0)

    init(at now: Moment) {
        self.now = now
        send(.started(Start(bootID: "boot", seed: 1)))
    }

    func send(_ event: Event) {
        var effects: [Effect] = []
        device.handle(event, at: now, into: &effects)
        for case .spawn(let launch, _) in effects { lastLaunch = launch }
        for case .save(let changes) in effects {
            for case .append(let line) in changes { history.append(line) }
        }
    }

    func pass(_ interval: Interval) {
        now.boot = now.boot + interval
        now.awake = now.awake + interval
        now.wall = now.wall + interval
        send(.timer)
    }

    func call(_ method: Interface.Method, _ arguments: [Value]) throws(Failure) -> Value {
        calls.append((method.name, arguments))
        let app = arguments.first?.stringValue ?? ""
        switch method.name {
        case "Status": return device.status(at: now)
        case "Apps": return .list(device.appList(at: now))
        case "Tasks":
            let known = app.isEmpty ? nil : AppID(app)
            guard let tasks = device.taskList(of: known, at: now) else {
                throw Failure(.notFound, "no app of that name: \(app)")
            }
            return .list(tasks)
        case "Explain":
            let task = arguments[1]["task"]?.stringValue
            return .list(device.explanationList(of: AppID(app), identifier: task, at: now))
        case "History": return .list(history.reversed().map(\.report))
        case "Settings": return .list(device.settings.report)
        case "Conditions": return .list(device.conditionsReport(at: now))
        default: return .null
        }
    }
}
