import DeviceCore
import Vocabulary

/// What will happen in the virtual world, in order of time and, at one time, of being planned.
struct Agenda {
    struct Entry {
        var at: Interval
        var what: Occurrence
    }

    /// What is moved in the heap: few words, where what happens is large.
    private struct Place {
        var at: Interval
        var order: UInt64
        /// Of what happens.
        var slot: Int

        func isBefore(_ other: Place) -> Bool { (at, order) < (other.at, other.order) }
    }

    private var heap: [Place] = []
    private var slots: [Occurrence?] = []
    private var free: [Int] = []
    private var planned: UInt64 = 0

    var isEmpty: Bool { heap.isEmpty }
    var next: Interval? { heap.first?.at }

    mutating func add(_ what: Occurrence, at time: Interval) {
        planned += 1
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(what) } else { slots[slot] = what }
        heap.append(Place(at: time, order: planned, slot: slot))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> Entry? {
        guard let first = heap.first, let what = slots[first.slot].take() else { return nil }
        free.append(first.slot)
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { break }
            let right = left + 1
            let child =
                right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            parent = child
        }
        return Entry(at: first.at, what: what)
    }
}

/// One thing that happens. Numbers tell a plan that was overtaken from one that still holds.
enum Occurrence {
    /// What the device armed: it wakes the machine, or does not.
    case alarm(plan: Int)
    case timer(plan: Int)
    /// The next thing that a process does.
    case process(LaunchID, plan: Int)
    /// An event reaches the daemon, if it is still the same daemon.
    case message(Event, life: Int)
    /// A program's word reaches the daemon, on that of its connections.
    indirect case said(Said)
    /// The user's next step.
    indirect case user(UserStep)
    case drift
    case trouble(Fault)
    case troubleEnds(Fault)
    /// Something happens that is work of this trigger.
    case triggered(Trigger)
    /// The user wants files.
    case download
    /// The user wants files to be sent.
    case upload
    /// The next thing that happens in an exchange of this daemon's.
    case exchange(TransferID, life: Int)
    /// The daemon is started again.
    case restart
    /// The keeper thaws what nobody looks after.
    case keeper(life: Int)
    /// The keeper ends a launch whose time is over.
    case deadline(LaunchID, life: Int)
    /// The device falls asleep if nothing has kept it awake since.
    case doze(plan: Int)
    /// It has prepared for that.
    case sleep
    /// The network is back, which was down for a sleep.
    case networkReturns(life: Int)
    /// The load is read again.
    case load(plan: Int)
    /// The daemon tries the store again.
    case retry(life: Int)

    /// Whether the machine comes out of its sleep for this.
    var wakesDevice: Bool {
        switch self {
        case .alarm, .user: true
        case .timer, .process, .message, .said, .drift, .trouble, .troubleEnds, .triggered,
            .download, .upload,
            .exchange, .restart, .keeper, .deadline, .doze, .sleep, .networkReturns, .load, .retry:
            false
        }
    }
}

enum UserStep {
    case pickUp, act(left: Int), putDown, lock, idle
    case plugIn, unplug
    /// A program of the user's tries its call again.
    case again(Submission)
}
