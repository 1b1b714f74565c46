package import Vocabulary

/// What the process of an app was told of the device, on its connection.
struct ConditionWatch: Hashable, Sendable, Codable {
    let launch: LaunchID
    var told: DeviceConditions
}

/// The device as apps see it, and its screen.
extension Device {
    /// As apps are told. What no source says is nil.
    package var conditionsForApps: DeviceConditions {
        var told = DeviceConditions()
        told.battery = conditions.known(.battery).map(Int64.init)
        told.power = conditions.known(.power).map { $0 == 1 }
        told.network = conditions.known(.network).map {
            switch $0 {
            case 0: Word(.off)
            case 1: Word(.portal)
            case _: Word(.on)
            }
        }
        told.metered = conditions.known(.metered).map { $0 == 1 }
        told.lowData = conditions.known(.lowData).map { $0 == 1 }
        told.lowPower = conditions.known(.lowPower).map { $0 == 1 }
        told.thermal = conditions.known(.thermal).map {
            switch $0 {
            case 0: Word(.nominal)
            case 1: Word(.fair)
            case 2: Word(.serious)
            case _: Word(.critical)
            }
        }
        return told
    }

    /// What a launch watches, if it is not what it was told last.
    func changedConditions(of index: Int, _ launch: LaunchID) -> DeviceConditions? {
        guard let watch = apps[index].watch, watch.launch == launch else { return nil }
        let now = conditionsForApps
        return now == watch.told ? nil : now
    }

    mutating func watchConditions(
        of index: Int,
        _ launch: LaunchID,
        _ reply: ReplyToken,
        _ transition: inout Transition
    ) {
        let now = conditionsForApps
        apps[index].watch = ConditionWatch(launch: launch, told: now)
        transition.reply(reply, .conditions(now))
    }

    mutating func toldConditions(_ told: DeviceConditions, _ index: Int, _ launch: LaunchID) {
        if apps[index].watch?.launch == launch { apps[index].watch?.told = told }
    }

    /// An app's next launch may have said something while the end of the last was on its way.
    mutating func setIdleTimer(isDisabled: Bool, _ index: Int, _ launch: LaunchID) {
        if isDisabled {
            apps[index].idleTimerIsDisabledBy = launch
        } else if apps[index].idleTimerIsDisabledBy == launch {
            apps[index].idleTimerIsDisabledBy = nil
        } else {
            return
        }
        for launchIndex in apps[index].launches.indices { updateClaims(of: index, launchIndex) }
    }

    /// Tells the apps that run; one that is suspended is told when it goes on.
    mutating func tellConditions(after condition: Condition, _ transition: inout Transition) {
        guard condition.isToldToApps else { return }
        for entry in liveLaunches where apps[entry.app].watch?.launch == entry.launch {
            take(.conditionsChanged, entry.launch, &transition)
        }
    }

    /// The connection of a launch is new, or gone, and with it what was asked on it.
    mutating func forgetLink(of launch: LaunchID, _ index: Int) {
        leaveSessions(of: launch, index)
        if apps[index].watch?.launch == launch { apps[index].watch = nil }
        setIdleTimer(isDisabled: false, index, launch)
    }

    /// The screen stays on for an app that wants that, while its user looks at it: not while it is
    /// locked. Where no source says so, it is not.
    mutating func updateIdleInhibition(_ transition: inout Transition) {
        let isLocked = conditions.known(.locked).map { $0 != 0 } ?? false
        let inhibits = !isLocked && liveLaunches.count(.screen) > 0
        guard inhibits != isIdleInhibited else { return }
        isIdleInhibited = inhibits
        transition.emit(.inhibitIdle(inhibits))
    }
}

extension Conditions {
    /// Nil: no source says it now.
    fileprivate func known(_ condition: Condition) -> Int? {
        switch self[condition].sensing {
        case .known, .noDevice: value(condition)
        case .unknown, .lost: nil
        }
    }
}

extension Condition {
    /// Whether it is in `DeviceConditions`.
    fileprivate var isToldToApps: Bool {
        switch self {
        case .battery, .power, .network, .metered, .lowData, .lowPower, .thermal: true
        case .locked, .idle, .memory, .storage: false
        }
    }
}
