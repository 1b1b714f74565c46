import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// The real network process, with a test in the place of the daemon.
final class NetworkPeer {
    let process: PidFD
    private var socket: PacketSocket?
    /// What has been told and not been asked for.
    private var waiting: [NetworkReport] = []
    private var last = TransferID(0)
    /// As a daemon does that has room for it.
    var storesProgress = true
    /// What its sandbox has not.
    private(set) var lacks: [SandboxPart] = []

    /// `without`: a part of the sandbox that the kernel refuses. `etc`: a directory in the place of
    /// `/etc`, which takes root.
    init(
        environment: [String] = [],
        greets: Bool = true,
        without: String? = nil,
        etc: String? = nil,
        as user: User? = nil
    )
        throws
    {
        var pair = try PacketPair()
        guard let mine = pair.one.take(), let other = pair.other.take() else {
            throw DidNotHappen(description: "a pair of sockets")
        }
        let path = Products.path(of: "offstage-net")
        var words = [path]
        if let without {
            words = [Products.path(of: "SandboxPeer"), "--without", without, "run", path]
        }
        if let etc {
            let mount = "mount --bind \(etc) /etc && exec \"$@\""
            words = ["/usr/bin/unshare", "--mount", "sh", "-c", mount, "sh"] + words
        }
        var program = Program(
            words[0],
            arguments: words,
            environment: ["OFFSTAGE_NET=1", "PATH=/usr/bin:/bin"] + environment
        )
        program.passed = [other.number]
        program.error = 2
        program.user = user.map { ($0.user, $0.group) }
        process = try program.start()
        socket = PacketSocket(mine, limit: NetworkFormat.messageBytes)
        guard greets else { return }
        try send(.hello(version: NetworkFormat.version))
        guard case .hello(NetworkFormat.version, let lacks) = try next() else {
            throw DidNotHappen(description: "an answer to hello")
        }
        self.lacks = lacks
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    // MARK: Orders

    func send(_ order: NetworkOrder, with file: Int32? = nil) throws {
        try send(order.bytes(), with: file)
    }

    func send(_ bytes: [UInt8], with file: Int32? = nil) throws {
        let isSent = try socket?.send(bytes, with: file) ?? false
        #expect(isSent)
    }

    /// Begins an exchange that writes to the file at `path`, which stays as it is.
    func begin(_ order: ExchangeOrder, to path: String) throws -> TransferID {
        last = TransferID(last.number + 1)
        let file = try FileDescriptor(opening: path, [.both, .create])
        try send(.begin(last, order), with: file.number)
        return last
    }

    /// Nothing more is said or heard.
    func close() { socket = nil }

    /// Nothing more is said.
    func endOrders() { socket?.endSending() }

    // MARK: Reports

    func next() throws -> NetworkReport {
        if !waiting.isEmpty { return waiting.removeFirst() }
        return try receive()
    }

    private func receive() throws -> NetworkReport {
        while true {
            try Wait.until(readable: socket?.descriptor.number ?? -1, "a report")
            guard let received = try socket?.receive() else {
                throw DidNotHappen(description: "a report: nobody listens")
            }
            switch received {
            case .message(let bytes, _):
                let report = try NetworkReport(bytes)
                if storesProgress, case .progress(let id, _, let durable) = report {
                    try send(.stored(id, durable: durable))
                }
                return report
            case .end: throw DidNotHappen(description: "a report: the process has ended")
            case .nothing: break
            }
        }
    }

    /// The first report that `pick` takes; others are kept for later.
    func first<Value>(_ pick: (NetworkReport) throws -> Value?) throws -> Value {
        for index in waiting.indices {
            guard let value = try pick(waiting[index]) else { continue }
            waiting.remove(at: index)
            return value
        }
        while true {
            let report = try receive()
            if let value = try pick(report) { return value }
            waiting.append(report)
        }
    }

    /// Whether one of those that were kept is such a report.
    func hasKept(_ isSuch: (NetworkReport) -> Bool) -> Bool { waiting.contains(where: isSuch) }

    func answer(_ id: TransferID) throws -> ExchangeAnswer {
        try first { if case .answered(id, let answer) = $0 { answer } else { nil } }
    }

    func waitUntilDurable(_ id: TransferID, _ bytes: Int64) throws -> Int64 {
        try first {
            guard case .progress(id, _, let durable) = $0, durable >= bytes else { return nil }
            return durable
        }
    }

    /// Its end; what is to begin anew does.
    func end(_ id: TransferID) throws -> (end: ExchangeEnd, durable: Int64) {
        try first {
            switch $0 {
            case .answered(id, let answer) where answer.startsAnew:
                try send(.proceed(id))
                return nil
            case .ended(id, let end, let durable): return (end, durable)
            default: return nil
            }
        }
    }

    /// How the process ends.
    func exit() throws -> ProcessExit? {
        try Wait.until(readable: process.descriptor.number, "end of the network process")
        return try process.wait(block: true)
    }
}

extension ExchangeEnd {
    var isComplete: Bool { if case .complete = self { true } else { false } }

    var failure: ExchangeFailure.Code? {
        if case .failed(let failure) = self { failure.code } else { nil }
    }

    var cause: Interruption.Cause? {
        if case .interrupted(let interruption) = self { interruption.cause } else { nil }
    }
}
