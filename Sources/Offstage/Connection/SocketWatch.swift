internal import ClientCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// Tells when a daemon may be there again: when something was made where its socket is, and when
/// `DaemonSearch` says so.
final class SocketWatch {
    private let loop: EventLoop
    private let socket: String
    private let look: () -> Void
    private var directory: PathSource?
    private var parent: PathSource?
    private var timer: TimerSource?
    private var search = DaemonSearch()

    init(_ loop: EventLoop, _ socket: String, look: @escaping () -> Void) {
        self.loop = loop
        self.socket = socket
        self.look = look
        timer = try? TimerSource(loop) { [unowned self] in self.look() }
    }

    /// The daemon is gone: looks now, and whenever it may have come.
    func lookFromNowOn() {
        search.sign()
        watch()
        look()
    }

    func succeeded() {
        search.succeeded()
        directory = nil
        parent = nil
        try? timer?.arm(at: nil)
    }

    /// `isThere`: somebody listens.
    func failed(_ error: CallError, isThere: Bool) {
        watch()
        let next = search.failed(error, isThere: isThere, at: Clocks.boot())
        if let next { try? timer?.arm(at: next) }
    }

    /// Why a try of just now failed, if it took its time.
    var recentFailure: CallError? { search.recentFailure(at: Clocks.boot()) }

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
