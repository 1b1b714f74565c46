import Vocabulary

/// All transfers, and in which order they wait. Kept in pages, so that a copy of the device shares
/// all but what the turn changes.
///
/// Those that wait for nothing but gates and a turn stand in lanes: all of one lane have the same
/// answer from every gate, so a gate is asked once for all of them. The queues may hold ids of
/// transfers that have left them meanwhile; those are skipped, so that they hold up nobody behind
/// them.
package struct TransferTable: Hashable, Sendable {
    private static let pageSize = 32
    private var pages: [[Slot]] = []
    private var indices: [TransferID: Int] = [:]
    private var free: [Int] = []
    /// By the index of an app: its transfers.
    private var ids: [Int: Set<TransferID>] = [:]
    /// By task of a session: its transfers, of which at most one has not ended.
    private var tasks: [TaskKey: [TransferID]] = [:]
    /// No transfer has a place before it.
    private(set) var leastPlace: Int64 = 0
    private(set) var lanes: [Lane] = []
    /// Where each of them is.
    private var laneIndices: [Lane.Key: Int] = [:]
    private var sessions = SessionQueues()
    /// When somebody must look at a transfer, because its date or its deadline has come.
    private var dates = Heap<DatedTransfer>()
    /// In the order in which they began.
    private(set) var running: [RunningTransfer] = []
    /// Those of them whose bytes are still to come. The others are being made durable, many at
    /// once, and take no connection from those that wait.
    private(set) var receiving: [RunningTransfer] = []
    private(set) var connections = ConnectionCounts()
    var paces = TransferPaces()
    /// The gates that hold any that waits, as of the last look.
    var heldBy = GateSet()
    /// When a gate that holds one may open.
    var next = BootTime.distantFuture
    /// Something has changed that may let one begin, or end.
    var isTouched = false
    /// A gate has closed that may end what runs.
    var mustAskRunning = false
    package var count: Int { indices.count }
    /// Of those that have not ended, or have failed.
    private(set) var counts = TransferCounts()
    /// The same of those whose end is told together, by the first of them.
    private var openInGroups: [TransferID: Int] = [:]
    private(set) var sizes = TransferSizes()

    struct Slot: Hashable, Sendable, Codable {
        /// The index of its app.
        var app: Int
        /// The host of its first request.
        var host: String
        var transfer: Transfer?

        static let vacant = Slot(app: -1, host: "", transfer: nil)

        fileprivate init(app: Int, host: String, transfer: Transfer?) {
            (self.app, self.host, self.transfer) = (app, host, transfer)
        }
    }

    private struct TaskKey: Hashable {
        let app: Int
        let session: String
        let number: Int64
    }

    /// Transfers for which every gate answers alike. They are a heap, because one call may bring
    /// thousands of them to the front.
    struct Lane: Hashable, Sendable, Codable {
        let key: Key
        var queue = Heap<Entry>()

        struct Entry: Hashable, Sendable, Codable, Comparable {
            let id: TransferID
            let turn: TransferTurn

            static func < (left: Self, right: Self) -> Bool {
                (left.turn, left.id) < (right.turn, right.id)
            }
        }

        struct Key: Hashable, Sendable, Codable {
            let app: Int
            let trigger: Trigger
            let needs: Needs
            let host: String
            /// It waits for no better moment any more.
            let hasWaited: Bool

            /// What waits for no better moment is overtaken by none that is only small.
            func turn(of transfer: Transfer) -> TransferTurn {
                hasWaited ? transfer.turn.plain : transfer.turn
            }
        }
    }

    init() {}

    subscript(_ id: TransferID) -> Transfer? {
        indices[id].flatMap { pages[$0 / Self.pageSize][$0 % Self.pageSize].transfer }
    }

    func app(of id: TransferID) -> Int? {
        indices[id].map { pages[$0 / Self.pageSize][$0 % Self.pageSize].app }
    }

    private func host(of id: TransferID) -> String {
        indices[id].map { pages[$0 / Self.pageSize][$0 % Self.pageSize].host } ?? ""
    }

    /// All of them, or those of one app, in the order in which they were asked for.
    func all(of app: Int? = nil) -> [Transfer] {
        if let app { return (ids[app] ?? []).sorted().compactMap { self[$0] } }
        return pages.flatMap { $0.compactMap(\.transfer) }.sorted { $0.id < $1.id }
    }

    func contains(app: Int) -> Bool { ids[app] != nil }

    /// One of these numbers that a task of the session has which has not ended; nil: none has.
    func openNumber(among numbers: [Int64], in session: String, of app: Int) -> Int64? {
        numbers.first { openTask($0, in: session, of: app) != nil }
    }

    /// Those tasks of the session with these numbers that have not ended, in the order in which
    /// they were asked for.
    func openTasks(among numbers: [Int64], in session: String, of app: Int) -> [TransferID] {
        Set(numbers.compactMap { openTask($0, in: session, of: app) }).sorted()
    }

    private func openTask(_ number: Int64, in session: String, of app: Int) -> TransferID? {
        let key = TaskKey(app: app, session: session, number: number)
        return tasks[key]?.first { isOpen($0) }
    }

    private func isOpen(_ id: TransferID) -> Bool {
        guard let index = indices[id] else { return false }
        return pages[index / Self.pageSize][index % Self.pageSize].transfer?.isEnded == false
    }

    /// What is found by its app and its task.
    private mutating func list(_ transfer: Transfer, of app: Int) {
        ids[app, default: []].insert(transfer.id)
        leastPlace = min(leastPlace, transfer.rank ?? 0)
        guard let task = transfer.task else { return }
        let key = TaskKey(app: app, session: task.session, number: task.number)
        tasks[key, default: []].append(transfer.id)
        if tasks[key]?.count ?? 0 > 1 { tasks[key]?.sort() }
    }

    private mutating func unlist(_ transfer: Transfer, of app: Int) {
        ids[app]?.remove(transfer.id)
        if ids[app]?.isEmpty == true { ids[app] = nil }
        guard let task = transfer.task else { return }
        let key = TaskKey(app: app, session: task.session, number: task.number)
        tasks[key]?.removeAll { $0 == transfer.id }
        if tasks[key]?.isEmpty == true { tasks[key] = nil }
    }

    mutating func insert(_ transfer: Transfer, app: Int) {
        let index: Int
        if let reused = free.popLast() {
            index = reused
        } else {
            index = pages.count * Self.pageSize
            pages.append(Array(repeating: .vacant, count: Self.pageSize))
            free = (index + 1..<index + Self.pageSize).reversed()
        }
        let slot = Slot(app: app, host: String(transfer.host), transfer: transfer)
        pages[index / Self.pageSize][index % Self.pageSize] = slot
        indices[transfer.id] = index
        list(transfer, of: app)
        updateCounts(for: transfer, by: 1)
        sizes.add(transfer.size, of: app)
        sessions.changed(nil, to: transfer, app: app)
    }

    mutating func remove(_ id: TransferID) {
        guard let index = indices.removeValue(forKey: id) else { return }
        let slot = pages[index / Self.pageSize][index % Self.pageSize]
        if let transfer = slot.transfer {
            unlist(transfer, of: slot.app)
            updateCounts(for: transfer, by: -1)
            sizes.add(TransferSize() - transfer.size, of: slot.app)
        }
        sessions.changed(slot.transfer, to: nil, app: slot.app)
        pages[index / Self.pageSize][index % Self.pageSize] = .vacant
        free.append(index)
    }

    /// Changes a transfer that is known. Who runs is counted here.
    mutating func change(_ id: TransferID, _ body: (inout Transfer) -> Void) {
        guard let index = indices[id] else { return }
        let (page, slot) = (index / Self.pageSize, index % Self.pageSize)
        guard var transfer = pages[page][slot].transfer else { return }
        let (ran, received) = (transfer.isRunning, transfer.isReceiving)
        let connections = transfer.connections
        let before = transfer.task == nil ? nil : transfer
        let (url, size) = (transfer.order.url, transfer.size)
        updateCounts(for: transfer, by: -1)
        body(&transfer)
        leastPlace = min(leastPlace, transfer.rank ?? 0)
        updateCounts(for: transfer, by: 1)
        sizes.add(transfer.size - size, of: pages[page][slot].app)
        pages[page][slot].transfer = transfer
        if url != transfer.order.url { pages[page][slot].host = String(transfer.host) }
        if let before { sessions.changed(before, to: transfer, app: pages[page][slot].app) }
        if ran, !transfer.isRunning { running.removeAll { $0.id == id } }
        if !ran, transfer.isRunning { running.append(pages[page][slot].running(transfer)) }
        if received, !transfer.isReceiving || connections != transfer.connections {
            stopReceiving(id)
            // There is room for another.
            isTouched = true
        } else if received || !transfer.isReceiving {
            return
        }
        guard transfer.isReceiving else { return }
        let new = pages[page][slot].running(transfer)
        receiving.append(new)
        self.connections.add(new)
    }

    private mutating func updateCounts(for transfer: Transfer, by change: Int) {
        counts.add(change, to: transfer.standing)
        guard let group = transfer.group, !transfer.isEnded else { return }
        let count = openInGroups[group.first, default: 0] + change
        openInGroups[group.first] = count == 0 ? nil : count
    }

    /// Whether any of them has not ended.
    func isOpen(_ group: TransferGroup) -> Bool { openInGroups[group.first] != nil }

    private mutating func stopReceiving(_ id: TransferID) {
        guard let index = receiving.firstIndex(where: { $0.id == id }) else { return }
        connections.remove(receiving.remove(at: index))
    }

    /// Nil: nothing of the session is on its way, or has to be told.
    func queue(_ app: Int, _ session: String) -> SessionQueues.SessionQueue? {
        sessions[app, session]
    }

    // MARK: Waiting

    /// It waits for its gates and its turn, or for its date.
    mutating func enqueue(_ id: TransferID, at now: WallTime, _ settings: Shared<Settings>) {
        guard let transfer = self[id], let app = app(of: id) else { return }
        // Its app has the word.
        guard transfer.question == nil else { return }
        isTouched = true
        guard transfer.date <= now else { return look(at: transfer.date, id) }
        let end = settings.discretionaryEnd(
            since: transfer.submittedAt,
            halfTime: transfer.halfTime
        )
        let waits = transfer.trigger == .discretionaryTransfer && end > now
        // It comes back, into another lane.
        if waits { look(at: end, id) }
        let key = Lane.Key(
            app: app,
            trigger: transfer.trigger,
            needs: transfer.order.needs,
            host: host(of: id),
            hasWaited: !waits
        )
        let lane = lane(of: key)
        lanes[lane].queue.insert(Lane.Entry(id: id, turn: key.turn(of: transfer)))
    }

    /// Its index; it is made if there is none.
    private mutating func lane(of key: Lane.Key) -> Int {
        if let index = laneIndices[key] { return index }
        laneIndices[key] = lanes.count
        lanes.append(Lane(key: key))
        return lanes.count - 1
    }

    /// Somebody is to look at it then.
    mutating func look(at time: WallTime, _ id: TransferID) {
        dates.insert(DatedTransfer(at: time, id: id))
    }

    var nextDate: WallTime? { dates.first?.at }

    /// Anything may have changed.
    mutating func touch() { (isTouched, mustAskRunning) = (true, true) }

    /// One whose date or deadline has come; nil: none has.
    mutating func popDue(at now: WallTime) -> TransferID? {
        guard let first = dates.first, first.at <= now else { return nil }
        return dates.removeFirst()?.id
    }

    /// Nobody is to be woken for the deadline of one that has ended since, or is gone.
    mutating func dropStaleDates() {
        while let first = dates.first, isStale(first) { _ = dates.removeFirst() }
    }

    private func isStale(_ date: DatedTransfer) -> Bool {
        guard let transfer = self[date.id] else { return true }
        guard case .ended(_, let end) = transfer.state else { return false }
        return transfer.forgetDate(endedAt: end) > date.at
    }

    /// Most entries are of no use any more: their transfers wait elsewhere by now, as those of an
    /// app do that changes their priorities again and again.
    var isCluttered: Bool {
        let entries = lanes.reduce(dates.count) { $0 + $1.queue.count }
        return entries > 4 * indices.count + 1000
    }

    /// All will be told anew.
    mutating func forgetWaiting() { (dates, lanes, laneIndices) = (Heap(), [], [:]) }

    /// The first of a lane that still waits there, if any does. One that has got a date since then
    /// comes back when that has come.
    mutating func head(ofLane index: Int, at now: WallTime) -> TransferID? {
        let key = lanes[index].key
        while let first = lanes[index].queue.first {
            if let transfer = self[first.id], transfer.state == .waiting,
                key.turn(of: transfer) == first.turn, transfer.date <= now,
                transfer.trigger == key.trigger, transfer.question == nil,
                transfer.order.needs == key.needs, host(of: first.id) == key.host
            {
                return first.id
            }
            _ = lanes[index].queue.removeFirst()
        }
        return nil
    }

    mutating func removeHead(ofLane index: Int) { _ = lanes[index].queue.removeFirst() }

    mutating func removeEmptyLanes() {
        let count = lanes.count
        lanes.removeAll(where: \.queue.isEmpty)
        if lanes.count != count { indexLanes() }
    }

    private mutating func indexLanes() {
        laneIndices.removeAll(keepingCapacity: true)
        for index in lanes.indices { laneIndices[lanes[index].key] = index }
    }
}

extension TransferTable.Slot {
    fileprivate func running(_ transfer: Transfer) -> RunningTransfer {
        var running = RunningTransfer(id: transfer.id, app: app, host: host)
        running.moreConnections = transfer.connections - 1
        return running
    }
}

/// How many stand where.
struct TransferCounts: Hashable, Sendable {
    private(set) var running = 0
    private(set) var waiting = 0
    private(set) var paused = 0
    private(set) var failed = 0

    fileprivate mutating func add(_ count: Int, to standing: TransferStanding) {
        switch standing {
        case .running: running += count
        case .waiting: waiting += count
        case .paused: paused += count
        case .failed: failed += count
        case .finished, .cancelled: break
        }
    }
}

struct DatedTransfer: Hashable, Sendable, Codable, Comparable {
    let at: WallTime
    let id: TransferID

    static func < (left: Self, right: Self) -> Bool { (left.at, left.id) < (right.at, right.id) }
}

extension TransferTable: Codable {
    /// As lists, so that the form does not depend on the order of a dictionary.
    private struct Form: Codable {
        var pages: [[Slot]]
        var free: [Int]
        var lanes: [Lane]
        var dates: Heap<DatedTransfer>
        var running: [RunningTransfer]
        var receiving: [RunningTransfer]
        var paces: TransferPaces
        var sessions: SessionQueues
        var heldBy: GateSet
        var next: BootTime
        var leastPlace: Int64
    }

    package func encode(to encoder: any Encoder) throws {
        try Form(
            pages: pages,
            free: free,
            lanes: lanes,
            dates: dates,
            running: running,
            receiving: receiving,
            paces: paces,
            sessions: sessions,
            heldBy: heldBy,
            next: next,
            leastPlace: leastPlace
        ).encode(to: encoder)
    }

    package init(from decoder: any Decoder) throws {
        let form = try Form(from: decoder)
        let end = form.pages.count * Self.pageSize
        guard form.pages.allSatisfy({ $0.count == Self.pageSize }),
            form.free.allSatisfy({ (0..<end).contains($0) })
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a table of transfers")
            )
        }
        (pages, free, lanes, dates) = (form.pages, form.free, form.lanes, form.dates)
        (running, receiving, sessions) = (form.running, form.receiving, form.sessions)
        connections = ConnectionCounts(receiving)
        indexLanes()
        (heldBy, next, paces) = (form.heldBy, form.next, form.paces)
        leastPlace = form.leastPlace
        for (pageIndex, page) in pages.enumerated() {
            for (slotIndex, slot) in page.enumerated() {
                guard let transfer = slot.transfer else { continue }
                indices[transfer.id] = pageIndex * Self.pageSize + slotIndex
                list(transfer, of: slot.app)
                updateCounts(for: transfer, by: 1)
                sizes.add(transfer.size, of: slot.app)
            }
        }
    }
}
