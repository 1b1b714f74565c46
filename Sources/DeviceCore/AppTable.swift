package import Vocabulary

/// The apps, by a dense index that never changes while an app is known. Kept in pages, so that a
/// copy of the device (taken before each turn, for a commit that fails) shares all but what the
/// turn changes.
package struct AppTable: Hashable, Sendable {
    private static let pageSize = 16
    private var pages: [[AppState]] = []
    /// What fills a slot that is not in use: the empty id, which no app has.
    private static let vacant = AppState(id: AppID(""))
    private var indices: [AppID: Int] = [:]
    private var free: [Int] = []
    /// By index: the next instant at which an answer about the app can change by itself. Apart
    /// from the apps, so that finding the earliest reads one short array.
    private var wakes: [BootTime] = []
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
            wakes.append(
                contentsOf: Array(repeating: .distantFuture, count: Self.pageSize)
            )
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
        wakes[index] = .distantFuture
        free.append(index)
        count -= 1
    }

    var earliestWake: BootTime { wakes.min() ?? .distantFuture }

    func wake(_ index: Int) -> BootTime { wakes[index] }

    mutating func setWake(_ index: Int, to time: BootTime) { wakes[index] = time }

    /// Those whose time has come.
    func due(at now: BootTime) -> [Int] {
        guard earliestWake <= now else { return [] }
        return wakes.indices.filter { wakes[$0] <= now }
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
            var wake: BootTime
            var app: AppState
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let used = (0..<endIndex).filter { isUsed($0) }
        try Form(
            endIndex: endIndex,
            free: free,
            apps: used.map { Form.Slot(index: $0, wake: wakes[$0], app: self[$0]) }
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
        wakes = Array(repeating: .distantFuture, count: form.endIndex)
        free = form.free
        for slot in form.apps {
            pages[slot.index / size][slot.index % size] = slot.app
            wakes[slot.index] = slot.wake
            indices[slot.app.id] = slot.index
            count += 1
        }
    }
}
