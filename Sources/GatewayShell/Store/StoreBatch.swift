package import GatewayCore
package import Vocabulary

/// Changes that are written together, in the order in which they came.
package struct StoreBatch: Sendable {
    package enum Change: Sendable {
        case device(DeviceID, key: [UInt8], since: WallTime)
        case app(AppNumber, bundle: String)
        case registration(DeviceID, Registration)
        /// Takes its slot, unless a newer one is there.
        case store(Push, expiration: WallTime)
        case remove(SlotKey, PushNumber)
    }

    package var number: UInt64 = 0
    package var changes: [Change] = []
    package var log = LogBatch()

    package init() {}

    package var isEmpty: Bool { changes.isEmpty && log.isEmpty }
}

/// Lines of the delivery log, those of one push together.
package struct LogBatch: Sendable {
    package private(set) var rows: [LogRow] = []
    private var places: [PushNumber: Int] = [:]

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }
    package var count: Int { rows.count }

    package mutating func accepted(_ push: Push, _ acceptance: Acceptance) {
        places[push.number] = rows.count
        rows.append(
            LogRow(
                number: push.number,
                head: LogRow.Head(
                    device: push.device,
                    app: push.app,
                    type: push.type,
                    priority: push.priority,
                    size: push.payload.count,
                    acceptance: acceptance
                ),
                events: []
            )
        )
    }

    package mutating func add(_ number: PushNumber, _ event: LogEvent, at wall: WallTime) {
        let entry = LogRow.Entry(event: event, at: wall)
        if let place = places[number] {
            rows[place].events.append(entry)
        } else {
            places[number] = rows.count
            rows.append(LogRow(number: number, head: nil, events: [entry]))
        }
    }
}

/// What is known of one push.
package struct LogRow: Equatable, Sendable {
    package struct Head: Equatable, Sendable {
        package var device: DeviceID
        package var app: AppNumber
        package var type: PushType
        package var priority: PushPriority
        package var size: Int
        package var acceptance: Acceptance
    }

    package struct Entry: Equatable, Sendable {
        package var event: LogEvent
        package var at: WallTime
    }

    package var number: PushNumber
    /// Nil in a batch when the push was accepted in an earlier one.
    package var head: Head?
    package var events: [Entry]
}
