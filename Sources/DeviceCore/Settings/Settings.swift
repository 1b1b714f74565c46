package import Vocabulary

/// Everything about the behaviour that can be set. Defaults are those of the profile `apple`;
/// `SettingRow.table` gives each its name, unit and documentation.
package struct Settings: Hashable, Sendable, Codable {
    package var profile = "apple"

    // Grants, in awake time.
    package var finishUp = Interval.seconds(180)
    package var enteringBackground = Interval.seconds(5)
    package var wakeGrant = Interval.seconds(30)
    package var taskBeyondWake = Interval.seconds(5)
    package var processingGrant = Interval.minutes(5)
    package var processingGrantCharging = Interval.minutes(30)
    package var expiryWarning = Interval.seconds(5)
    package var suspendDelay = Interval.seconds(5)
    package var launchWatchdog = Interval.seconds(20)
    package var stopTimeout = Interval.seconds(5)
    package var probeLimit = Interval.seconds(10)
    package var interruptedLimit = Interval.days(1)

    // Limits in the background.
    package var memoryLimit: Int64 = 200 << 20
    package var cpuLimit: Int64 = 80
    package var cpuWindow = Interval.seconds(60)
    package var lockCheckDelay = Interval.seconds(5)
    package var logSize: Int64 = 1 << 20

    // Refreshes.
    package var backgroundRefresh = true
    package var minimumRefreshInterval = Interval.minutes(15)
    package var refreshesPerDay: Int64 = 24
    package var sharedBudget = true
    package var prior = true
    package var wakePrice: Int64 = 16
    package var wakingFrom = Interval.hours(7)
    package var wakingUntil = Interval.hours(23)
    package var sharedWake = Interval.minutes(5)
    package var refreshOnMetered = true
    package var processingInterval = Interval.days(1)

    // Gates.
    package var batteryLimit: Int64 = 20
    package var batteryMargin: Int64 = 3
    package var settleTime = Interval.seconds(5)
    package var idleLoad: Int64 = 20
    package var idlePatience = Interval.minutes(5)
    package var thermalMargin: Int64 = 3
    package var memoryCalm = Interval.seconds(4)
    package var unusedLimit = Interval.days(7)
    package var droppedAfter = Interval.days(30)
    package var backOff = Interval.minutes(15)
    package var backOffLimit = Interval.hours(4)
    package var launchSpacing = Interval.minutes(5)
    package var runSlots: Int64 = 4
    package var pauseAfterBoot = Interval.seconds(60)
    package var pauseAfterResume = Interval.seconds(10)
    package var pauseAfterStart = Interval.seconds(5)
    package var wakeFromSleep = WakeFromSleep.charger

    // Quotas, per local day; not counted on external power.
    package var appWakesPerDay: Int64 = 150
    package var appTimePerDay = Interval.hours(1)
    package var deviceWakesPerDay: Int64 = 1000
    package var deviceTimePerDay = Interval.hours(4)

    // Requests.
    package var pendingRefreshes: Int64 = 1
    package var pendingProcessing: Int64 = 10

    // Transfers.
    package var transferSlots: Int64 = 32
    package var transfersPerHost: Int64 = 6
    package var downloadLimit: Int64 = 1 << 40
    package var discretionaryWait = Interval.hours(12)
    package var transferProxy = ""

    // Failures.
    package var failuresBeforeCommand: Int64 = 3
    package var failureCommand = ""
    package var failureAge = Interval.days(1)

    // History.
    package var historyLines: Int64 = 20_000
    package var historyAge = Interval.days(90)

    /// What is set for single apps, by id.
    package var apps: [AppSettings] = []

    /// What the administrator of the machine has set, which the user cannot change.
    package var enforced: [EnforcedSetting] = []

    package init() {}

    package func isEnforced(_ name: String, app: AppID?) -> Bool {
        enforced.contains(EnforcedSetting(name: name, app: app))
    }

    /// Whether what the user sets has no effect.
    package func isOverruled(_ name: String, app: AppID?) -> Bool {
        isEnforced(name, app: app) || app.map { isRefreshRestricted(of: $0) } == true
    }

    /// Nobody at this device can turn it on again.
    package func isRefreshRestricted(of app: AppID) -> Bool {
        let name = SettingsText.appSetting
        return !backgroundRefresh && isEnforced(name, app: nil)
            || !self.app(app).backgroundRefresh && isEnforced(name, app: app)
    }

    var budgetScope: RefreshBudgetScope { sharedBudget ? .device : .app }

    /// Settings of one app; the defaults when nothing is set.
    package func app(_ id: AppID) -> AppSettings {
        apps.first { $0.app == id } ?? AppSettings(app: id)
    }
}

extension Shared<Settings> {
    /// As `app(_:)`, which is asked often of a copy of all.
    func isRefreshOn(of app: AppID) -> Bool {
        value.backgroundRefresh
            && !value.apps.contains { $0.app == app && !$0.backgroundRefresh }
    }
}

/// One setting, of one app or of all.
package struct EnforcedSetting: Hashable, Sendable, Codable {
    package var name: String
    package var app: AppID?
}

/// What the user may set for one app.
package struct AppSettings: Hashable, Sendable, Codable {
    package var app: AppID
    package var backgroundRefresh = true

    package init(app: AppID) { self.app = app }
}
