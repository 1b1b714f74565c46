import Vocabulary

extension SettingRow {
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
            documentation: "How long before the end of the grant the expiration handler is called. "
                + "If the daemon was killed, the process that stands in for it asks commands to "
                + "end 5 s before."
        ),
        SettingRow(
            name: "suspend-delay",
            field: .interval(\.suspendDelay, day),
            documentation: "How long an app without background tasks runs after the user left it, "
                + "if it can be suspended."
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
            documentation: "Whether refreshes may use a metered network, or run in low-data mode."
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
            documentation: "How long network or power must have been back before work that "
                + "requires it starts: processing and discretionary transfers."
        ),
        SettingRow(
            name: "idle-load",
            field: .count(\.idleLoad, 0...10_000),
            documentation: "If no source reports use, the device counts as idle while both are "
                + "below this percentage: the load of all processors, and the share of the last "
                + "minute in which tasks waited for a processor."
        ),
        SettingRow(
            name: "idle-patience",
            field: .interval(\.idlePatience, .seconds(10)...Interval.days(1)),
            documentation: "Time without input after which Mutter or the X server is to report "
                + "the device idle. logind and screen savers have their own."
        ),
        SettingRow(
            name: "thermal-margin",
            field: .count(\.thermalMargin, 0...50),
            documentation: "Degrees Celsius below the start of a thermal level at which it ends."
        ),
        SettingRow(
            name: "memory-calm",
            field: .interval(\.memoryCalm, .seconds(3)...Interval.hours(1)),
            documentation: "Time without a report of the kernel after which memory pressure is "
                + "over."
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
            documentation: "Nothing starts by itself within this time after "
                + "the device has booted, except transfers that are not discretionary."
        ),
        SettingRow(
            name: "pause-after-resume",
            field: .interval(\.pauseAfterResume, day),
            documentation: "Nothing starts by itself within this time after "
                + "the device has woken up, except transfers that are not discretionary."
        ),
        SettingRow(
            name: "pause-after-start",
            field: .interval(\.pauseAfterStart, day),
            documentation: "Nothing starts by itself within this time after "
                + "the daemon has started, except transfers that are not discretionary."
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
            name: "download-limit",
            field: .bytes(\.downloadLimit, (1 << 20)...(1 << 50)),
            documentation: "The most bytes that a downloaded file may have. A larger one fails: at "
                + "once if its server says its size."
        ),
        SettingRow(
            name: "discretionary-wait",
            field: .interval(\.discretionaryWait, month),
            documentation: "How long a discretionary transfer waits for the device to be idle on "
                + "external power. It never waits longer than half of its time."
        ),
        SettingRow(
            name: "transfer-proxy",
            field: .proxy(\.transferProxy),
            documentation: "Proxy of transfers that name none, as a URL. If it is empty, the "
                + "daemon's environment applies."
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
        // A command that has ended is remembered for a week.
        SettingRow(
            name: "failure-age",
            field: .interval(\.failureAge, .zero...Interval.days(7)),
            documentation: "How long \"offstage status\" lists the failure of what is not "
                + "tried again, such as a command that was submitted for one run; \"offstage "
                + "dismiss\" ends that at once."
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
}
