import EventLoop
package import GatewayCore
import Linux
import Vocabulary

/// Serves connections that have not shown who sends. Their events wait here until nothing else is
/// ready. They are served in small slices, in the order of `GuestLines`. So any other connection
/// waits for one slice at most. It does not matter how many guests there are, or what they send.
package final class GuestQueue {
    /// How long one is read from, beyond its last piece, before the next has its turn.
    static let slice = Interval.milliseconds(1) / 10
    /// Bytes of a piece. It is small because a short request may cost much: a signature must be
    /// verified.
    static let piece = 1024

    private let loop: EventLoop
    /// Numbers of connections, so that a closed one is freed at once, and of listeners.
    package var lines = GuestLines(at: Clocks.boot())
    /// The share of this turn, used or not.
    private var share: DeferredSource?
    /// Ends a rest.
    private var timer: TimerSource?
    unowned var server: ProviderServer?

    init(_ loop: EventLoop) { self.loop = loop }

    package var count: Int { lines.count }

    func add(_ connection: ProviderConnection, isGood: Bool) {
        lines.add(connection.number, turns: connection.turns, isGood: isGood)
        listShare()
    }

    /// A listener waits as a newcomer does: no more are accepted than are served.
    func addListener(_ number: UInt64) {
        lines.add(number, turns: 0, isGood: true)
        listShare()
    }

    private func listShare() {
        guard share == nil, count > 0 else { return }
        let now = Clocks.boot()
        guard let start = lines.nextShare(at: now) else { return }
        guard start <= now else { return rest(until: start) }
        share = try? DeferredSource(loop) { [unowned self] in serve() }
        if lines.yields(at: now) { try? share?.setPriority(Self.last) }
    }

    private func rest(until end: BootTime) {
        if timer == nil { timer = try? TimerSource(loop) {} }
        try? timer?.arm(at: end)
    }

    /// Of a source that runs when no other is ready.
    private static let last: Int64 = 1

    private func serve() {
        var now = Clocks.boot()
        let end = lines.beginShare(at: now)
        repeat {
            guard let number = lines.next(at: now) else { break }
            if let listener = server?.listener(number) {
                server?.accept(at: listener, until: end)
            } else {
                server?.connections[number]?.takeTurn()
            }
            now = Clocks.boot()
        } while now < end
        lines.endShare(at: now)
    }

    /// To be called after each turn of the loop: the rest goes on in the next.
    func endTurn() {
        share = nil
        listShare()
    }
}

extension ProviderConnection {
    /// For its turn among the guests. No event is told meanwhile.
    func wait(_ events: DescriptorSource.Events) {
        found.formUnion(events)
        guard !isQueued else { return }
        isQueued = true
        try? source?.setEnabled(false)
        server.guests.add(self, isGood: server.door.isGood(number))
    }

    /// Its turn has come.
    func takeTurn() {
        isQueued = false
        guard !isClosed else { return }
        turns += 1
        let (events, isLeft) = (found, hasMore)
        (found, hasMore) = ([], false)
        try? source?.setEnabled(true)
        if !events.isEmpty { act(events) }
        if isLeft { readMore() }
        // Answers are a part of its turn.
        flush()
    }

    /// It has more than it was given time for.
    func readAgain() {
        guard !isTrusted else { return server.readAgain(self) }
        hasMore = true
        wait([])
    }
}
