import Vocabulary

/// What is durable, and how it is read back. Everything else is derived, or found again on the
/// machine when the daemon starts.
extension Device {
    mutating func save(_ item: Unsaved) { unsaved.append(item) }
    mutating func save(app index: Int) { save(.app(index)) }
    mutating func save(app index: Int, request: RequestID) { save(.request(index, request)) }
    mutating func save(app index: Int, launch: LaunchID) { save(.launch(index, launch)) }

    mutating func forget(request: RequestID, of index: Int) {
        refreshPolicy.memberChanged(index)
        save(.gone(RecordKey(.request, request.description)))
    }
    mutating func forget(launch: LaunchID) {
        save(.gone(RecordKey(.launch, launch.description)))
    }

    /// The changes of this event, in their final state, each record once.
    mutating func takeChanges() -> [Change] {
        guard !unsaved.isEmpty else { return [] }
        defer { unsaved.removeAll() }
        return changes
    }

    /// A loop: a closure would copy the device to read it.
    private var changes: [Change] {
        var changes: [Change] = []
        for item in unsaved.elements {
            if let change = change(of: item) { changes.append(change) }
        }
        return changes
    }

    /// Nil: it is gone.
    private func change(of item: Unsaved) -> Change? {
        switch item {
        case .device:
            return .put(.device(record))
        case .app(let index):
            return apps.isUsed(index) ? .put(.app(record(of: index))) : nil
        case .request(let index, let id):
            guard apps.isUsed(index), let requestIndex = apps[index].index(of: id) else {
                return nil
            }
            let app = apps[index].id
            return .put(.request(RequestRecord(app, apps[index].requests[requestIndex])))
        case .launch(let index, let id):
            guard apps.isUsed(index), let launchIndex = apps[index].index(of: id) else {
                return nil
            }
            let app = apps[index].id
            return .put(.launch(LaunchRecord(app, apps[index].launches[launchIndex])))
        case .transfer(let id):
            guard let transfer = transfers[id], let index = transfers.app(of: id) else {
                return nil
            }
            return .put(.transfer(TransferRecord(apps[index].id, transfer)))
        case .gone(let key):
            return .delete(key)
        case .line(let line):
            return .append(line)
        }
    }

    /// All that is kept of the device, for a store that has lost what it had.
    package var records: [Record] {
        var records = [Record.device(record)]
        for index in usedIndices {
            let app = apps[index]
            records.append(.app(record(of: index)))
            records += app.requests.map { .request(RequestRecord(app.id, $0)) }
            records += app.launches.map { .launch(LaunchRecord(app.id, $0)) }
            records += transfers.all(of: index).map { .transfer(TransferRecord(app.id, $0)) }
        }
        return records
    }

    private func record(of index: Int) -> AppRecord {
        var record = apps[index].record
        refreshPolicy.complete(&record, of: index)
        return record
    }

    private var record: DeviceRecord {
        let until: BootTime?
        switch pause {
        case .none, .untilDate, .untilContinued: until = nil
        case .until(let end): until = end
        }
        return DeviceRecord(
            bootID: bootID,
            seed: seed,
            reserved: serials.reserved,
            pausedAt: pausedAt,
            pausedUntil: until,
            pauseEnds: pauseEnds,
            ledger: ledger,
            byHand: conditions.byHand,
            use: refreshPolicy.use,
            refreshBudget: refreshPolicy.budget.record,
            unlockedOnce: conditions.unlockedOnce
        )
    }

    /// The device as the store remembers it. `Event.started` completes it.
    package init(restoring records: some Sequence<Record>) {
        self.init()
        for record in records {
            switch record {
            case .device(let record): restore(record)
            case .app(let record): restore(record)
            case .request(let record): restore(record)
            case .launch(let record): restore(record)
            case .transfer(let record): restore(record)
            }
        }
        refreshPolicy.restoreGains(in: &apps)
    }

    private mutating func restore(_ record: DeviceRecord) {
        bootID = record.bootID
        seed = record.seed
        serials = Serials(next: record.reserved, reserved: record.reserved)
        pausedAt = record.pausedAt
        pauseEnds = record.pauseEnds
        ledger = record.ledger
        refreshPolicy.restore(record.use, record.refreshBudget)
        for reading in record.byHand { conditions.restore(reading) }
        conditions.restore(unlockedOnce: record.unlockedOnce)
        if record.pausedAt != nil {
            pause =
                record.pausedUntil.map { .until($0) } ?? record.pauseEnds.map { .untilDate($0) }
                ?? .untilContinued
        }
    }

    private mutating func restore(_ record: AppRecord) {
        let index = ensureApp(record.id)
        apps[index].record = record
        apps[index].manifest = record.transient
    }

    private mutating func restore(_ record: RequestRecord) {
        var request = record.request
        // Counts the clock of a boot that may be gone.
        request.readySince = nil
        // What was worth it then is decided anew.
        if request.state == .pending { request.decision = nil }
        apps[ensureApp(record.app)].requests.append(request)
    }

    private mutating func restore(_ record: LaunchRecord) {
        let index = ensureApp(record.app)
        apps[index].add(record.launch)
        let claims = LaunchClaims(of: record.launch, wantsScreen: false)
        liveLaunches.append(record.launch.id, app: index, claims)
    }

    private mutating func restore(_ record: TransferRecord) {
        var transfer = record.transfer
        // The network process has ended with its daemon. What was to stop is settled as this one
        // starts.
        if case .running(let attempt) = transfer.state, attempt.next == .wait {
            transfer.state = .waiting
        }
        // Names and passwords have gone with it.
        if !transfer.logins.isEmpty { (transfer.logins, transfer.refusals) = ([], 0) }
        transfers.insert(transfer, app: ensureApp(record.app))
    }

    /// The index of an app, which becomes known if it was not.
    mutating func ensureApp(_ id: AppID) -> Int {
        apps.index(of: id) ?? apps.insert(AppState(id: id))
    }
}
