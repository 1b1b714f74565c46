import EventLoop
import GatewayCore
import GatewayShell
import SQLite
import TestKit
import Vocabulary

/// A node in this process, with one device on a link, over a disk that a test can fill.
final class ScratchNode {
    // In front: it ends before the disk does, on which it still writes then.
    let node: GatewayNode
    let directory = ScratchDirectory()
    let disk = FaultyDisk()
    let links = ScratchGateway.Links()

    init(_ limits: GatewayLimits = GatewayLimits()) throws {
        node = try Self.node(directory, disk, limits)
        node.links = links
        node.identify([UInt8](repeating: 1, count: 32)) { [node = node] who in
            node.connected(who?.device ?? DeviceID(0), LinkID(1), DeviceCondition())
        }
        node.settle()
    }

    static func node(
        _ directory: ScratchDirectory,
        _ disk: FaultyDisk,
        _ limits: GatewayLimits
    ) throws -> GatewayNode {
        try GatewayNode(
            try EventLoop(),
            try SQLiteStorage(directory("gateway.db"), fileSystem: disk.name),
            limits,
            seal: try SyntheticTokens(key: [UInt8](repeating: 5, count: 32)),
            identity: 0
        )
    }

    func register(_ bundle: String) {
        node.register(bundle, renewing: false, over: LinkID(1))
        node.settle()
    }

    func unregister(_ bundle: String) {
        node.unregister(bundle, over: LinkID(1))
        node.settle()
    }

    /// What a gateway that starts now would know.
    func apps() throws -> [String] {
        try StoreReader(directory("gateway.db")).apps().map { "\($0.0.number) \($0.1)" }
    }
}
