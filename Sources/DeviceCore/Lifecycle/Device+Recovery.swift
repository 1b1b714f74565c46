import Vocabulary

/// A daemon starts: what the store remembers meets what the machine shows.
extension Device {
    mutating func started(_ start: Start, _ transition: inout Transition) {
        if seed == 0 { seed = max(0, start.seed) }
        let rebooted = bootID != start.bootID
        if rebooted {
            bootID = start.bootID
            carryPause(transition.now)
            conditions.rebooted()
            endUseUnseen()
        }
        startedAt = transition.now.boot
        save(.device)
        if let settings = start.settings { settingsChanged(settings, &transition) }
        // Before anything is judged by them, or by their absence.
        let manifests = start.manifests ?? []
        for change in manifests {
            if case .present(let manifest) = change { present(manifest, &transition) }
        }
        let strangers = start.survivors.filter { survivor in
            !owners.contains { $0.launch == survivor.launch }
        }
        for owner in owners {
            recover(
                owner.launch,
                rebooted ? nil : start.survivors.first { $0.launch == owner.launch },
                rebooted: rebooted,
                &transition
            )
        }
        for survivor in strangers {
            // Not in the store: nobody will ever complete it.
            if survivor.alive { transition.emit(.kill(survivor.launch)) }
            transition.emit(.release(survivor.launch))
        }
        for index in usedIndices { stopWhatIsNotAllowed(index, &transition) }
        if start.manifests != nil { loseWithout(manifests, &transition) }
        for report in start.conditions {
            conditionReported(report.condition, report.source, report.reading, &transition)
        }
        touchAll()
    }

    /// What was in use when the device went down was used until nobody knows when: of all, last.
    private mutating func endUseUnseen() {
        use.leftUnseen()
        let last = usedIndices.compactMap { apps[$0].record.lastUsed }.max()
        for index in usedIndices {
            apps[index].record.refresh.leftUnseen()
            for launchIndex in apps[index].launches.indices
            where apps[index].launches[launchIndex].presence == .foreground {
                apps[index].launches[launchIndex].presence = .background
                apps[index].record.lastUsed = last
                save(app: index)
            }
        }
    }

    /// A pause for a while goes on; it counted a boot time that is gone. Never longer than it was
    /// to be, should the clock have been lost.
    private mutating func carryPause(_ now: Moment) {
        guard case .until = pause else { return }
        guard let ends = pauseEnds, let since = pausedAt, ends > now.wall else {
            endPause()
            return
        }
        pause = .until(now.boot + min(ends - now.wall, ends - since))
    }

    /// Apps whose manifest went, or broke, while no daemon ran.
    private mutating func loseWithout(_ manifests: [ManifestChange], _ transition: inout Transition)
    {
        for change in manifests {
            switch change {
            case .present: break
            case .invalid, .removed: manifest(change, &transition)
            }
        }
        for index in usedIndices where apps[index].manifest == nil && apps[index].problem == nil {
            manifest(.removed(apps[index].id), &transition)
        }
    }

    private mutating func recover(
        _ id: LaunchID,
        _ survivor: Survivor?,
        rebooted: Bool,
        _ transition: inout Transition
    ) {
        guard let (index, launchIndex) = find(id) else { return }
        apps[index].launches[launchIndex].isConnected = false
        let launch = apps[index].launches[launchIndex]
        if rebooted {
            endAcrossBoot(launch, index, &transition)
        } else if launch.phase == .judging {
            // The exit is committed; what it means is asked again.
            askAgain(launch, index, launchIndex, &transition)
        } else if survivor?.process ?? launch.process == nil {
            // What was about to become its program.
            if survivor?.alive == true { transition.emit(.kill(id)) }
            endUnstarted(launch, index, &transition)
        } else if survivor?.alive == true {
            adopt(launch, survivor?.process, index, launchIndex, &transition)
        } else {
            if launch.isCommand, let request = launch.request {
                setState(.running(id), of: request, in: index)
            }
            process(id, .exited(.unknown, nil), &transition)
        }
    }

    /// A command whose exit was not committed is run again, unless it was cancelled; one that had
    /// ended, and what an app had received, is ended as unknown.
    private mutating func endAcrossBoot(
        _ launch: Launch,
        _ index: Int,
        _ transition: inout Transition
    ) {
        guard let launchIndex = apps[index].index(of: launch.id) else { return }
        let reason = "the device was restarted"
        guard launch.isCommand else {
            apps[index].launches[launchIndex].reopen = false
            endApp(launch.id, .unknown, reason: reason, &transition)
            return
        }
        // It counts the clocks of a boot that is gone.
        apps[index].launches[launchIndex].wake?.began = transition.now
        if launch.exit != nil {
            endCommand(
                launch.id,
                .unknown,
                reason: "\(reason) before its result was read",
                &transition
            )
            return
        }
        if launch.ending?.reason == .cancelled {
            endCommand(launch.id, .terminated(.cancelled), reason: reason, &transition)
            return
        }
        let stopped = apps[index].launches[launchIndex]
        if let wake = stopped.wake {
            report(
                line(of: stopped, wake, .unknown, reason: reason, transition.now),
                of: index,
                &transition
            )
            countWake(stopped, by: -1)
            apps[index].launches[launchIndex].wake = nil
        }
        if let request = launch.request { settle(request, of: index, after: .lost, &transition) }
        remove(launch.id, from: index, &transition)
    }

    /// The marker is empty: the program never began.
    private mutating func endUnstarted(
        _ launch: Launch,
        _ index: Int,
        _ transition: inout Transition
    ) {
        if launch.isCommand {
            appendHistory(
                .note("the daemon exited before the run was started"),
                app: index,
                &transition
            )
            undo(launch, of: index, &transition)
        } else {
            endApp(
                launch.id,
                .unknown,
                reason: "the daemon exited before the run was started",
                &transition
            )
        }
    }

    /// It lives: every state that was wanted is applied again, since the keeper may have thawed it.
    private mutating func adopt(
        _ launch: Launch,
        _ process: ProcessID?,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        if launch.process == nil, let process {
            self.process(launch.id, .started(process), &transition)
            // It has been running since before this daemon: no new grant.
            if let launchIndex = apps[index].index(of: launch.id), let end = launch.wake?.end {
                apps[index].launches[launchIndex].wake?.end = end
            }
        }
        guard let launchIndex = apps[index].index(of: launch.id) else { return }
        let adopted = apps[index].launches[launchIndex]
        transition.emit(adopted.isFrozen ? .freeze(launch.id) : .thaw(launch.id))
        if adopted.role == .main, adopted.ending == nil {
            // The daemon may have died between the user's leaving and this.
            let weight: Weight = adopted.presence == .foreground ? .foreground : .background
            transition.emit(.weigh(launch.id, weight))
        }
        if adopted.ending == nil {
            // Set anew: the settings, or what this machine can limit, may be others now.
            let limit = adopted.presence == .background ? memoryLimit(of: apps[index]) : nil
            transition.emit(.limitMemory(launch.id, limit))
        }
        if let ending = adopted.ending {
            transition.emit(ending.killAt == nil ? .kill(launch.id) : .terminate(launch.id))
        }
        // The daemon may have died between its commit and this.
        apps[index].launches[launchIndex].deadline = nil
        touch(index)
    }

    private mutating func askAgain(
        _ launch: Launch,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        apps[index].launches[launchIndex].probe.step = nil
        guard let exit = launch.exit else {
            endCommand(launch.id, .unknown, reason: "its exit was not observed", &transition)
            return
        }
        commandExited(index, launchIndex, exit, &transition)
    }
}
