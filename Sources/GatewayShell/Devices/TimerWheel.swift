/// Deadlines of many connections, kept by the slot of time in which they fall: putting one in costs
/// the same however many there are, and all of one slot are looked at together.
///
/// A deadline comes at or after its instant, by less than a slot. What is later than the wheel
/// reaches comes early: the owner looks at each and puts it in again.
package struct TimerWheel<Element> {
    private var slots: [[Element]]
    /// The first slot that has not passed, counted from the clock's zero.
    private var next: Int64
    /// Seconds.
    private let width: Int64
    package private(set) var count = 0

    /// `slots` of `width` seconds each; `now` in seconds.
    package init(slots: Int, width: Int64, now: Int64) {
        precondition(slots > 1 && width > 0, "TimerWheel: no slots")
        self.slots = Array(repeating: [], count: slots)
        self.width = width
        next = now / width
    }

    package mutating func insert(_ element: Element, at second: Int64) {
        // The slot in which it ends, hence never early.
        let wanted = (second + width - 1) / width
        let slot = min(max(wanted, next), next + Int64(slots.count) - 1)
        slots[index(slot)].append(element)
        count += 1
    }

    /// The second at which `take` has something to hand out; nil when nothing waits.
    package var alarm: Int64? {
        guard count > 0 else { return nil }
        for slot in next..<next + Int64(slots.count) where !slots[index(slot)].isEmpty {
            return slot * width
        }
        return nil
    }

    /// Takes out what has come by `now`, in seconds.
    package mutating func take(at now: Int64) -> [Element] {
        var taken: [Element] = []
        let last = min(now / width, next + Int64(slots.count) - 1)
        while next <= last {
            let index = index(next)
            if !slots[index].isEmpty {
                taken += slots[index]
                // The memory goes too: a storm is not kept for ever.
                slots[index] = []
            }
            next += 1
        }
        next = max(next, now / width)
        count -= taken.count
        return taken
    }

    private func index(_ slot: Int64) -> Int { Int(slot % Int64(slots.count)) }
}
