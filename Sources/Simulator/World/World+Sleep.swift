import DeviceCore
import Vocabulary

/// How the virtual machine falls asleep, and is awake again.
struct SleepState {
    /// It prepares, and sleeps in a moment.
    var isPreparing = false
    /// NetworkManager has taken the network down for a sleep. What the world says of the network
    /// stays as it is: that is no change of it.
    var networkIsDown = false
    /// The alarm of a machine that prepares for sleep with nothing due; nil: it had none, or
    /// something else happens meanwhile.
    var alarm: BootTime?
    /// Numbers of its own, so that the rest of a seed stays as it is.
    var random = SeededRandom(seed: 0x534C_4550)
}

extension World {
    /// What logind does: it says so to all who listen, and waits a moment for them.
    func doze(_ plan: Int) {
        guard plan == dozePlan, !isHeldAwake, !user.isActive else { return }
        sleepState.isPreparing = true
        self.plan(.sleep, after: .milliseconds(5))
        guard daemonIsAlive else { return }
        sleepState.alarm = armed.first.map { $0 > now.boot } ?? false ? armed.alarm : nil
        if !inbox.isEmpty { sleepState.alarm = nil }
        inbox.append(.sleep(.begins))
        guard sensing(.network) == .known, value(.network) == 2,
            sleepState.random.chance(1, in: 2)
        else { return }
        sleepState.networkIsDown = true
        inbox.append(.condition(.network, .kernel, .value(0)))
    }

    func sleepAsPrepared() {
        guard sleepState.isPreparing else { return }
        sleepState.isPreparing = false
        sleepState.alarm = nil
        if isHeldAwake || user.isActive || clock.isAsleep { tellSleepEnded() } else { fallAsleep() }
    }

    /// logind tells of each return from sleep, whoever caused it.
    func tellSleepEnded() {
        send(.sleep(.ended), after: .zero)
        guard sleepState.networkIsDown else { return }
        plan(
            .networkReturns(life: life),
            after: .milliseconds(sleepState.random.within(100...8_000))
        )
    }

    func networkReturns(_ life: Int) {
        guard sleepState.networkIsDown else { return }
        sleepState.networkIsDown = false
        // A daemon that has started since has asked for itself.
        guard life == self.life, daemonIsAlive, let reading = reading(.network) else { return }
        inbox.append(.condition(.network, .kernel, reading))
    }
}

extension Event {
    /// What logind and NetworkManager say as the machine prepares for sleep.
    var isOfSleep: Bool {
        switch self {
        case .sleep, .condition(.network, _, _): true
        case .started, .timer, .clockChanged, .manifests, .settings, .condition, .process, .app,
            .used, .triggered, .transfer, .user, .storageRecovered, .stopping:
            false
        }
    }
}
