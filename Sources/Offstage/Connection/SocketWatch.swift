internal import ClientCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// Tells when a daemon may be there again: when something was made where its socket is. Between
/// such events nothing runs, so that an app without a daemon sleeps.
final class SocketWatch {
    private let loop: EventLoop
    private let socket: String
    private let look: () -> Void
    private var directory: PathSource?
    private var parent: PathSource?
    private var timer: TimerSource?
    /// The next tries after the last event, the soonest first.
    private var pauses: ArraySlice<Interval> = []
    private var lastFailure: (error: CallError, until: BootTime)?

    /// A socket is bound before it listens, and a daemon may take a while to read its store.
    private static let afterEvent: [Interval] = [
        .milliseconds(10), .milliseconds(50), .milliseconds(200), .milliseconds(500), .seconds(1),
        .seconds(3), .seconds(10),
    ]
    /// Somebody listens and says nothing: it may yet.
    private static let whileSilent = Interval.seconds(30)

    init(_ loop: EventLoop, _ socket: String, look: @escaping () -> Void) {
        self.loop = loop
        self.socket = socket
        self.look = look
        timer = try? TimerSource(loop) { [unowned self] in self.look() }
    }

    /// The daemon is gone: looks now, and whenever it may have come.
    func lookFromNowOn() {
        pauses = Self.afterEvent[...]
        lastFailure = nil
        watch()
        look()
    }

    func succeeded() {
        pauses = []
        lastFailure = nil
        directory = nil
        parent = nil
        try? timer?.arm(at: nil)
    }

    /// `isThere`: somebody listens.
    func failed(_ error: CallError, isThere: Bool) {
        watch()
        let now = Clocks.boot()
        if isThere {
            // What it cost to learn that is not spent again for each call.
            lastFailure = (error, now + .seconds(1))
            try? timer?.arm(at: now + Self.whileSilent)
        } else if let pause = pauses.popFirst() {
            try? timer?.arm(at: now + pause)
        }
    }

    /// Why a try of just now failed, if it took its time.
    var recentFailure: CallError? {
        guard let lastFailure, Clocks.boot() < lastFailure.until else { return nil }
        return lastFailure.error
    }

    /// Before the look that follows, so that nothing is missed in between.
    private func watch() {
        let own = Files.directory(of: socket)
        if directory == nil {
            directory = try? PathSource(
                loop,
                own,
                [.created, .movedTo, .selfRemoved, .selfMoved, .onlyDirectory]
            ) { [unowned self] in happened($0, in: .own) }
        }
        // The directory goes with a daemon that systemd stops, and comes with the next one.
        if parent == nil {
            parent = try? PathSource(
                loop,
                Files.directory(of: own),
                [.created, .movedTo, .onlyDirectory]
            ) { [unowned self] in happened($0, in: .parent) }
        }
    }

    private enum Watched { case own, parent }

    private func happened(_ event: Inotify.Event, in watched: Watched) {
        let name: String
        switch watched {
        case .own: name = Self.name(of: socket)
        case .parent: name = Self.name(of: Files.directory(of: socket))
        }
        let isGone = !event.mask.isDisjoint(with: [.selfRemoved, .selfMoved, .ignored])
        if watched == .own, isGone {
            directory = nil
            watch()
            return
        }
        guard event.name == name else { return }
        if watched == .parent { directory = nil }
        lookFromNowOn()
    }

    private static func name(of path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }
}
