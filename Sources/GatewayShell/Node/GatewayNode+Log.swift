package import GatewayCore

extension GatewayNode {
    /// What became of a push, as far as it is on the disk: everything older than a second is.
    package func log(of push: PushNumber) throws(StorageError) -> LogRow? {
        try storage.log(of: push)
    }
}
