import DeviceCore
import ExchangeCore
import Vocabulary

/// The network process of the device, the servers that it talks to, and the files that it writes.
/// It draws from numbers of its own, so that the rest of a seed stays as it is.
struct VirtualNetwork {
    var random: SeededRandom
    /// What is fetched.
    var objects: [VirtualObject] = []
    var exchanges: [VirtualExchange] = []
    var files: [VirtualFile] = []
    /// Those that the user has been promised.
    var promised: [TransferID] = []
    var uploads: VirtualUploads
    private var lastInode: UInt64 = 0
    /// The last number that an app has given a task of its session.
    var lastTask: Int64 = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x4E45_5457_4F52_4B00)
        uploads = VirtualUploads(seed: seed)
        for host in 0..<3 {
            for file in 0..<4 {
                objects.append(
                    VirtualObject(
                        url: "https://h\(host).example/\(file)",
                        size: random.within(1...200_000_000)
                    )
                )
            }
        }
    }

    /// One that is on its way; nil: none is.
    var runningTransfer: TransferID? { exchanges.first?.id ?? uploads.exchanges.first?.id }

    func exchangeIndex(_ id: TransferID) -> Int? { exchanges.firstIndex { $0.id == id } }
    func fileIndex(_ name: String) -> Int? { files.firstIndex { $0.name == name } }

    /// What is there under a name, or a new one.
    mutating func open(_ name: String) -> Int {
        if let index = fileIndex(name) { return index }
        lastInode += 1
        files.append(VirtualFile(name: name, inode: lastInode))
        return files.count - 1
    }

    /// The daemon's end is that of its network process; what was written stays.
    mutating func daemonEnded() {
        exchanges.removeAll()
        uploads.exchanges.removeAll()
    }

    mutating func losePower() {
        for index in files.indices { files[index].losePower(keepsAll: random.chance(1, in: 2)) }
    }
}

/// What a server has under a URL, version by version.
struct VirtualObject {
    let url: String
    /// By version, the present one last.
    private(set) var sizes: [Int64]
    /// No strong validator comes with it.
    var isWeak = false

    init(url: String, size: Int64) { (self.url, sizes) = (url, [size]) }

    var version: Int { sizes.count - 1 }
    var size: Int64 { sizes[version] }
    var tag: String { isWeak ? "W/\"\(version)\"" : "\"\(version)\"" }

    mutating func change(to size: Int64) { sizes.append(size) }
}

/// A file as runs of bytes of one version each.
package struct VirtualFile {
    struct Run: Equatable {
        var count: Int64
        let version: Int
    }

    var name: String
    let inode: UInt64
    private(set) var runs: [Run] = []
    private var durable: [Run] = []

    init(name: String, inode: UInt64) { (self.name, self.inode) = (name, inode) }

    var size: Int64 { runs.reduce(0) { $0 + $1.count } }
    /// Of all its bytes; nil: of several versions, or none.
    var version: Int? {
        let first = runs.first?.version
        return runs.allSatisfy { $0.version == first } ? first : nil
    }

    mutating func write(_ count: Int64, of version: Int, at offset: Int64) {
        truncate(to: offset)
        if runs.last?.version == version {
            runs[runs.count - 1].count += count
        } else {
            runs.append(Run(count: count, version: version))
        }
    }

    mutating func truncate(to size: Int64) {
        while let last = runs.last, self.size > size {
            let excess = self.size - size
            runs.removeLast()
            if last.count > excess {
                runs.append(Run(count: last.count - excess, version: last.version))
            }
        }
    }

    mutating func sync() { durable = runs }

    /// `keepsAll`: the kernel had written it back by itself.
    mutating func losePower(keepsAll: Bool) {
        if !keepsAll { runs = durable }
        durable = runs
    }
}

/// An exchange on its way.
struct VirtualExchange {
    let id: TransferID
    let file: String
    var exchange: Exchange
    var phase = Phase.asking
    /// Told last.
    var durable: Int64
    var isResumable: Bool

    enum Phase {
        case asking
        /// Bytes of a version up to where the answer ends.
        case receiving(version: Int, left: Int64)
        /// For the daemon, which must forget first.
        case waiting
    }
}
