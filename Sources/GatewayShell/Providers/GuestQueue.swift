import EventLoop
import GatewayCore
import Linux
package import Vocabulary

/// Connections that have not shown who sends. Their events wait here. They are served while nothing
/// else is ready, one after the other in small slices, so that the other connections wait for one
/// slice at most, however many guests there are and whatever they send.
package final class GuestQueue {
    /// How long guests yield to everything else. After that they get one share of a turn.
    package var patience = Interval.milliseconds(5)
    /// The longest share. One guest is always served; what is left of a tenth of the time since the
    /// last share goes to the next ones.
    package var longestShare = Interval.milliseconds(1) / 2
    /// How long one is read from, beyond its last piece, before the next has its turn.
    static let slice = Interval.milliseconds(1) / 10
    /// Bytes of a piece. It is small because a short request may cost much: a signature must be
    /// verified.
    static let piece = 1024
    /// Turns of a connection in which it counts as a newcomer: an honest one has shown by then who
    /// sends, and so never waits for those that go on and on.
    static let firstTurns = 6

    private let loop: EventLoop
    /// Newcomers of good addresses and of unknown ones, then all others likewise. The lines are
    /// served by turns: none can keep another waiting.
    private var lines = [Waiting](repeating: Waiting(), count: 4)
    private var served = 0
    /// The share of this turn, used or not.
    private var share: DeferredSource?
    private var lastShare = Clocks.boot()
    /// Since when they have been waiting for a share.
    private var waitingSince: BootTime?
    unowned var server: ProviderServer?

    /// Numbers of connections, so that a closed one is freed at once, and of listeners.
    private struct Waiting {
        private var numbers: [UInt64] = []
        private var next = 0

        var count: Int { numbers.count - next }

        mutating func append(_ number: UInt64) { numbers.append(number) }

        mutating func popFirst() -> UInt64? {
            guard count > 0 else { return nil }
            defer {
                next += 1
                if count == 0 || next > 1024 {
                    numbers.removeFirst(next)
                    next = 0
                }
            }
            return numbers[next]
        }
    }

    init(_ loop: EventLoop) { self.loop = loop }

    package var count: Int { lines.reduce(0) { $0 + $1.count } }

    func add(_ connection: ProviderConnection, isGood: Bool) {
        let isNew = connection.turns < Self.firstTurns
        add(connection.number, to: (isNew ? 0 : 2) + (isGood ? 0 : 1))
    }

    private func add(_ number: UInt64, to line: Int) {
        lines[line].append(number)
        listShare()
    }

    /// A listener waits as a newcomer does: no more are accepted than are served.
    func addListener(_ number: UInt64) { add(number, to: 0) }

    private func next() -> UInt64? {
        for _ in lines.indices {
            served = (served + 1) % lines.count
            if let number = lines[served].popFirst() { return number }
        }
        return nil
    }

    private func listShare() {
        guard count > 0, share == nil else { return }
        share = try? DeferredSource(loop) { [unowned self] in serve() }
        let now = Clocks.boot()
        let since = waitingSince ?? now
        waitingSince = since
        if now - since < patience { try? share?.setPriority(Self.last) }
    }

    /// Of a source that runs when no other is ready.
    private static let last: Int64 = 1

    private func serve() {
        let start = Clocks.boot()
        let end = start + min(longestShare, (start - lastShare) / 10)
        waitingSince = nil
        repeat {
            guard let number = next() else { break }
            if let listener = server?.listener(number) {
                server?.accept(at: listener, until: end)
            } else {
                server?.connections[number]?.takeTurn()
            }
        } while Clocks.boot() < end
        lastShare = Clocks.boot()
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
        server.guests.add(self, isGood: server.gate.isGood(group))
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
