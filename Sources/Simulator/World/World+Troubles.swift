import DeviceCore
import Vocabulary

/// Weather: what the device's surroundings do to it.
extension World {
    private static let troubles: [(fault: Fault, perMonth: Int)] = [
        (.storeFull, 6), (.storeFailing, 4), (.stopped, 12), (.reboot, 6), (.clockForward, 5),
        (.clockBack, 5),
        (.zoneChange, 5), (.memoryPressure, 20), (.thermal, 10), (.sensorLost, 8),
        (.networkLost, 60), (.metered, 20), (.lowData, 20), (.lowPower, 10),
        (.manifestInvalid, 8), (.manifestRemoved, 8), (.manifestEdited, 12),
        (.settingsChanged, 8),
    ]

    func planTroubles() {
        for trouble in Self.troubles { planNext(trouble.fault) }
    }

    private func planNext(_ fault: Fault) {
        guard let trouble = Self.troubles.first(where: { $0.fault == fault }) else { return }
        let weight = swarm.weight(fault)
        let mean = Interval.days(30).nanoseconds / Int64(trouble.perMonth * max(1, weight)) * 5
        let delay = Interval(nanoseconds: random.within(mean / 10...mean * 2))
        if weight > 0 { plan(.trouble(fault), after: delay) }
    }

    func begin(_ fault: Fault) {
        planNext(fault)
        let length = Interval.milliseconds(random.within(1_000...1_800_000))
        let index = random.below(max(1, plans.count - 1))
        let step = Interval.minutes(random.within(1...3_000))
        guard swarm.allows() else { return }
        swarm.count(fault)
        switch fault {
        case .storeFull: storeTrouble = 1
        case .storeFailing: storeTrouble = 2
        case .stopped: isStopping = daemonIsAlive
        case .reboot: rebootIsDue = true
        case .clockForward: setClock(by: step)
        case .clockBack: setClock(by: .zero - step)
        case .zoneChange:
            clock.setZone(3600 * Int32(random.within(-11...13)))
            if daemonIsAlive { inbox.append(.clockChanged) }
        case .memoryPressure: report(.memory, .value(2))
        case .thermal: report(.thermal, .value(random.chance(1, in: 3) ? 3 : 2))
        case .sensorLost: report(.network, .lost)
        case .networkLost: report(.network, .value(random.chance(1, in: 3) ? 1 : 0))
        case .metered: report(.metered, .value(1))
        case .lowData: report(.lowData, .value(1))
        case .lowPower: report(.lowPower, .value(1))
        case .manifestInvalid: plans[index].problem = "line 3: no such key"
        case .manifestRemoved: plans[index].isInstalled = false
        case .manifestEdited: edit(index)
        case .settingsChanged: drawSettings()
        case .killBeforeCommit, .killInCommit, .killAfterCommit, .killBetweenEffects,
            .longOutage, .lostWrites, .lateTimer, .spuriousTimer, .noRoomForFile,
            .noRoomForProcess, .notStarted, .exitRetry,
            .exitFailed,
            .commandCrash, .neverEnds, .ignoresTerm, .probeSilent, .appCrash,
            .crashBeforeReceipt, .neverAccepts, .neverCompletes, .completesTwice, .launchLate,
            .launchNever, .disconnect, .stopsReading, .taskNeverEnded, .outlivesGrant,
            .declines, .connectsTwice,
            .memoryHog, .cpuHog, .fileLock, .retriedToken, .cancelled, .paused, .closed,
            .simulated, .userInitiated, .fetched, .connectionLost, .objectChanged, .badServer,
            .networkKilled, .unauthorized:
            break
        }
        switch fault {
        case .manifestInvalid, .manifestRemoved: tellManifest(index)
        case _: break
        }
        plan(.troubleEnds(fault), after: length)
    }

    func end(_ fault: Fault) {
        switch fault {
        case .storeFull, .storeFailing:
            storeTrouble = nil
            settledSince = clock.elapsed
        case .memoryPressure: report(.memory, .value(0))
        case .thermal: report(.thermal, .value(0))
        case .sensorLost, .networkLost: report(.network, .value(2))
        case .metered: report(.metered, .value(0))
        case .lowPower: report(.lowPower, .value(0))
        case .lowData: report(.lowData, .value(0))
        case .manifestInvalid, .manifestRemoved:
            for index in plans.indices.dropLast()
            where plans[index].problem != nil || !plans[index].isInstalled {
                plans[index].problem = nil
                plans[index].isInstalled = true
                tellManifest(index)
            }
        case _: break
        }
    }

    private func tellManifest(_ index: Int) {
        guard daemonIsAlive, index < plans.count - 1 else { return }
        inbox.append(.manifests([plans[index].change]))
    }

    private func edit(_ index: Int) {
        guard index < plans.count - 1 else { return }
        switch random.below(4) {
        case 0:
            plans[index].manifest.refreshInterval = .minutes(random.within(15...300))
        case 1:
            plans[index].manifest.modes =
                random.chance(1, in: 2) ? [.fetch, .processing] : [.fetch]
        case 2:
            plans[index].manifest.processingNeeds.power = random.chance(1, in: 2)
        case _:
            plans[index].manifest.memoryLimit = random.chance(1, in: 2) ? 100 << 20 : nil
        }
        tellManifest(index)
    }

    private func setClock(by step: Interval) {
        clock.setWall(by: step)
        if daemonIsAlive { inbox.append(.clockChanged) }
    }

    func drawSettings() {
        var new = Settings()
        new.refreshesPerDay = [1, 4, 8, 24][random.below(4)]
        new.runSlots = [1, 2, 4, 8][random.below(4)]
        new.appWakesPerDay = [2, 5, 20, 150][random.below(4)]
        new.deviceWakesPerDay = [10, 100, 1_000, 1_000][random.below(4)]
        new.sharedWake = .minutes([0, 1, 5, 15][random.below(4)])
        new.sharedBudget = !random.chance(1, in: 3)
        new.prior = !random.chance(1, in: 4)
        new.wakePrice = [0, 8, 8, 200][random.below(4)]
        new.backgroundRefresh = !random.chance(1, in: 10)
        new.failureCommand = random.chance(1, in: 2) ? "notify" : ""
        // From numbers of its own, so that the rest of a seed stays as it is.
        settingsDrawn += 1
        new.wakeFromSleep = [.on, .charger, .on, .off][settingsDrawn % 4]
        settings = new
        if daemonIsAlive { inbox.append(.settings(new)) }
    }

    /// The battery, which only goes up or down.
    func drift() {
        plan(.drift, after: .minutes(20))
        guard case .value(let charge)? = sensors[Condition.battery.index] else { return }
        let step = value(.power) == 1 ? 5 : (user.isActive ? -3 : -1)
        report(.battery, .value(min(100, max(1, charge + step))))
        if value(.battery) < 8, !user.isActive { report(.power, .value(1)) }
    }
}
