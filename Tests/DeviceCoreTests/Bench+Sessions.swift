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
