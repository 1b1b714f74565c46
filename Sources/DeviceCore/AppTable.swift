package import Vocabulary

/// The apps, by a dense index that never changes while an app is known. Kept in pages, so that a
/// copy of the device (which the driver keeps, for a commit that fails) shares all but what the
/// turn changes.
package struct AppTable: Hashable, Sendable {
    private static let pageSize = 16
    private var pages: [[AppState]] = []
    /// What fills a slot that is not in use: the empty id, which no app has.
    private static let vacant = AppState(id: AppID(""))
    private var indices: [AppID: Int] = [:]
    private var free: [Int] = []
    /// By index. Apart from the apps, so that those that an event concerns are found without
    /// looking at all.
    private var waits = SummaryTree<AppWait>()
    package private(set) var count = 0

    package init() {}

    /// One past the highest index in use.
    package var endIndex: Int { pages.count * Self.pageSize }

    package func index(of id: AppID) -> Int? { indices[id] }

    package func isUsed(_ index: Int) -> Bool { !self[index].id.name.isEmpty }

    package subscript(_ index: Int) -> AppState {
        get { pages[index / Self.pageSize][index % Self.pageSize] }
        _modify { yield &pages[index / Self.pageSize][index % Self.pageSize] }
    }

    package func at(_ index: Int) -> AppState? { isUsed(index) ? self[index] : nil }

    mutating func insert(_ app: AppState) -> Int {
        let index: Int
        if let reused = free.popLast() {
            index = reused
        } else {
            index = endIndex
            pages.append(Array(repeating: Self.vacant, count: Self.pageSize))
            waits.makeRoom(for: endIndex)
            free = (index + 1..<endIndex).reversed()
        }
        pages[index / Self.pageSize][index % Self.pageSize] = app
        indices[app.id] = index
        count += 1
        return index
    }

    mutating func remove(at index: Int) {
        indices[self[index].id] = nil
        pages[index / Self.pageSize][index % Self.pageSize] = Self.vacant
        waits[index] = .none
        free.append(index)
        count -= 1
    }

    /// Of all apps.
    var wait: AppWait { waits.summary }

    func wait(of index: Int) -> AppWait { waits[index] }

    mutating func set(_ wait: AppWait, of index: Int) { waits[index] = wait }

    mutating func startsAt(_ time: BootTime, _ index: Int) { waits[index].start = time }

    /// Some of its work was held by these gates when its turn came.
    mutating func waits(for holds: GateHolds, _ index: Int) {
        waits[index].merge(AppWait(start: holds.next, heldBy: holds.gates))
    }

    /// Whose work may start next by time alone; nil: nobody's.
    var nextStart: (index: Int, time: BootTime)? {
        let time = wait.start
        guard time != .distantFuture else { return nil }
        return waits.first { $0.start == time }.map { ($0, time) }
    }

    /// Those whose work starts by time alone.
    var dated: [Int] { waits.indices { $0.start != .distantFuture } }

    /// Those whose time has come.
    func due(at now: BootTime) -> [Int] { waits.indices { $0.start <= now || $0.look <= now } }

    /// Those of which one of these gates held some work at the last look.
    func held(by gates: GateSet) -> [Int] { waits.indices { $0.heldBy.overlaps(gates) } }
}

/// What an app waits for, as of the last look at it; of several apps, what any of them waits for.
struct AppWait: Summary, Codable {
    /// When waiting work may start by time alone.
    var start = BootTime.distantFuture
    /// When anything else about it can change by itself.
    var look = BootTime.distantFuture
    /// The gates that hold any of its requests.
    var heldBy = GateSet()
    /// Nothing but the use of the device holds some of its work.
    var waitsForIdle = false

    static let none = AppWait()

    mutating func merge(_ other: AppWait) {
        start = min(start, other.start)
        look = min(look, other.look)
        heldBy.formUnion(other.heldBy)
        waitsForIdle = waitsForIdle || other.waitsForIdle
    }
}

extension AppTable: Codable {
    /// As a list, so that the form does not depend on the order of a dictionary.
    private struct Form: Codable {
        var endIndex: Int
        var free: [Int]
        var apps: [Slot]

        struct Slot: Codable {
            var index: Int
            var wait: AppWait
            var app: AppState
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let used = (0..<endIndex).filter { isUsed($0) }
        try Form(
            endIndex: endIndex,
            free: free,
            apps: used.map { Form.Slot(index: $0, wait: waits[$0], app: self[$0]) }
        ).encode(to: encoder)
    }

    package init(from decoder: any Decoder) throws {
        let form = try Form(from: decoder)
        self.init()
        let size = Self.pageSize
        guard form.endIndex >= 0, form.endIndex % size == 0, form.endIndex <= 1 << 20,
            form.free.allSatisfy({ (0..<form.endIndex).contains($0) }),
            form.apps.allSatisfy({ (0..<form.endIndex).contains($0.index) })
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a table of apps")
            )
        }
        pages = Array(
            repeating: Array(repeating: Self.vacant, count: size),
            count: form.endIndex / size
        )
        waits.makeRoom(for: form.endIndex)
        free = form.free
        for slot in form.apps {
            pages[slot.index / size][slot.index % size] = slot.app
            waits[slot.index] = slot.wait
            indices[slot.app.id] = slot.index
            count += 1
        }
    }
}
