import GatewayCore
import Vocabulary

/// What the driver asks.
extension StoreReader {
    func answer(_ question: StoreQuestion) throws(StorageError) -> StoreAnswer {
        switch question {
        case .device(let key): .device(try device(withKey: key))
        case .record(let device): .record(try record(of: device))
        case .isKnown(let device): .isKnown(try knows(device))
        case .hasApp(let app, let bundle): .isKnown(try has(app, bundle))
        case .push(let slot): .push(try push(in: slot))
        case .channels: .channels(try channels())
        case .expired(let wall, let limit): .slots(try expired(by: wall, limit: limit))
        case .unseen(let cutoff, let limit):
            .devices(try devices(unseenSince: cutoff, limit: limit))
        case .unusedApps(let limit): .apps(try unusedApps(limit: limit))
        case .log(let push): .log(try log(of: push))
        }
    }

    /// What a gateway that starts must know.
    func gateway() throws(StorageError) -> StoredGateway {
        let largest = try largestNumbers()
        return StoredGateway(
            lastDevice: largest.device,
            lastApp: largest.app,
            lastPush: largest.push,
            lastRestored: try lastRestored().number,
            apps: try apps(),
            channels: try channels()
        )
    }
}
