package import Vocabulary

/// The apps, by a dense index that never changes while an app is known. Kept in pages, so that a
/// copy of the device (taken before each turn, for a commit that fails) shares all pages but those
/// that the turn changes.
package struct AppTable: Hashable, Sendable, Codable {
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

    func isUsed(_ index: Int) -> Bool {
        !pages[index / Self.pageSize][index % Self.pageSize].id.name.isEmpty
    }

    package subscript(_ index: Int) -> AppState {
        _read { yield pages[index / Self.pageSize][index % Self.pageSize] }
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

    mutating func setWake(_ index: Int, to time: BootTime) { wakes[index] = time }

    /// Those whose time has come.
    func due(at now: BootTime) -> [Int] {
        guard earliestWake <= now else { return [] }
        return wakes.indices.filter { wakes[$0] <= now }
    }
}
