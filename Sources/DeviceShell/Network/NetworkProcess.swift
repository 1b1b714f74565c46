internal import EventLoop
internal import Linux
internal import Vocabulary
internal import Wire

/// One `offstage-net`: its process, and the socket over which it is told what to fetch.
@safe
final class NetworkProcess {
    private let socket: PacketSocket
    private var source: DescriptorSource?
    private var process: ProcessSource?
    /// Orders that have not been handed over, each with its file.
    private var waiting: [(order: NetworkOrder, bytes: [UInt8], file: OpenFile?)] = []
    private var isBlocked = false
    private var isOver = false
    /// It has said that it begins nothing any more.
    private(set) var isRetired = false
    /// It is to hear that no order follows those that wait.
    private var isDone = false
    private let reported: (NetworkReport, NetworkProcess) -> Void
    /// It has ended, or said what no such program says: nothing more comes of it.
    private let ended: (NetworkProcess, String) -> Void
    /// It speaks as we do.
    private(set) var isGreeted = false

    /// An open file until it has been handed over.
    final class OpenFile {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    init(
        _ loop: EventLoop,
        _ path: String,
        in control: any ProcessControl,
        reported: @escaping (NetworkReport, NetworkProcess) -> Void,
        ended: @escaping (NetworkProcess, String) -> Void
    ) throws(LinuxError) {
        (self.reported, self.ended) = (reported, ended)
        var pair = try PacketPair()
        guard let mine = pair.one.take(), let other = pair.other.take() else {
            throw LinuxError("socketpair", "", .invalid)
        }
        socket = PacketSocket(mine, limit: NetworkFormat.messageBytes)
        var program = Program(path, arguments: [path], environment: Self.environment)
        program.passed = [other.number]
        program.error = 2
        control.hostNetwork(&program)
        let child = try program.start()
        source = try DescriptorSource(loop, socket.descriptor.number, .readable) {
            [unowned self] in
            if $0.contains(.writable) { isBlocked = false }
            $0 == .writable ? flush() : read(Self.mostBytes)
        }
        // It holds this object until the child has been reaped.
        process = try ProcessSource(loop, child: child) { [self] _ in
            read(Self.mostLeft)
            end("the network process has ended")
            process = nil
        }
    }

    /// Sends the first message. If that fails, `ended` is called before this returns.
    func greet() { try? send(.hello(version: NetworkFormat.version), with: nil) }

    /// Nothing more is ordered of it.
    func endOrders() {
        isDone = true
        if !isBlocked { flush() }
    }

    /// Orders that had not been handed over when it ended.
    private(set) var unsent: [NetworkOrder] = []

    /// What it needs of ours: proxies, and where certificates are.
    private static var environment: [String] {
        let names = [
            "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
            "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "LANG", "TZ",
        ]
        let taken = names.compactMap { name in
            CurrentProcess.environment(name).map { "\(name)=\($0)" }
        }
        return ["OFFSTAGE_NET=1", "PATH=/usr/bin:/bin"] + taken
    }

    /// Throws for an order that the link does not take: it goes nowhere, and others go on.
    func send(_ order: NetworkOrder, with file: OpenFile?) throws(NetworkError) {
        waiting.append((order, try order.bytes(), file))
        if !isBlocked { flush() }
    }

    private func flush() {
        guard !isOver else { return }
        do throws(LinuxError) {
            try sendWaiting()
            isBlocked = !waiting.isEmpty
            try source?.setEvents(isBlocked ? [.readable, .writable] : .readable)
            if isDone, !isBlocked { socket.endSending() }
        } catch {
            end("\(error)")
        }
    }

    /// As many as it has room for.
    private func sendWaiting() throws(LinuxError) {
        var sent = 0
        defer { waiting.removeFirst(sent) }
        while sent < waiting.count {
            let next = waiting[sent]
            guard try socket.send(next.bytes, with: next.file?.descriptor.number) else { return }
            sent += 1
        }
    }

    /// What is read at one go: who never stops talking keeps nobody waiting, and fills no memory.
    private static let mostBytes = 64 << 10
    /// Each message counts as so much.
    private static let leastBytes = 1 << 10
    /// More than the socket of a process that has ended holds.
    private static let mostLeft = 4 << 20

    private func read(_ most: Int) {
        var left = most
        do {
            while !isOver, left > 0 {
                switch try socket.receive() {
                case .nothing: return
                case .end: return end("the network process has ended")
                case .message(let bytes, _):
                    left -= max(bytes.count, Self.leastBytes)
                    take(try NetworkReport(bytes))
                }
            }
        } catch {
            end("\(error)")
        }
    }

    private func take(_ report: NetworkReport) {
        if case .hello(let version, _) = report {
            guard version == NetworkFormat.version else {
                return end("the network process speaks version \(version)")
            }
            isGreeted = true
        }
        if case .retires = report { isRetired = true }
        reported(report, self)
    }

    /// At once, and waits for it.
    func kill() {
        (isOver, waiting, source) = (true, [], nil)
        guard let process else { return }
        try? process.process.send(Signal.kill)
        _ = Poll.ready(process.process.descriptor.number, for: .readable, milliseconds: 1000)
    }

    private func end(_ reason: String) {
        guard !isOver else { return }
        unsent = waiting.map(\.order)
        // Files that were not handed over are closed: others may want them.
        (isOver, waiting, source) = (true, [], nil)
        try? process?.process.send(Signal.kill)
        ended(self, reason)
    }
}
