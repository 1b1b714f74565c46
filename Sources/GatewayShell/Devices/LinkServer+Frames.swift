import GatewayCore
import Vocabulary
import Wire

/// What devices say, passed on.
extension LinkServer {
    func report(_ frame: DeviceFrame, of connection: DeviceConnection) {
        let link = connection.id
        switch frame {
        case .acknowledge(let sendings):
            for sending in sendings { owner.acknowledged(SendingID(sending), over: link) }
        case .decline(let sending): owner.refused(SendingID(sending), over: link)
        default:
            guard connection.frames.admit(at: Self.second(), atOnce: door.limits.frames) else {
                return end(connection, .init(.tooManyFrames), .tooManyFrames)
            }
            reportOther(frame, of: connection)
        }
    }

    private func reportOther(_ frame: DeviceFrame, of connection: DeviceConnection) {
        let link = connection.id
        switch frame {
        case .hello, .acknowledge, .decline: break
        case .register(let topic, let renewing):
            owner.register(topic, renewing: renewing, over: link)
        case .unregister(let topic): owner.unregister(topic, over: link)
        case .subscribe(let topic, let key): subscribe(topic, key, link)
        case .follow(let topic, let channel, let last): follow(topic, channel, last, link)
        case .unfollow(let channel):
            if let id = ChannelID(bytes: channel) { owner.unfollow(id, over: link) }
        case .keepAlive(let keepAlive):
            heard(from: connection, next: keepAlive.next)
            for budget in keepAlive.budgets {
                guard let app = UInt32(exactly: budget.app) else { continue }
                let left = Int(clamping: budget.left)
                owner.reported(silentLeft: left, of: AppNumber(app), over: link)
            }
            connection.owesKeepAlive = true
            mark(connection)
            owner.keptAlive(link, keepAlive.condition.map(DeviceCondition.init))
        case .condition(let condition):
            owner.changed(link, DeviceCondition(condition))
        case .opened(let app):
            guard let app = UInt32(exactly: app) else { return }
            owner.opened(AppNumber(app), over: link)
        case .end: close(connection)
        }
    }
}
