import DeviceCore
import Vocabulary

/// An app that asks gets to know what it has asked for and nobody has taken, and what it uses.
final class ToldOfItself: QuestionInvariant {
    let name = "an app is told what waits and what it uses"

    func told(_ requests: [PendingRequest], of app: AppID, _ work: AskedWork) -> String? {
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

    func told(_ limits: Limits, of process: VirtualProcess, _ usage: Usage?) -> String? {
        guard let usage else { return nil }
        let text = "launch \(process.launch)"
        if let memory = limits.memory, memory != usage.memory {
            return "\(text) is told that it uses \(memory) bytes, of \(usage.memory)"
        }
        if let cpu = limits.cpu, cpu != usage.cpu.seconds {
            return "\(text) is told that it used \(cpu) s, of \(usage.cpu.seconds)"
        }
        return nil
    }
}
