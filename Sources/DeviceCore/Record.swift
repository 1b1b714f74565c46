package import Vocabulary

/// What the store keeps of a device, one record a thing. Typed, so that a decision costs no
/// encoding: what a record becomes on a disk is the store's business. Indirect: handed on far more
/// often than made.
package indirect enum Record: Hashable, Sendable, Codable {
    case device(DeviceRecord)
    case app(AppRecord)
    case request(RequestRecord)
    case launch(LaunchRecord)
    case transfer(TransferRecord)

    var section: RecordKey.Section {
        switch self {
        case .device: .device
        case .app: .app
        case .request: .request
        case .launch: .launch
        case .transfer: .transfer
        }
    }

    package var key: RecordKey {
        switch self {
        case .device: RecordKey(.device, "device")
        case .app(let record): RecordKey(.app, record.id.name)
        case .request(let record): RecordKey(.request, record.request.id.description)
        case .launch(let record): RecordKey(.launch, record.launch.id.description)
        case .transfer(let record): RecordKey(.transfer, record.transfer.id.description)
        }
    }
}

package struct RecordKey: Hashable, Sendable, Codable, Comparable {
    package var section: Section
    package var key: String

    package init(_ section: Section, _ key: String) { (self.section, self.key) = (section, key) }

    package enum Section: String, CaseIterable, Sendable, Codable {
        case device, app, request, launch, transfer
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.section == right.section
            ? left.key < right.key : left.section.rawValue < right.section.rawValue
    }
}

/// The part of the device itself that is kept.
package struct DeviceRecord: Hashable, Sendable, Codable {
    var bootID: String
    var seed: Int64
    var reserved: UInt64
    var pausedAt: WallTime?
    /// In boot time of the boot with `bootID`; nil, when `pausedAt` is set: until the
    /// date `pauseEnds`, and without one until continued.
    var pausedUntil: BootTime?
    var pauseEnds: WallTime?
    var ledger: Ledger
    /// What the user overrides goes on after a restart.
    var byHand: [Conditions.HandReading]
    // Not in records of versions that learned nothing.
    var use: DeviceUse?
    var refreshBudget: RefreshBudgetRecord?
    /// In the boot with `bootID`.
    @OmittedIfDefault var unlockedOnce: Bool

    var isValid: Bool {
        reserved.isCount && ledger.isValid && use?.isValid ?? true
            && refreshBudget?.spent.isCount ?? true
    }
}

package struct RequestRecord: Hashable, Sendable, Codable {
    package let app: AppID
    package let request: Request

    package init(_ app: AppID, _ request: Request) { (self.app, self.request) = (app, request) }
}

package struct LaunchRecord: Hashable, Sendable, Codable {
    package let app: AppID
    package let launch: Launch

    init(_ app: AppID, _ launch: Launch) { (self.app, self.launch) = (app, launch) }

    package var id: LaunchID { launch.id }
}

package struct TransferRecord: Hashable, Sendable, Codable {
    package let app: AppID
    package let transfer: Transfer

    init(_ app: AppID, _ transfer: Transfer) { (self.app, self.transfer) = (app, transfer) }
}

// MARK: - As a value

extension Record {
    /// The record without its key, as the store keeps it. Our own records always encode: they hold
    /// nothing that the value tree cannot.
    package var value: Value {
        do {
            return switch self {
            case .device(let record): try record.value()
            case .app(let record): try record.value()
            case .request(let record): try record.value()
            case .launch(let record): try record.value()
            case .transfer(let record): try record.value()
            }
        } catch {
            preconditionFailure("a record does not encode: \(error)")
        }
    }

    /// Reads what the store kept under `key`.
    package init(_ key: RecordKey, _ value: Value) throws(RecordError) {
        do {
            let decoder = ValueDecoder()
            self =
                switch key.section {
                case .device: .device(try decoder.decode(DeviceRecord.self, from: value))
                case .app:
                    .app(
                        try AppRecord(fields: value)
                            ?? decoder.decode(AppRecord.self, from: value)
                    )
                case .request:
                    .request(
                        try RequestRecord(fields: value)
                            ?? decoder.decode(RequestRecord.self, from: value)
                    )
                case .launch: .launch(try decoder.decode(LaunchRecord.self, from: value))
                case .transfer: .transfer(try decoder.decode(TransferRecord.self, from: value))
                }
        } catch {
            throw RecordError(key: key, reason: "\(error)")
        }
        guard self.key == key else {
            throw RecordError(key: key, reason: "it is the record of \(self.key.key)")
        }
        guard isValid else {
            throw RecordError(
                key: key,
                reason: "it contains a number that no version can have stored"
            )
        }
    }

    /// Holds nothing that makes our arithmetic trap and that no version can have written.
    private var isValid: Bool {
        switch self {
        case .device(let record): record.isValid
        case .app(let record): record.isValid
        case .request: true
        case .launch(let record): record.launch.isValid
        case .transfer(let record): record.transfer.isValid
        }
    }
}

extension BinaryInteger {
    /// Counted one by one.
    var isCount: Bool { (0...1 << 40).contains(Int64(clamping: self)) }
}

extension Double {
    /// Summed up from what is not negative, and a number.
    var isAmount: Bool { (0...1e12).contains(self) }
}

extension Array {
    /// The newest last; of the oldest as many go as there are above `limit`.
    mutating func append(_ element: Element, limit: Int) {
        if count >= limit { removeFirst(count - limit + 1) }
        append(element)
    }
}

/// A record that this version cannot read.
package struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
    package var key: RecordKey
    package var reason: String

    package var description: String { "\(key.section.rawValue) \(key.key): \(reason)" }
}
