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
    private(set) var history: [HistoryLine] = []
    /// The answer that the device gave last.
    private(set) var answer: Reply?
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
        for case .reply(_, let reply) in effects { answer = reply }
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

    func send(_ encoded: EncodedCall) throws(Failure) -> [Value] {
        calls.append((encoded.method, encoded.arguments))
        guard let call = try? Control1.row(encoded.method)?.call(encoded.arguments) else {
            throw Failure(.failed, "not understood: \(encoded)")
        }
        guard let reply = try reply(to: call) else { return encoded.plainReply }
        do throws(ValueError) {
            return try reply.values
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// A line is numbered by its place.
    private func lines(_ call: Control1.History) -> [Reported<Report.HistoryLine>] {
        let end = call.before.map { Int($0) - 1 } ?? history.count
        let numbered = (0..<end).map { place in
            var line = history[place].report
            line.id = Int64(place + 1)
            return line
        }
        let told = numbered.filter { call.app == nil || $0.app.name == call.app }
        return told.reversed().prefix(Int(call.limit ?? 50)).map { Reported($0) }
    }

    private func explain(_ transfers: [Int64]) throws(Failure) -> [Reported<Report.Explanation>] {
        let ids = transfers.map { TransferID(UInt64(clamping: $0)) }
        do throws(Refusal) {
            return try device.explain(ids, at: now).report(at: now).map(Reported.init)
        } catch {
            throw Failure(.notFound, "\(error.reason): \(error.value)")
        }
    }

    /// Nil: the device knows nothing of it.
    private func reply(to call: Control1) throws(Failure) -> (any CallReply)? {
        switch call {
        case .status: return Reported(device.status(at: now))
        case .overview(let call):
            return Reported(device.status(at: now, rows: call.rows.map { Int($0) } ?? .max))
        case .apps: return device.appList(at: now).map(Reported.init)
        case .tasks(let call):
            let app = call.app.isEmpty ? nil : AppID(call.app)
            guard let tasks = device.taskList(of: app, at: now) else {
                throw Failure(.notFound, "no app of that name: \(call.app)")
            }
            return tasks.map(Reported.init)
        case .explain(let call):
            if let transfers = call.transfers { return try explain(transfers) }
            let found = device.explain(AppID(call.app), identifier: call.task, at: now)
            return found.report(at: now).map(Reported.init)
        case .history(let call): return lines(call)
        case .settings: return device.settings.report.map(Reported.init)
        case .conditions: return device.conditionsReport(at: now).map(Reported.init)
        case .transfers: return device.transferList(at: now).map(Reported.init)
        case .transferPage(let call):
            let ids = call.transfers ?? device.transferIDs.map { Int64(clamping: $0.number) }
            return ListedTransfers(ids) { ids in
                device.transferList(ids.map { TransferID(UInt64(clamping: $0)) }, at: now)
            }
        case .transferProgress(let call):
            return device.transferProgress(
                of: call.transfers?.map { TransferID(UInt64(clamping: $0)) },
                rows: Int(call.rows ?? 0),
                ended: Int(call.ended ?? 0),
                at: now
            )
        case .logs, .gates, .modes, .doctor, .version, .open, .leave, .close, .submit, .run,
            .cancel, .dismiss, .pause, .continue, .simulate, .advance, .set, .reload, .download,
            .upload, .changeTransfers, .moveTransfers:
            return nil
        }
    }
}

extension EncodedCall {
    /// A reply that says as little as it may.
    var plainReply: [Value] {
        switch method {
        case Control1.Status.name, Control1.Overview.name:
            (try? Reported(Report.Status()).values) ?? []
        case Control1.Open.name: [["launch": 1]]
        case Control1.Submit.name, Control1.Run.name:
            [["app": "command.a", "identifier": "a", "request": 1]]
        case Control1.Download.name, Control1.Upload.name: [["transfers": [1]]]
        case Control1.TransferPage.name: [["transfers": []]]
        case Control1.TransferProgress.name: (try? Report.TransferProgress().values) ?? []
        case Control1.Logs.name: [["app": "a", "file": "/nothing", "text": ""]]
        case _:
            Control1.row(method)?.method.outputSignature == "aa{sv}" ? [.list([])] : [[:]]
        }
    }
}
