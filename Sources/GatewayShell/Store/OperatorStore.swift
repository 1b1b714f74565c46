package import GatewayCore
package import Vocabulary

/// What the operator's commands read of a store, beside the gateway and over a connection of their
/// own: they work while none runs, and a listing that reads the whole log keeps no push waiting.
/// Whatever keeps a gateway's store serves it; the embedded one by `StoreReader`.
package protocol OperatorStore {
    /// All apps, in the order of their numbers.
    func apps() throws(StorageError) -> [(AppNumber, String)]
    /// Devices behind `after`, in the order of their numbers.
    func devices(after: UInt64, limit: Int) throws(StorageError) -> [ListedDevice]
    func log(of number: PushNumber) throws(StorageError) -> LogRow?
    /// The newest that fit, newest first.
    func log(matching filter: LogFilter, limit: Int) throws(StorageError) -> [LogRow]
}

extension StoreReader: OperatorStore {}

/// What a device is known by, since when, how many apps it has and how much is kept for it.
package struct ListedDevice: Sendable {
    package var id: DeviceID
    package var key: [UInt8]
    package var since: WallTime
    package var seen: WallTime
    package var apps: Int
    package var stored: Int
}
