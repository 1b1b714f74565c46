import AppProtocol
import DeviceCore
import Vocabulary

/// An app that asks is told which of its requests wait, what it has used, what its manifest and the
/// settings allow it, and until when.
final class ToldOfItself: QuestionInvariant {
    let name = "an app is told what waits and what it uses"

    func told(_ answer: AppReply, to process: VirtualProcess, _ world: World) -> String? {
        switch answer {
        case .pending(let answer):
            return wrong(answer.requests, of: process.appID, world.watch.work)
        case .limits(let limits):
            return wrong(limits, of: process, world)
                .map { "launch \(process.launch) is told \($0)" }
        case .nothing, .greeting, .task, .tasks, .conditions: return nil
        }
    }

    private func wrong(_ requests: [PendingRequest], of app: AppID, _ work: AskedWork) -> String? {
        let told = Set(requests.map(\.identifier))
        for number in work.pending[app] ?? [] {
            guard let asked = work.byNumber[number], asked.isOnce else { continue }
            if !told.contains(asked.identifier) {
                return "\(app) asked for \(asked.identifier), and is told that it did not"
            }
        }
        for request in requests {
            let isKnown =
                work.pending[app]?.contains {
                    work.byNumber[$0]?.identifier == request.identifier
                } == true
            if !isKnown, !work.mayHaveAsked(for: request.identifier, of: app) {
                return "\(app) is told of \(request.identifier), for which nobody asked"
            }
        }
        return nil
    }

    private func wrong(_ limits: Limits, of process: VirtualProcess, _ world: World) -> String? {
        guard !process.isDead else { return nil }
        let usage = process.usage(at: world.clock.elapsed)
        if limits.memory != usage.memory || limits.cpu != usage.cpu.seconds {
            return "that it used \(usage), which is wrong"
        }
        let isForeground = process.weight == .foreground
        let state: AppPresence =
            process.isFrozen ? .suspended : isForeground ? .foreground : .background
        if limits.state.known != state {
            return "that it is \(limits.state.text), and is \(state)"
        }
        guard state != .foreground else {
            let isLimited = limits.memoryLimit != nil || limits.cpuLimit != nil
            return isLimited || limits.deadline != nil ? "of limits in the foreground" : nil
        }
        let plan = world.plans[process.app]
        let memoryLimit = min(
            plan.isUsable ? plan.manifest.memoryLimit ?? .max : .max,
            world.settings.memoryLimit
        )
        if limits.memoryLimit != memoryLimit {
            return "that it may use \(limits.memoryLimit ?? -1) bytes, of \(memoryLimit)"
        }
        return wrongShare(limits, of: process, world) ?? wrongEnd(limits, of: process, world)
    }

    /// Processing that has asked for power may use all of the processor while it has it.
    private func wrongShare(
        _ limits: Limits,
        of process: VirtualProcess,
        _ world: World
    ) -> String? {
        guard let limit = limits.cpuLimit else {
            let isFree = isProcessing(process) && world.value(.power) == 1
            return isFree ? nil : "of no limit of the processor"
        }
        let settings = world.settings
        let isRight =
            limit == Double(settings.cpuLimit) / 100
            && limits.cpuWindow == settings.cpuWindow.seconds
        return isRight ? nil : "that it may use \(limit) of a processor"
    }

    private func wrongEnd(_ limits: Limits, of process: VirtualProcess, _ world: World) -> String? {
        guard let deadline = limits.deadline else { return "of no end" }
        let settings = world.settings
        var longest = max(settings.wakeGrant, settings.finishUp, settings.launchWatchdog)
        if isProcessing(process) {
            longest = max(longest, settings.processingGrant, settings.processingGrantCharging)
        }
        let left = deadline - Double(world.now.awake.nanoseconds) / 1e9
        return (0...longest.seconds).contains(left) ? nil : "that it has \(left) s"
    }

    private func isProcessing(_ process: VirtualProcess) -> Bool {
        process.talk.work.contains(where: \.isProcessing)
    }
}
