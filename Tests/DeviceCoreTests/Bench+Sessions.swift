@testable import DeviceCore
import Vocabulary

extension Bench {
    /// Of tasks that have ended, as the last event told the launch.
    func ends(_ launch: LaunchID) -> [SessionTaskEnd] {
        told(launch).compactMap {
            if case .taskEnded(_, _, let end) = $0 { end } else { nil }
        }
    }

    func progress(_ launch: LaunchID) -> [TaskProgress] {
        told(launch).compactMap {
            if case .taskProgress(_, let progress) = $0 { progress } else { nil }
        }
    }

    /// What tasks ask, as the last event told the launch.
    func questions(_ launch: LaunchID) -> [TaskQuestion] {
        told(launch).compactMap {
            if case .taskAsked(_, _, let question) = $0 { question } else { nil }
        }
    }

    /// What the last event began of a download; nil: it has not.
    func begun(_ id: TransferID) -> ExchangeOrder? {
        effects.compactMap {
            if case .transfer(id, .begin(let order, _)) = $0 { order } else { nil }
        }.first
    }

    func file(_ id: TransferID) -> TransferFile? {
        effects.compactMap {
            if case .transfer(id, .begin(_, let file)) = $0 { file } else { nil }
        }.first
    }

    /// Whether the server was asked to forget an upload.
    func isRemoved(_ id: TransferID) -> Bool {
        effects.contains { if case .transfer(id, .remove) = $0 { true } else { false } }
    }

    func offered(_ launch: LaunchID) -> [Offer] {
        told(launch).compactMap { if case .offer(_, let offer) = $0 { offer } else { nil } }
    }

    @discardableResult
    mutating func askSession(
        _ launch: LaunchID,
        _ request: SessionRequest,
        of session: String = "photos"
    ) -> Reply? {
        say(launch, .session(session, request, reply: nextReply()))
        return reply
    }

    var sessionTasks: [TransferID] {
        device.transfers.all().filter { $0.task != nil && !$0.isEnded }.map(\.id)
    }
}
