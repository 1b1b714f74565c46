import EventLoop
import Linux
package import Vocabulary

/// Connections that have not shown who sends. What they are ready for waits here, and all of them
/// together have a share of each turn of the loop, in the order in which they came: however many
/// they are, and whatever they send, others wait no longer than for that share.
package final class GuestQueue {
    /// Of a turn. One of them may go on in any case.
    package var time = Interval.milliseconds(1) / 2
    /// How long one is read from, beyond its last piece, before the next has its turn.
    static let slice = Interval.milliseconds(1) / 10

    private let loop: EventLoop
    private var waiting: [ProviderConnection] = []
    /// Those before it had their turn.
    private var next = 0
    /// That of this turn, used or not.
    private var share: DeferredSource?

    init(_ loop: EventLoop) { self.loop = loop }

    var isEmpty: Bool { next == waiting.count }

    func add(_ connection: ProviderConnection) {
        waiting.append(connection)
        listShare()
    }

    private func listShare() {
        guard !isEmpty, share == nil else { return }
        share = try? DeferredSource(loop) { [unowned self] in serve() }
    }

    private func serve() {
        let end = Clocks.boot() + time
        repeat {
            let connection = waiting[next]
            next += 1
            connection.takeTurn()
        } while !isEmpty && Clocks.boot() < end
        if isEmpty || next > 1024 {
            waiting.removeFirst(next)
            next = 0
        }
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
        server.guests.add(self)
    }

    /// Its turn has come.
    func takeTurn() {
        isQueued = false
        guard !isClosed else { return }
        let events = found
        found = []
        try? source?.setEnabled(true)
        if events.isEmpty { readMore() } else { act(events) }
        // Answers are a part of its turn.
        flush()
    }

    /// It has more than it was given time for.
    func readAgain() {
        if isTrusted { server.readAgain(self) } else { wait([]) }
    }
}
