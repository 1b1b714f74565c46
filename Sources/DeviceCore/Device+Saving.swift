package import Vocabulary

/// What is durable, and how it is read back. Everything else is derived, or found again on the
/// machine when the daemon starts.
extension Device {
    /// The part of the device itself that is kept.
    struct Record: Hashable, Sendable, Codable {
        var bootID: String
        var seed: Int64
        var reserved: UInt64
        var pausedAt: WallTime?
        /// In boot time of the boot with `bootID`; nil: until continued, when `pausedAt` is set.
        var pausedUntil: BootTime?
        var ledger: Ledger
        /// What the user plays by hand goes on after a restart.
        var byHand: [Conditions.HandReading]
    }

    struct RequestRecord: Hashable, Sendable, Codable {
        var app: AppID
        var request: Request
    }

    struct LaunchRecord: Hashable, Sendable, Codable {
        var app: AppID
        var launch: Launch
    }

    mutating func save(_ item: Unsaved) {
        if !unsaved.contains(item) { unsaved.append(item) }
    }
    mutating func save(app index: Int) { save(.app(index)) }
    mutating func save(app index: Int, request: RequestID) { save(.request(index, request)) }
    mutating func save(app index: Int, launch: LaunchID) { save(.launch(index, launch)) }

    mutating func forget(request: RequestID) {
        save(.gone(RecordKey(.request, request.description)))
    }
    mutating func forget(launch: LaunchID) {
        save(.gone(RecordKey(.launch, launch.description)))
    }

    /// The changes of this event, in their final state, each record once.
    mutating func takeChanges(_ now: Moment) -> [Change] {
        guard !unsaved.isEmpty else { return [] }
        defer { unsaved.removeAll(keepingCapacity: true) }
        var gone: [RecordKey] = []
        for item in unsaved {
            if case .gone(let key) = item { gone.append(key) }
        }
        return unsaved.compactMap { item in
            switch item {
            case .device:
                return .put(RecordKey(.device, "device"), encode(record))
            case .app(let index):
                guard let app = apps.at(index) else { return nil }
                return .put(RecordKey(.app, app.id.name), encode(app.record))
            case .request(let index, let id):
                let key = RecordKey(.request, id.description)
                guard !gone.contains(key), let app = apps.at(index),
                    let place = app.index(of: id)
                else { return nil }
                return .put(
                    key,
                    encode(RequestRecord(app: app.id, request: app.requests[place]))
                )
            case .launch(let index, let id):
                let key = RecordKey(.launch, id.description)
                guard !gone.contains(key), let app = apps.at(index),
                    let place = app.index(of: id)
                else { return nil }
                return .put(key, encode(LaunchRecord(app: app.id, launch: app.launches[place])))
            case .gone(let key):
                return .delete(key)
            case .line(let line):
                return .append(line)
            }
        }
    }

    private var record: Record {
        let until: BootTime?
        switch pause {
        case .none, .untilContinued: until = nil
        case .until(let end): until = end
        }
        return Record(
            bootID: bootID,
            seed: seed,
            reserved: serials.reserved,
            pausedAt: pausedAt,
            pausedUntil: until,
            ledger: ledger,
            byHand: conditions.byHand
        )
    }

    /// Our own records encode: they hold nothing that the value tree cannot.
    private func encode(_ record: some Encodable) -> Value {
        do {
            return try ValueEncoder().encode(record)
        } catch {
            preconditionFailure("a record does not encode: \(error)")
        }
    }

    /// The device as the store remembers it. `Event.started` completes it.
    package init(
        restoring records: [(key: RecordKey, value: Value)]
    ) throws(RestoreError) {
        self.init()
        for (key, value) in records {
            do {
                switch key.section {
                case .device: restore(try ValueDecoder().decode(Record.self, from: value))
                case .app: restore(try ValueDecoder().decode(AppRecord.self, from: value))
                case .request: restore(try ValueDecoder().decode(RequestRecord.self, from: value))
                case .launch: restore(try ValueDecoder().decode(LaunchRecord.self, from: value))
                }
            } catch {
                throw RestoreError(key: key, reason: "\(error)")
            }
        }
    }

    private mutating func restore(_ record: Record) {
        bootID = record.bootID
        seed = record.seed
        serials = Serials(next: record.reserved, reserved: record.reserved)
        pausedAt = record.pausedAt
        ledger = record.ledger
        for reading in record.byHand { conditions.restore(reading) }
        if record.pausedAt != nil {
            pause = record.pausedUntil.map { .until($0) } ?? .untilContinued
        }
    }

    private mutating func restore(_ record: AppRecord) {
        let index = place(record.id)
        apps[index].record = record
        apps[index].manifest = record.transient
    }

    private mutating func restore(_ record: RequestRecord) {
        var request = record.request
        // Counts the clock of a boot that may be gone.
        request.readySince = nil
        apps[place(record.app)].requests.append(request)
    }

    private mutating func restore(_ record: LaunchRecord) {
        let index = place(record.app)
        apps[index].launches.append(record.launch)
        owners.append(Owner(launch: record.launch.id, app: index))
        if record.launch.wake != nil { countWake(record.launch, by: 1) }
    }

    /// The index of an app, which becomes known if it was not.
    mutating func place(_ id: AppID) -> Int {
        apps.index(of: id) ?? apps.insert(AppState(id: id))
    }

    mutating func countWake(_ launch: Launch, by step: Int) {
        running.all += step
        if launch.wake?.trigger == .processing { running.processing += step }
    }
}

/// A record that this version cannot read.
package struct RestoreError: Error, Hashable, Sendable {
    package var key: RecordKey
    package var reason: String
}
