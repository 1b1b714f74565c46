import AppProtocol
import DeviceCore
import EventLoop
import Linux
import SystemBus
import TestKit
import Vocabulary

@testable import DeviceShell

/// The private socket with a real device behind it, on a thread of its own, until it is dropped.
final class BusThread: Sendable {
    let scratch = ScratchDirectory()
    let socket: String
    var address: String { "unix:path=\(socket)" }
    private let thread: ServingThread

    /// `owner`: whose app every peer is; nil: nobody's.
    /// `ownerRefusal`: why it cannot be known.
    /// `isStarting`: `reader` is being opened, and its process, which is this one, not known yet.
    init(
        limits: Server.Limits = Server.Limits(),
        owner: AppID? = nil,
        ownerRefusal: Refusal? = nil,
        isStarting: Bool = false
    ) throws {
        socket = scratch("bus")
        var listener = Optional(try UnixListener(socket))
        thread = try ServingThread { stopped in
            guard let listener = listener.take() else { return }
            let loop = try EventLoop()
            let host = CoreHost(isStarting: isStarting)
            let bus = try AppBus(loop, listener, host: host, limits: limits) {
                _ throws(Refusal) in
                if let ownerRefusal { throw ownerRefusal }
                return owner.map {
                    LaunchOwner(app: $0, launch: host.starting ?? LaunchID(1))
                }
            }
            host.announce = { bus.happened($0) }
            let stopping = try DescriptorSource(loop, stopped, .readable) { _ in loop.exit() }
            while try loop.runTurn() {}
            host.announce = { _ in }
            withExtendedLifetime((stopping, bus, host)) {}
        }
    }
}

/// A device with one app, `reader`, and nothing around it.
final class CoreHost: AppHost {
    private(set) var device = Device()
    private var tokens: UInt64 = 0
    var announce: (HistoryLine) -> Void = { _ in }

    /// Whose process is not known yet.
    private(set) var starting: LaunchID?
    private let isStarting: Bool

    init(isStarting: Bool = false) {
        self.isStarting = isStarting
        handle(.started(Start(bootID: "boot", seed: 1)))
        var manifest = AppManifest(id: AppID("reader"), name: "Reader", file: "/reader.desktop")
        manifest.modes = [.fetch, .processing]
        manifest.permittedTaskIdentifiers = ["own"]
        manifest.refreshCommand = ["true"]
        manifest.exec = ["true"]
        handle(.manifests([.present(manifest)]))
        if isStarting { ask(.open(AppID("reader"), attach: nil)) { _ in } }
    }

    func now() -> Moment { Clocks.now() }
    var ahead: Interval { .zero }
    var awakeAhead: Interval { .zero }
    func take(_ file: consuming FileDescriptor) -> HeldSource? { nil }
    func hold(_ source: HeldSource, for id: TransferID) {}
    func keepLogin(_ user: String, _ password: String) -> UInt64 { 1 }

    func advance(
        by span: Interval,
        asleep: Bool,
        patience: Interval,
        isWanted: @escaping () -> Bool,
        answer: @escaping (Result<Report.Advance, Refusal>) -> Void
    ) {
        answer(.failure(Refusal(.held, reason: "advanced by \(span), patience \(patience)")))
    }

    /// The answers of the event.
    @discardableResult
    private func handle(_ event: Event) -> [(ReplyToken, Reply)] {
        var effects: [Effect] = []
        device.handle(event, at: now(), into: &effects)
        var replies: [(ReplyToken, Reply)] = []
        for effect in effects {
            if case .attach(let id, let caller, _) = effect {
                replies += handle(.process(id, .started(caller)))
            }
            // Whoever opens it waits for this; nothing really runs.
            if case .spawn(let id, let spec) = effect, spec.weight == .foreground {
                guard !isStarting else {
                    starting = id
                    continue
                }
                replies += handle(.process(id, .started(ProcessID(pid: 1, startTime: 1))))
            }
            if case .announce(let line) = effect { announce(line) }
            if case .reply(let token, let reply) = effect { replies.append((token, reply)) }
        }
        return replies
    }

    func ask(_ request: UserRequest, answer: @escaping (Reply) -> Void) {
        tokens += 1
        for (_, reply) in handle(.user(request, reply: ReplyToken(tokens))) { answer(reply) }
    }

    func set(_ name: String, to value: String, app: AppID?, answer: @escaping (Reply) -> Void) {
        answer(.refused(Refusal(.held, reason: "\(name) of \(app?.name ?? "all") to \(value)")))
    }

    func takeEnvironment(of attached: LaunchID) -> [String] { ["OFFSTAGE_APP=reader"] }

    func reload(answer: @escaping (Reply) -> Void) { answer(.done) }

    func history(
        of app: AppID?,
        limit: Int,
        before: Int64?
    ) throws(Refusal) -> [Report.HistoryLine] {
        [
            Report.HistoryLine {
                ($0.app, $0.what) = (
                    app ?? AppID(""), Word(text: "limit \(limit), before \(before ?? 0)")
                )
            }
        ]
    }

    let newestLine: Int64 = 41

    func logs(of app: AppID, lines: Int) throws(Refusal) -> LogEnd {
        guard app.name == "reader" else { throw Refusal(.notFound, reason: "no app of that name") }
        return LogEnd(app: app.name, file: "/log", bytes: Array("\(lines) lines".utf8))
    }

    func say(_ launch: LaunchID, _ event: AppEvent) { handle(.app(launch, event)) }

    func say(
        _ launch: LaunchID,
        _ event: (ReplyToken) -> AppEvent,
        answer: @escaping (Reply) -> Void
    ) {
        tokens += 1
        let replies = handle(.app(launch, event(ReplyToken(tokens))))
        for (_, reply) in replies { answer(reply) }
    }

    func afterTurn(_ body: @escaping () -> Void) {
        defer { body() }
        guard let id = starting, let process = ProcessIdentity(of: CurrentProcess.pid) else {
            return
        }
        starting = nil
        handle(
            .process(id, .started(ProcessID(pid: process.pid, startTime: process.startTime)))
        )
    }

    func usage(of launch: LaunchID) -> Usage? { nil }
    func transferDirectory(of app: AppID) throws(LinuxError) -> String { "/nowhere" }
    func measure(_ launch: LaunchID) {}

    var invalidSettings: [Report.InvalidFile] { [] }
    func doctor() -> [Check] { [Check("test", ok: true, "good")] }
    func version() -> DaemonVersion {
        DaemonVersion("0.0.1", build: "b", pid: 1, state: "/state", socket: "/socket", seconds: 2)
    }
}
