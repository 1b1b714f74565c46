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

    static let day = Interval.zero...Interval.days(1)
    static let month = Interval.zero...Interval.days(31)
    static let year = Interval.zero...Interval.days(366)

    package static let table: [SettingRow] = grants + limits + refreshes + gates + transfers + rest

    private static let grants: [SettingRow] = [
        SettingRow(
            name: "profile",
            field: .profile,
            documentation: "A set of defaults: apple, ios7 or ios26."
        ),
        SettingRow(
            name: "finish-up",
            field: .interval(\.finishUp, day),
            documentation: "Time to finish work begun in the foreground, shared by the app's "
                + "tasks (iOS 7: 180 s, iOS 26: 30 s)."
        ),
        SettingRow(
            name: "entering-background",
            field: .interval(\.enteringBackground, day),
            documentation: "Time for an app to save its state when the user leaves it (iOS 4)."
        ),
        SettingRow(
            name: "wake-grant",
            field: .interval(\.wakeGrant, day),
            documentation: "Time for a refresh or fetch, per launch (iOS 7)."
        ),
        SettingRow(
            name: "task-beyond-wake",
            field: .interval(\.taskBeyondWake, day),
            documentation: "Time for a background task begun during a wake, after that wake ends."
        ),
        SettingRow(
            name: "processing-grant",
            field: .interval(\.processingGrant, day),
            documentation: "Time for a processing task while its conditions hold (iOS 13)."
        ),
        SettingRow(
            name: "processing-grant-charging",
            field: .interval(\.processingGrantCharging, day),
            documentation: "The same while the device is idle on external power."
        ),
        SettingRow(
            name: "expiry-warning",
            field: .interval(\.expiryWarning, day),
            documentation: "How long before the end of the grant the expiration handler is called."
        ),
        SettingRow(
            name: "suspend-delay",
            field: .interval(\.suspendDelay, day),
            documentation: "How long an app without background tasks runs after the user left it."
        ),
        SettingRow(
            name: "launch-watchdog",
            field: .interval(\.launchWatchdog, day),
            documentation: "Time limit from exec to the end of launching (iOS: 20 s)."
        ),
        SettingRow(
            name: "stop-timeout",
            field: .interval(\.stopTimeout, day),
            documentation: "Time from SIGTERM to SIGKILL for a command; StopTimeout= shortens it."
        ),
        SettingRow(
            name: "probe-limit",
            field: .interval(\.probeLimit, day),
            documentation: "Time limit for one NewDataFrom= or FailedFrom= program."
        ),
        SettingRow(
            name: "interrupted-limit",
            field: .interval(\.interruptedLimit, month),
            documentation: "How long a command with WhenInterrupted=freeze may stay interrupted."
        ),
    ]

    private static let limits: [SettingRow] = [
        SettingRow(
            name: "memory-limit",
            field: .bytes(\.memoryLimit, (1 << 20)...(1 << 40)),
            documentation: "Memory limit of a background app; MemoryLimit= lowers it."
        ),
        SettingRow(
            name: "cpu-limit",
            field: .count(\.cpuLimit, 1...6400),
            documentation: "CPU monitor: percent of one core, averaged over cpu-window; off for "
                + "processing that requires external power."
        ),
        SettingRow(
            name: "cpu-window",
            field: .interval(\.cpuWindow, .seconds(1)...Interval.days(1)),
            documentation: "Averaging window of the CPU monitor."
        ),
        SettingRow(
            name: "lock-check-delay",
            field: .interval(\.lockCheckDelay, day),
            documentation: "A suspended app that still holds a file lock after this time is "
                + "terminated."
        ),
        SettingRow(
            name: "log-size",
            field: .bytes(\.logSize, 4096...(1 << 30)),
            documentation: "Size at which an app's log is rotated; one older file, of half to "
                + "three quarters of the size, is kept. A flood is truncated within "
                + "milliseconds; until then it may take some tens of megabytes."
        ),
    ]

    private static let refreshes: [SettingRow] = [
        SettingRow(
            name: "background-refresh",
            field: .flag(\.backgroundRefresh),
            documentation: "Whether apps get refreshes and processing."
        ),
        SettingRow(
            name: "minimum-refresh-interval",
            field: .interval(\.minimumRefreshInterval, month),
            documentation: "The shortest interval between fetches that an app can ask for, and the "
                + "default of RefreshInterval= (iOS 7)."
        ),
        SettingRow(
            name: "refreshes-per-day",
            field: .count(\.refreshesPerDay, 1...100_000),
            documentation: "Refresh budget of an app: reduced if refreshes bring little or cost "
                + "much, and spread over the waking hours while the app's use is unknown."
        ),
        SettingRow(
            name: "shared-budget",
            field: .flag(\.sharedBudget),
            documentation: "Whether apps share one refresh budget, so that what one app leaves, "
                + "others may use that day."
        ),
        SettingRow(
            name: "prior",
            field: .flag(\.prior),
            documentation: "Whether predictions use what many people's usage has in common, or "
                + "only what was observed on this device."
        ),
        SettingRow(
            name: "wake-price",
            field: .count(\.wakePrice, 0...1000),
            documentation: "Cost of waking a sleeping device, in percent of a refresh: the "
                + "higher, the more refreshes share a wake; 0: no cost. On a charger there is "
                + "no cost."
        ),
        SettingRow(
            name: "waking-from",
            field: .timeOfDay(\.wakingFrom),
            documentation: "When the user's day begins, while the user's habits are unknown."
        ),
        SettingRow(
            name: "waking-until",
            field: .timeOfDay(\.wakingUntil),
            documentation: "When the user's day ends."
        ),
        SettingRow(
            name: "shared-wake",
            field: .interval(\.sharedWake, day),
            documentation: "Interval between the common times at which refreshes start; 0: no "
                + "common times."
        ),
        SettingRow(
            name: "refresh-on-metered",
            field: .flag(\.refreshOnMetered),
            documentation: "Whether refreshes may use a metered network."
        ),
        SettingRow(
            name: "processing-interval",
            field: .interval(\.processingInterval, month),
            documentation: "The default of ProcessingInterval=."
        ),
    ]

    private static let gates: [SettingRow] = [
        SettingRow(
            name: "battery-limit",
            field: .count(\.batteryLimit, 0...100),
            documentation: "Percent of charge below which nothing discretionary runs off the "
                + "charger."
        ),
        SettingRow(
            name: "battery-margin",
            field: .count(\.batteryMargin, 0...50),
            documentation: "Percent above battery-limit at which it runs again."
        ),
        SettingRow(
            name: "settle-time",
            field: .interval(\.settleTime, .zero ... .minutes(10)),
            documentation: "How long network or power must be back before processing that "
                + "requires it starts."
        ),
        SettingRow(
            name: "idle-load",
            field: .count(\.idleLoad, 0...10_000),
            documentation: "If no source reports use, the device counts as idle while both are "
                + "below this percentage: the load of all processors, and the share of the last "
                + "minute in which tasks waited for a processor."
        ),
        SettingRow(
            name: "unused-limit",
            field: .interval(\.unusedLimit, year),
            documentation: "An app that was not used for this time is not run (iOS 13)."
        ),
        SettingRow(
            name: "dropped-after",
            field: .interval(\.droppedAfter, year),
            documentation: "Requests of an app that was not used for this time are dropped."
        ),
        SettingRow(
            name: "back-off",
            field: .interval(\.backOff, month),
            documentation: "Wait after a failure; doubles with each further failure in a row."
        ),
        SettingRow(
            name: "back-off-limit",
            field: .interval(\.backOffLimit, month),
            documentation: "The longest wait after failures, and the longest wait by "
                + "launch-spacing."
        ),
        SettingRow(
            name: "launch-spacing",
            field: .interval(\.launchSpacing, month),
            documentation: "If an app submits a task again with a date earlier than this after "
                + "its last launch, the task waits this long, from the second time on; doubles "
                + "with each time in a row."
        ),
        SettingRow(
            name: "run-slots",
            field: .count(\.runSlots, 1...1000),
            documentation: "How many runs may be in progress at once; never more than one of "
                + "processing."
        ),
        SettingRow(
            name: "pause-after-boot",
            field: .interval(\.pauseAfterBoot, day),
            documentation: "Nothing starts within this time after the device has booted."
        ),
        SettingRow(
            name: "pause-after-resume",
            field: .interval(\.pauseAfterResume, day),
            documentation: "Nothing starts within this time after the device has woken up."
        ),
        SettingRow(
            name: "pause-after-start",
            field: .interval(\.pauseAfterStart, day),
            documentation: "Nothing starts within this time after the daemon has started."
        ),
        SettingRow(
            name: "wake-from-sleep",
            field: .wakeFromSleep,
            documentation: "When a sleeping device is woken for work: off, charger (on external "
                + "power) or on. It goes back to sleep when the work is done and nobody uses it."
        ),
    ]

    private static let transfers: [SettingRow] = [
        SettingRow(
            name: "transfer-slots",
            field: .count(\.transferSlots, 1...64),
            documentation: "How many transfers run side by side. One with several connections "
                + "counts as several."
        ),
        SettingRow(
            name: "transfers-per-host",
            field: .count(\.transfersPerHost, 1...32),
            documentation: "How many of them run from one host. No download has more connections."
        ),
        SettingRow(
            name: "discretionary-wait",
            field: .interval(\.discretionaryWait, month),
            documentation: "How long a discretionary transfer waits for the device to be idle on "
                + "external power."
        ),
        SettingRow(
            name: "transfer-proxy",
            field: .proxy(\.transferProxy),
            documentation: "Proxy of transfers that name none, as a URL. If it is empty, the "
                + "daemon's environment says."
        ),
    ]

    private static let rest: [SettingRow] = [
        SettingRow(
            name: "app-wakes-per-day",
            field: .count(\.appWakesPerDay, 0...1_000_000),
            documentation: "Daily quota of wakes for one app, off the charger."
        ),
        SettingRow(
            name: "app-time-per-day",
            field: .interval(\.appTimePerDay, day),
            documentation: "Daily quota of run time for one app, off the charger."
        ),
        SettingRow(
            name: "device-wakes-per-day",
            field: .count(\.deviceWakesPerDay, 0...1_000_000),
            documentation: "Daily quota of wakes for all apps together, off the charger."
        ),
        SettingRow(
            name: "device-time-per-day",
            field: .interval(\.deviceTimePerDay, month),
            documentation: "Daily quota of run time for all apps together, off the charger."
        ),
        SettingRow(
            name: "pending-refreshes",
            field: .count(\.pendingRefreshes, 1...1000),
            documentation: "Maximum number of pending refresh requests of an app (iOS 13)."
        ),
        SettingRow(
            name: "pending-processing",
            field: .count(\.pendingProcessing, 1...1000),
            documentation: "Maximum number of pending processing requests of an app (iOS 13)."
        ),
        SettingRow(
            name: "failures-before-command",
            field: .count(\.failuresBeforeCommand, 1...1000),
            documentation: "Number of failures in a row after which failure-command runs, once."
        ),
        SettingRow(
            name: "failure-command",
            field: .text(\.failureCommand),
            documentation: "Command to run after repeated failures, with OFFSTAGE_APP, "
                + "OFFSTAGE_FAILURES and OFFSTAGE_REASON set."
        ),
        SettingRow(
            name: "history-lines",
            field: .count(\.historyLines, 100...10_000_000),
            documentation: "Number of history lines that are kept."
        ),
        SettingRow(
            name: "history-age",
            field: .interval(\.historyAge, .days(1)...Interval.days(3660)),
            documentation: "How long history lines are kept."
        ),
    ]

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

    /// Why `set` does not take `text`, as it goes on after the value, and what to write instead.
    package func mistake(in text: String) -> (reason: String, fix: String) {
        let usual = (reason: "is not a value of it", fix: "Write \(choices).")
        switch field {
        case .interval:
            guard Interval(text) == nil else { return ("is out of bounds", usual.fix) }
            let mistake = Interval.mistake(in: text)
            return mistake.reason == "has no unit" ? mistake : usual
        case .text: return ArgumentList.mistake(in: text) ?? usual
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
