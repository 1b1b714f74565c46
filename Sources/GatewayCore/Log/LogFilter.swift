package import Vocabulary

/// Which pushes of the log are asked for; nil: any.
package struct LogFilter: Equatable, Sendable {
    /// When they were accepted.
    package var since: WallTime?
    package var until: WallTime?
    package var device: DeviceID?
    package var app: AppNumber?
    package var apnsID: PushUUID?
    package var state: LogState?

    package init() {}

    /// Numbers of pushes are the microseconds at which they were accepted; nil: none can fit.
    package var numbers: ClosedRange<UInt64>? {
        let microsecond: Int64 = 1000
        let first = since.map { ($0.nanoseconds + microsecond - 1) / microsecond } ?? 0
        let last = until.map { $0.nanoseconds / microsecond } ?? .max
        guard first <= last, last >= 0 else { return nil }
        return UInt64(max(0, first))...UInt64(last)
    }

    package func fits(_ row: LogRow) -> Bool {
        guard numbers?.contains(row.number.number) == true, app ?? row.head.app == row.head.app,
            state.map({ $0 == row.state }) ?? true
        else { return false }
        switch row.head.target {
        case .device(let device, let acceptance):
            let id = acceptance.apnsID
            return self.device ?? device == device && apnsID ?? id == id
        case .channel: return device == nil && apnsID == nil
        }
    }
}

/// What happened to a push last.
package enum LogState: String, CaseIterable, Sendable {
    case accepted, attempted, delivered, throttled, stored, replaced, expired, dropped, sent

    package init(_ event: LogEvent) {
        switch event {
        case .accepted: self = .accepted
        case .attempted: self = .attempted
        case .delivered: self = .delivered
        case .stored(let reason): self = reason.isThrottling ? .throttled : .stored
        case .replaced: self = .replaced
        case .expired: self = .expired
        case .dropped: self = .dropped
        case .sent: self = .sent
        }
    }
}

extension LogRow {
    package var state: LogState { events.last.map { LogState($0.event) } ?? .accepted }
}
