import EventLoop
import GatewayCore
import Linux
package import Vocabulary

/// Connections that have not shown who sends. What they are ready for waits here, and all of them
/// together have a share of each turn of the loop, in the order in which they came: however many
/// they are, and whatever they send, others wait no longer than for that share.
package final class GuestQueue {
    /// Of a turn, at least; of a long one a tenth. One of them may go on in any case.
    package var time = Interval.milliseconds(1) / 2
    /// How long one is read from, beyond its last piece, before the next has its turn.
    static let slice = Interval.milliseconds(1) / 10
    private let loop: EventLoop
    /// By number: one that is closed meanwhile is gone at once. Those from good addresses and
    /// strangers are served in turn, however many the others are.
    private var good = Waiting()
    private var strangers = Waiting()
    private var isGoodNext = true
    /// Who knocks waits as a guest does, under this number: no more are accepted than are served.
    private static let door: UInt64 = 0
    private(set) var isDoorQueued = false
    /// That of this turn, used or not.
    private var share: DeferredSource?
    private var lastShare = Clocks.boot()
    unowned var server: ProviderServer?

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

    var count: Int { good.count + strangers.count }

    func add(_ connection: ProviderConnection, isGood: Bool) {
        if isGood {
            good.append(connection.number)
        } else {
            strangers.append(connection.number)
        }
        listShare()
    }

    /// Somebody wants to be accepted.
    func addDoor() {
        guard !isDoorQueued else { return }
        isDoorQueued = true
        good.append(Self.door)
        listShare()
    }

    private func next() -> UInt64? {
        isGoodNext.toggle()
        return isGoodNext
            ? strangers.popFirst() ?? good.popFirst() : good.popFirst() ?? strangers.popFirst()
    }

    private func listShare() {
        guard count > 0, share == nil else { return }
        share = try? DeferredSource(loop) { [unowned self] in serve() }
    }

    private func serve() {
        let start = Clocks.boot()
        let end = start + max(time, time == .zero ? .zero : (start - lastShare) / 10)
        repeat {
            guard let number = next() else { break }
            if number == Self.door {
                isDoorQueued = false
                server?.accept()
            } else {
                server?.connections[number]?.takeTurn()
            }
        } while Clocks.boot() < end
        lastShare = Clocks.boot()
    }

    /// To be called after each turn of the loop: the rest goes on in the next.
    func endTurn() {
        share = nil
        if count == 0 { lastShare = Clocks.boot() }
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
