import Vocabulary

/// A daemon starts: what the store remembers of a launch meets what the machine shows.
extension Launch {
    mutating func recovered(
        _ survivor: Survivor?,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        isConnected = false
        if !goesOn(as: survivor) { leftUnseen(facts) }
        if phase == .judging {
            // The exit is committed; what it means is asked again.
            probe.step = nil
            guard let exit else {
                let reason = "its exit was not observed"
                return isOver(.unknown, reason: reason, facts, &actions)
            }
            commandExited(exit, facts, &actions)
        } else if survivor?.process ?? process == nil {
            // The program never began, and never will.
            let reason = "the daemon exited before the run was started"
            if isCommand {
                actions += [.append(.note(reason)), .undo]
            } else {
                countAnew(facts)
                isOver(.unknown, reason: reason, facts, &actions)
            }
        } else if let process = survivor?.living {
            adopted(process, facts, &actions)
        } else {
            if let request { actions.append(.claim(request, .running(id))) }
            exited(.unknown, nil, facts, &actions)
        }
    }

    /// Whether a daemon that starts leaves it running, by what it found of its process.
    func goesOn(as survivor: Survivor?) -> Bool {
        survivor?.living != nil && phase != .judging
    }

    /// When its use ended is unknown. Runs in the foreground have no end: no more is counted of one
    /// than it would have had in the background.
    private mutating func leftUnseen(_ facts: LaunchFacts) {
        guard presence == .foreground else { return }
        presence = .background
        guard let wake else { return }
        for slot in deliveries.indices {
            let began = (deliveries[slot].began ?? wake.began).awake
            deliveries[slot].end = began + facts.grant(for: deliveries[slot].trigger.grant)
        }
        let last = deliveries.map(\.end).max() ?? wake.began.awake
        self.wake?.end = last
    }

    /// Its run has taken no time: it never began, or by the clocks of a boot that is gone.
    private mutating func countAnew(_ facts: LaunchFacts) {
        wake?.began = facts.now
        for slot in deliveries.indices { deliveries[slot].began = nil }
    }

    /// It lives: every state that was wanted is applied again, since the keeper may have thawed it.
    private mutating func adopted(
        _ process: ProcessID,
        _ facts: LaunchFacts,
        _ actions: inout [LaunchAction]
    ) {
        if self.process == nil {
            let end = wake?.end
            started(process, facts, &actions)
            // It has been running since before this daemon: no new grant.
            if let end { wake?.end = end }
        }
        actions.append(.emit(isFrozen ? .freeze(id) : .thaw(id)))
        if let ending {
            actions.append(.emit(ending.killAt == nil ? .kill(id) : .terminate(id)))
        } else {
            if role == .main {
                // The daemon may have died between the user's leaving and this.
                let isForeground = presence == .foreground
                actions.append(.emit(.weigh(id, isForeground ? .foreground : .background)))
            }
            // Set anew: the settings, or what this machine can limit, may be others now.
            let limit = presence == .background ? facts.memoryLimit : nil
            actions.append(.emit(.limitMemory(id, limit)))
        }
        // The daemon may have died between its commit and this.
        deadline = nil
    }

    /// A command whose exit was not committed is run again, unless it was cancelled; one that had
    /// ended, and what an app had received, is ended as unknown.
    mutating func rebooted(_ facts: LaunchFacts, _ actions: inout [LaunchAction]) {
        isConnected = false
        let reason = "the device was restarted"
        countAnew(facts)
        guard isCommand else {
            reopen = false
            // When its use ended is unknown.
            if presence == .foreground { presence = .background }
            return isOver(.unknown, reason: reason, facts, &actions)
        }
        if exit != nil {
            let reason = "\(reason) before its result was read"
            return isOver(.unknown, reason: reason, facts, &actions)
        }
        if ending?.reason == .cancelled {
            return isOver(.terminated(.cancelled), reason: reason, facts, &actions)
        }
        if let wake {
            actions.append(.report(report(wake, .unknown, reason: reason, facts.now)))
            self.wake = nil
        }
        if let request { actions.append(.settle(request, .lost)) }
        actions.append(.remove)
    }
}
