import DeviceCore
import Vocabulary

extension Record {
    /// A record to be told from others by a number in it.
    static func app(_ name: String, _ number: Int64, text: String = "") -> Record {
        var record = AppRecord(id: AppID(name))
        record.failures.count = number
        record.failures.reason = text
        return .app(record)
    }

    /// The number that it was made with.
    var number: Int64? {
        if case .app(let record) = self { record.failures.count } else { nil }
    }
}
