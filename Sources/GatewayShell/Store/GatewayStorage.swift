package import GatewayCore

/// Where a gateway keeps what must outlive it. One batch is written at a time; reading sees what
/// is written.
package protocol GatewayStorage: AnyObject {
    func device(withKey key: [UInt8]) throws(StorageError) -> DeviceID?
    func record(of device: DeviceID) throws(StorageError) -> StoredDevice
    func push(in slot: SlotKey) throws(StorageError) -> Push?
    func channels() throws(StorageError) -> [Channel]
    /// What became of a push; nil when it is unknown, or forgotten.
    func log(of push: PushNumber) throws(StorageError) -> LogRow?

    /// Writes a batch, and calls the handler given at the start when it is kept for good, or
    /// could not be: then none of it is.
    func write(_ batch: StoreBatch)
}

/// The store could not do it, in its own words.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
