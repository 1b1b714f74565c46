package import Vocabulary

/// One row of the table of settings: the name in files and on the command line, its unit, where
/// it lives, and what `offstage settings` says about it.
package struct SettingRow: Sendable {
    package let name: String
    package let field: Field
    package let documentation: String

    package enum Field: Sendable {
        case interval(any WritableKeyPath<Settings, Interval> & Sendable, ClosedRange<Interval>)
        case count(any WritableKeyPath<Settings, Int64> & Sendable, ClosedRange<Int64>)
        case bytes(any WritableKeyPath<Settings, Int64> & Sendable, ClosedRange<Int64>)
        case flag(any WritableKeyPath<Settings, Bool> & Sendable)
        case text(any WritableKeyPath<Settings, String> & Sendable)
        /// A URL, or nothing.
        case proxy(any WritableKeyPath<Settings, String> & Sendable)
        /// A time of day, `07:00`.
        case timeOfDay(any WritableKeyPath<Settings, Interval> & Sendable)
        case wakeFromSleep
        /// Chooses among `SettingRow.profiles`.
        case profile
    }

    /// In place of a value: whatever is set is taken back.
    package static let `default` = "default"

    static let day = Interval.zero...Interval.days(1)
    static let month = Interval.zero...Interval.days(31)
    static let year = Interval.zero...Interval.days(366)

    /// Names of earlier versions, and what the setting is called now.
    package static let formerNames: [(former: String, name: String)] = [
        ("shared-purse", "shared-budget"), ("refresh-floor", "minimum-refresh-interval"),
    ]

    package static func name(formerly name: String) -> String? {
        formerNames.first { $0.former == name }?.name
    }

    /// What a profile sets before the file does.
    package static let profiles: [(name: String, values: [(setting: String, value: String)])] = [
        ("apple", []),
        ("ios7", [("finish-up", "180s")]),
        ("ios26", [("finish-up", "30s")]),
    ]
}

extension SettingRow {
    /// The value as files and the command line write it.
    package func text(_ settings: Settings) -> String {
        switch field {
        case .interval(let path, _): settings[keyPath: path].description
        case .count(let path, _): "\(settings[keyPath: path])"
        case .bytes(let path, _): SettingRow.bytesText(settings[keyPath: path])
        case .flag(let path): settings[keyPath: path] ? "on" : "off"
        case .text(let path), .proxy(let path): settings[keyPath: path]
        case .timeOfDay(let path): SettingRow.timeText(settings[keyPath: path])
        case .wakeFromSleep: settings.wakeFromSleep.rawValue
        case .profile: settings.profile
        }
    }

    /// What may be written.
    package var choices: String {
        switch field {
        case .interval(_, let range):
            "a time from \(range.lowerBound) to \(range.upperBound), such as 90s, 15m or 2h"
        case .count(_, let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .bytes(_, let range):
            "a size from \(SettingRow.bytesText(range.lowerBound)) to "
                + SettingRow.bytesText(range.upperBound) + ", such as 64M"
        case .flag: "on or off"
        case .text: "a command line, or nothing"
        case .proxy: "the URL of a proxy, or nothing"
        case .timeOfDay: "a time of day, such as 07:30"
        case .wakeFromSleep: WakeFromSleep.allCases.map(\.rawValue).joined(separator: ", ")
        case .profile: SettingRow.profiles.map(\.name).joined(separator: ", ")
        }
    }

    /// The words that may be written, where there are any.
    package var words: [String] {
        switch field {
        case .interval, .count, .bytes, .text, .proxy, .timeOfDay: []
        case .flag: ["on", "off"]
        case .wakeFromSleep: WakeFromSleep.allCases.map(\.rawValue)
        case .profile: SettingRow.profiles.map(\.name)
        }
    }

    /// Sets what `text` says; false: it is not one of `choices`.
    package func set(_ text: String, in settings: inout Settings) -> Bool {
        switch field {
        case .interval(let path, let range):
            guard let value = Interval(text), range.contains(value) else { return false }
            settings[keyPath: path] = value
        case .count(let path, let range):
            guard let value = Int64(text), range.contains(value) else { return false }
            settings[keyPath: path] = value
        case .bytes(let path, let range):
            guard let value = SettingRow.bytes(text), range.contains(value) else { return false }
            settings[keyPath: path] = value
        case .flag(let path):
            guard let value = SettingRow.flag(text) else { return false }
            settings[keyPath: path] = value
        case .text(let path):
            // Where home is makes no difference to whether it is one.
            guard text.isEmpty || ArgumentList.parse(text, home: "/") != nil else { return false }
            settings[keyPath: path] = text
        case .proxy(let path):
            guard text.isEmpty || TransferOrder.isProxy(text) else { return false }
            settings[keyPath: path] = text
        case .timeOfDay(let path):
            guard let value = SettingRow.time(text) else { return false }
            settings[keyPath: path] = value
        case .wakeFromSleep:
            guard let value = WakeFromSleep(rawValue: text) else { return false }
            settings.wakeFromSleep = value
        case .profile:
            guard SettingRow.profiles.contains(where: { $0.name == text }) else { return false }
            settings.profile = text
        }
        return true
    }

    /// Why `set` does not take a text.
    package struct Mistake: Equatable, Sendable {
        package enum Kind: Equatable, Sendable {
            /// It is none of `choices`, and no more is to be said.
            case noChoice
            case outOfBounds, noUnit, noCommandLine
        }

        package let kind: Kind
        /// As it goes on after the value.
        package let reason: String
        /// What to write instead.
        package let fix: String
    }

    package func mistake(in text: String) -> Mistake {
        let fix = "Write \(choices)."
        let usual = Mistake(kind: .noChoice, reason: "is not a value of it", fix: fix)
        switch field {
        case .interval:
            guard Interval(text) == nil else {
                return Mistake(kind: .outOfBounds, reason: "is out of bounds", fix: fix)
            }
            let mistake = Interval.mistake(in: text)
            guard case .noUnit = mistake else { return usual }
            return Mistake(kind: .noUnit, reason: mistake.reason, fix: mistake.fix)
        case .text:
            guard let mistake = ArgumentList.mistake(in: text) else { return usual }
            return Mistake(kind: .noCommandLine, reason: mistake.reason, fix: mistake.fix)
        case .count, .bytes, .flag, .proxy, .timeOfDay, .wakeFromSleep, .profile: return usual
        }
    }

    package static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "on", "yes", "true", "1": true
        case "off", "no", "false", "0": false
        default: nil
        }
    }

    static func bytesText(_ bytes: Int64) -> String {
        for (shift, letter) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")]
        where bytes >= 1 << shift && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(letter)"
        }
        return "\(bytes)"
    }

    static func bytes(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), number >= 0 else { return nil }
        let shifts = ["": 0, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40]
        var unit = text.dropFirst(digits.count).uppercased()
        if unit.count > 1, unit.hasSuffix("IB") { unit.removeLast(2) }
        guard let shift = shifts[unit] else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: 1 << Int64(shift))
        return overflow ? nil : product
    }

    static func timeText(_ time: Interval) -> String {
        let minutes = time.nanoseconds / Interval.minutes(1).nanoseconds
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return padded(minutes / 60) + ":" + padded(minutes % 60)
    }

    static func time(_ text: String) -> Interval? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hours = Int64(parts[0]), let minutes = Int64(parts[1]),
            (0...24).contains(hours), (0..<60).contains(minutes), hours < 24 || minutes == 0
        else { return nil }
        return .hours(hours) + .minutes(minutes)
    }
}
