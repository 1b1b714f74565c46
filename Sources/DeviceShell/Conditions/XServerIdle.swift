internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary
internal import X11

/// Whether anybody uses the machine, as the X server of the user's session reports it: some minutes
/// without input, and the next input after that. Needed for window managers that tell nobody.
///
/// Not Xwayland's, which sees only what is meant for windows of X.
@safe
final class XServerIdle {
    private typealias Opening = ThreadResult<Result<InputWatch, XError>>

    private let loop: EventLoop
    /// Time without input until the machine is idle.
    var patience: Interval {
        didSet { if patience != oldValue { reopen() } }
    }
    private let environment: () -> [String]
    private let report: (Reading) -> Void
    /// A server that hangs must not hold up the daemon: a thread waits for it.
    private var opening: Opening?
    /// It is opened with a patience that does not apply any more.
    private var isOutdated = false
    private var opened: DescriptorSource?
    private var watch: InputWatch?
    private var events: DescriptorSource?
    private var retry: TimerSource?
    private var wait = XServerIdle.firstWait
    private var triedAt: BootTime?
    private var said = Reading.silent
    /// Why the session's server does not tell; nil: it does, or there is none.
    private(set) var problem: Problem?

    private static let firstWait = Interval.seconds(1)
    /// It is not waited for longer than this with a timer; then only while the daemon is awake.
    private static let longestWait = Interval.minutes(1)
    /// Where servers listen.
    private static let sockets = "/tmp/.X11-unix"

    /// `environment`: the user's session's, as `NAME=value`.
    init(
        _ loop: EventLoop,
        patience: Interval = Settings().idlePatience,
        environment: @escaping () -> [String] = SessionEnvironment().entries,
        report: @escaping (Reading) -> Void
    ) {
        (self.loop, self.patience) = (loop, patience)
        (self.environment, self.report) = (environment, report)
        retry = try? TimerSource(loop) { [unowned self] in connect() }
    }

    /// The daemon is awake anyhow: there may be a server by now.
    func refresh() {
        if let triedAt, Clocks.boot() - triedAt < Self.longestWait { return }
        connect()
    }

    func connect() {
        guard watch == nil, opening == nil else { return }
        triedAt = Clocks.boot()
        problem = nil
        // Where none listens, nobody is asked for its name.
        guard Files.exists(Self.sockets), let display = Display(environment()) else {
            return lost()
        }
        let patience = patience
        do throws(LinuxError) {
            let opening = try Opening(named: "offstage-x") {
                Result { () throws(XError) in
                    try InputWatch(
                        display: display.name,
                        cookie: display.cookie(),
                        patience: patience
                    )
                }
            }
            opened = try DescriptorSource(loop, opening.descriptor, .readable) {
                [unowned self] _ in took()
            }
            self.opening = opening
        } catch {
            problem = Problem(text: "\(error)")
        }
    }

    /// Only when it is opened is the server told how long to wait for input.
    private func reopen() {
        isOutdated = opening != nil
        guard watch != nil else { return }
        (events, watch) = (nil, nil)
        connect()
    }

    private func took() {
        guard let result = opening?.found else { return }
        (opening, opened) = (nil, nil)
        if isOutdated {
            isOutdated = false
            return connect()
        }
        switch result {
        case .success(let watch): begin(watch)
        case .failure(let error):
            problem = Problem(error)
            lost()
        }
    }

    private func begin(_ watch: InputWatch) {
        do throws(LinuxError) {
            events = try DescriptorSource(loop, watch.descriptor, .readable) {
                [unowned self] _ in take()
            }
        } catch {
            problem = Problem(text: "\(error)")
            return lost()
        }
        self.watch = watch
        wait = Self.firstWait
        tell(.value(watch.wasIdle ? 1 : 0))
        // What came while it was opened.
        take()
    }

    private func take() {
        while let event = watch?.next() {
            switch event {
            case .idle: tell(.value(1))
            case .input: tell(.value(0))
            case .gone:
                (events, watch) = (nil, nil)
                lost()
            }
        }
    }

    /// There is none, or none any more. One that was there may come back.
    private func lost() {
        guard said != .silent else { return }
        tell(.lost)
        guard wait <= Self.longestWait else { return }
        try? retry?.arm(at: Clocks.boot() + wait)
        wait = wait * 2
    }

    private func tell(_ reading: Reading) {
        guard reading != said else { return }
        said = reading
        report(reading)
    }
}

extension XServerIdle {
    struct Problem: Equatable {
        let text: String
        var fix = ""

        init(text: String) { self.text = text }

        init(_ error: XError) {
            text = "\(error)"
            if error == .noLibrary { fix = "apt install libxcb-sync1" }
        }
    }

    /// An X server of this machine, as the environment of the user's session names it.
    struct Display: Equatable, Sendable {
        let name: String
        let number: Int
        /// The file with its cookie; nil: the usual one.
        let authority: String?

        /// Nil: the session has none. `environment`: as `NAME=value`.
        init?(_ environment: [String]) {
            func value(_ name: String) -> String? {
                environment.first { $0.hasPrefix(name + "=") }
                    .map { String($0.dropFirst(name.count + 1)) }
            }
            // Of another machine (`host:10`) the input is not this machine's.
            guard let name = value("DISPLAY"), name.hasPrefix(":"),
                let number = Int(name.dropFirst().prefix { $0 != "." }), number >= 0,
                (value("WAYLAND_DISPLAY") ?? "").isEmpty
            else { return nil }
            (self.name, self.number) = (name, number)
            authority = value("XAUTHORITY")
        }

        func cookie() -> [UInt8]? {
            guard let authority, let bytes = try? Files.read(authority, limit: 1 << 20) else {
                return nil
            }
            return XAuthority.cookie(for: number, in: bytes)
        }
    }
}
