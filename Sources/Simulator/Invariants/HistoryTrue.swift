import DeviceCore
import Vocabulary

/// The history tells of each run what came of it: a command's end as the machine reported it, an
/// app's as the app said.
final class HistoryTrue: ProcessInvariant {
    let name = "the history tells what happened"
    private var exits: [LaunchID: Exit] = [:]
    private var completions: [LaunchID: [TaskResult]] = [:]

    func heard(_ event: Event) {
        switch event {
        case .process(let launch, .exited(let exit, _)): exits[launch] = exits[launch] ?? exit
        case .app(let launch, .completed(_, let result, _, _)):
            completions[launch, default: []].append(result)
        case .app(let launch, .reconnected(_, let finished, _, _)):
            completions[launch, default: []] += finished.map(\.result)
        case .process, .app, .started, .timer, .clockChanged, .sleep, .manifests, .settings,
            .condition, .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            break
        }
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        for line in turn.lines {
            guard case .wake(let report) = line.entry, !isTrue(report, world) else { continue }
            let ended = exits[report.launch].map { ", \($0)" } ?? ""
            let said = completions[report.launch].map { ", \($0)" } ?? ""
            return "launch \(report.launch): \(report.result.summary)\(ended)\(said)"
        }
        return nil
    }

    private func isTrue(_ report: WakeReport, _ world: World) -> Bool {
        let exit = exits[report.launch]
        let isCommand = world.watch.work.request(of: report.launch) != nil
        switch report.result {
        case .newData: return isCommand ? exit == .status(0) : said(.newData, report.launch)
        case .succeeded: return isCommand ? exit == .status(0) : said(.succeeded, report.launch)
        case .noData:
            guard case .status(let status) = exit else { return said(.noData, report.launch) }
            return status == 0 || status == 3
        case .failed:
            guard isCommand, case .status = exit else { return !isCommand }
            return true
        case .retry: return exit == .status(75)
        case .crashed(let signal): return exit == .signal(signal, outOfMemory: false)
        case .exited(let status): return exit == .status(status)
        case .interrupted: return isCommand
        case .notStarted: return !world.watch.hasRun(report.launch)
        case .unsuccessful, .expired, .terminated, .unknown: return true
        }
    }

    /// Each word counts for one line.
    private func said(_ result: TaskResult, _ launch: LaunchID) -> Bool {
        guard let index = completions[launch]?.firstIndex(of: result) else { return false }
        completions[launch]?.remove(at: index)
        return true
    }
}
