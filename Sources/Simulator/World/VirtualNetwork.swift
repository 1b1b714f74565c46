import DeviceCore
import ExchangeCore
import Vocabulary

/// The network process of the device, the servers that it talks to, and the files that it writes.
/// It draws from numbers of its own, so that the rest of a seed stays as it is.
struct VirtualNetwork {
    var random: SeededRandom
    /// For files that are complete.
    var placing: SeededRandom
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
    /// By which apps have been told that they may go on with what has come.
    var resumeTokens: [String] = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed ^ 0x4E45_5457_4F52_4B00)
        placing = SeededRandom(seed: seed ^ 0x504C_4143_4500)
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

    func runs(_ id: TransferID) -> Bool {
        exchangeIndex(id) != nil || uploads.exchangeIndex(id) != nil
    }

    func exchangeIndex(_ id: TransferID) -> Int? { exchanges.firstIndex { $0.id == id } }
    func fileIndex(_ name: String, in directory: String) -> Int? {
        files.firstIndex { $0.name == name && $0.directory == directory }
    }

    /// Where the bytes of a transfer are, moved or not; nil: there are none.
    func partIndex(_ file: TransferFile) -> Int? {
        let found = ([file.directory] + file.formers.reversed())
            .compactMap { fileIndex(file.partialName, in: $0) }
        return found.first { files[$0].inode == file.inode } ?? found.first
    }

    /// What is there under a name, or a new one.
    mutating func open(_ name: String, in directory: String) -> Int {
        if let index = fileIndex(name, in: directory) { return index }
        lastInode += 1
        files.append(VirtualFile(name: name, inode: lastInode, directory: directory))
        return files.count - 1
    }

    /// What was fetched before a transfer was moved follows it, if that is on the same disk.
    mutating func bring(_ file: TransferFile) {
        guard !file.formers.isEmpty else { return }
        for place in [file.directory] + file.formers.reversed() {
            guard let index = fileIndex(file.partialName, in: place) else { continue }
            let isPart = files[index].inode == file.inode ?? files[index].inode
            let isFree = fileIndex(file.partialName, in: file.directory) == nil
            if place == file.directory, isPart { continue }
            guard isPart, isFree, Self.isSameDisk(place, file.directory) else {
                files.remove(at: index)
                continue
            }
            files[index].directory = file.directory
        }
    }

    mutating func discard(_ file: TransferFile) {
        files.removeAll {
            $0.name == file.partialName
                && ($0.directory == file.directory || file.formers.contains($0.directory))
        }
    }

    private static func isSameDisk(_ one: String, _ other: String) -> Bool {
        one.hasPrefix("/home") == other.hasPrefix("/home")
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

    /// What its server says only with all of a version.
    static func time(of version: Int) -> String { "the time of \(version)" }

    mutating func change(to size: Int64) { sizes.append(size) }
}

/// A file as runs of bytes of one version each. What was never written is of none (`hole`).
package struct VirtualFile {
    struct Run: Equatable {
        var count: Int64
        let version: Int
    }

    static let hole = -1

    var name: String
    let inode: UInt64
    /// Where it is survives a loss of power: what is committed later is written later.
    var directory: String
    private(set) var runs: [Run] = []
    private var durable: [Run] = []

    init(name: String, inode: UInt64, directory: String = "") {
        (self.name, self.inode, self.directory) = (name, inode, directory)
    }

    var size: Int64 { runs.reduce(0) { $0 + $1.count } }
    /// Of all its bytes; nil: of several versions, or none.
    var version: Int? {
        let first = runs.first?.version
        return runs.allSatisfy { $0.version == first } ? first : nil
    }

    /// Those of the bytes that are said to be there, each once.
    func versions(in filled: FilledBytes) -> [Int] {
        var found: [Int] = []
        for range in [0..<filled.prefix] + filled.ranges {
            for run in Self.part(of: runs, from: range.lowerBound, to: range.upperBound)
            where !found.contains(run.version) {
                found.append(run.version)
            }
        }
        return found
    }

    mutating func write(_ count: Int64, of version: Int, at offset: Int64) {
        let behind = Self.part(of: runs, from: offset + count, to: size)
        let gap = Run(count: max(0, offset - size), version: Self.hole)
        let before = Self.part(of: runs, from: 0, to: offset)
        runs = []
        for run in before + [gap, Run(count: count, version: version)] + behind
        where run.count > 0 {
            if runs.last?.version == run.version {
                runs[runs.count - 1].count += run.count
            } else {
                runs.append(run)
            }
        }
    }

    private static func part(of runs: [Run], from start: Int64, to end: Int64) -> [Run] {
        var (part, offset) = ([Run](), Int64(0))
        for run in runs {
            let count = min(end, offset + run.count) - max(start, offset)
            if count > 0 { part.append(Run(count: count, version: run.version)) }
            offset += run.count
        }
        return part
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
    let directory: String
    var exchange: Exchange
    /// Requests that are not over, each over a connection of its own.
    var requests: [VirtualRequest] = []
    var durable: FilledBytes
    /// What the daemon has been told.
    var ranges: [Range<Int64>]
    var isResumable: Bool
    /// Its next step is.
    var isPlanned = false

    init(id: TransferID, file: String, directory: String, order: ExchangeOrder) {
        (self.id, self.file, self.directory) = (id, file, directory)
        exchange = Exchange(order, digits: { _, text in text })
        durable = order.resume?.filled ?? FilledBytes(prefix: 0)
        (ranges, isResumable) = (durable.ranges, order.resume != nil)
    }

    mutating func forgetDurable() { (durable, ranges) = (FilledBytes(prefix: 0), []) }
}

struct VirtualRequest {
    let connection: Int
    let fields: [HTTPField]
    /// Bytes of a version up to where the answer ends; nil: it has not been answered.
    var answer: (version: Int, left: Int64)?
}
