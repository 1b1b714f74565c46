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
    /// By index. Apart from the apps, so that finding the earliest reads one short array.
    private var dates: [Dates] = []
    package private(set) var count = 0

    /// The next instants at which an answer about an app can change by itself.
    struct Dates: Hashable, Sendable, Codable {
        /// Waiting work may start.
        var start = BootTime.distantFuture
        /// Anything else.
        var look = BootTime.distantFuture
        /// Nothing but the use of the device holds some of its work.
        var waitsForIdle = false
    }

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
            dates.append(contentsOf: Array(repeating: Dates(), count: Self.pageSize))
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
        dates[index] = Dates()
        free.append(index)
        count -= 1
    }

    /// The earliest of each.
    var earliest: Dates {
        var earliest = Dates()
        let span = dates.span
        for index in span.indices {
            earliest.start = min(earliest.start, span[index].start)
            earliest.look = min(earliest.look, span[index].look)
            earliest.waitsForIdle = earliest.waitsForIdle || span[index].waitsForIdle
        }
        return earliest
    }

    /// Whose work may start next by time alone; nil: nobody's.
    var nextStart: (index: Int, time: BootTime)? {
        var next: (index: Int, time: BootTime)?
        let span = dates.span
        for index in span.indices
        where span[index].start < next?.time ?? .distantFuture {
            next = (index, span[index].start)
        }
        return next
    }

    func start(of index: Int) -> BootTime { dates[index].start }

    /// Those whose work starts by time alone.
    var dated: [Int] { dates.indices.filter { dates[$0].start != .distantFuture } }

    mutating func set(_ dates: Dates, of index: Int) { self.dates[index] = dates }

    mutating func startsAt(_ time: BootTime, _ index: Int) { dates[index].start = time }

    mutating func startsNotAfter(_ time: BootTime, _ index: Int) {
        dates[index].start = min(dates[index].start, time)
    }

    /// Those whose time has come.
    func due(at now: BootTime) -> [Int] {
        dates.indices.filter { dates[$0].start <= now || dates[$0].look <= now }
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
            var dates: Dates
            var app: AppState
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let used = (0..<endIndex).filter { isUsed($0) }
        try Form(
            endIndex: endIndex,
            free: free,
            apps: used.map { Form.Slot(index: $0, dates: dates[$0], app: self[$0]) }
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
        dates = Array(repeating: Dates(), count: form.endIndex)
        free = form.free
        for slot in form.apps {
            pages[slot.index / size][slot.index % size] = slot.app
            dates[slot.index] = slot.dates
            indices[slot.app.id] = slot.index
            count += 1
        }
    }
}
