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
        clampDates(to: transition.now)
        // Before anything is judged by them, or by their absence.
        let manifests = start.manifests ?? []
        for change in manifests {
            if case .present(let manifest) = change { present(manifest, &transition) }
        }
        let survivors = Dictionary(
            start.survivors.map { ($0.launch, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let strangers = start.survivors.filter { survivor in
            !liveLaunches.contains(survivor.launch)
        }
        if !rebooted { endUseUnseen(but: survivors) }
        for entry in liveLaunches {
            let survivor = survivors[entry.launch]
            take(rebooted ? .rebooted : .recovered(survivor), entry.launch, &transition)
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
        settleStopped(&transition)
        requeueTransfers(at: transition.now)
        for transfer in transfers.all() where transfer.placementRetry == nil {
            emitPlacement(transfer.id, &transition)
        }
        discardUnused(&transition)
        touchAll()
    }

    /// When the use of what was in use as the device went down ended is unknown: it counts as last.
    private mutating func endUseUnseen() {
        refreshPolicy.deviceLeftUnseen()
        let last = lastUse
        for index in usedIndices {
            apps[index].record.refresh.leftUnseen()
            guard apps[index].isForeground else { continue }
            apps[index].record.lastUsed = last
            save(app: index)
        }
    }

    /// The same of what was in the foreground as the daemon ended, and is not among the survivors.
    private mutating func endUseUnseen(but survivors: [LaunchID: Survivor]) {
        let last = lastUse
        var (isLeft, isInFront) = (false, false)
        for entry in liveLaunches {
            guard let (index, launchIndex) = find(entry.launch) else { continue }
            let launch = apps[index].launches[launchIndex]
            guard launch.presence == .foreground else { continue }
            guard !launch.goesOn(as: survivors[launch.id]) else {
                isInFront = true
                continue
            }
            isLeft = true
            refreshPolicy.appLeftUnseen(&apps[index])
            // What never started was not used.
            if launch.process != nil { apps[index].record.lastUsed = last }
            save(app: index)
        }
        // Nothing else tells that the user is gone.
        if isLeft, !isInFront, conditions.deviceIdle { refreshPolicy.deviceLeftUnseen() }
    }

    /// Of any app.
    private var lastUse: WallTime? {
        let opened = usedIndices.compactMap { apps[$0].record.lastUsed }.max()
        // Who has an app open for weeks uses the device all the time.
        return [opened, refreshPolicy.use.lastUse].compactMap(\.self).max()
    }

    /// Apps whose manifest went, or broke, while no daemon ran.
    private mutating func loseWithout(_ manifests: [ManifestChange], _ transition: inout Transition)
    {
        for change in manifests {
            switch change {
            case .present: break
            case .invalid, .notInstalled, .removed: manifest(change, &transition)
            }
        }
        for index in usedIndices where apps[index].manifest == nil && apps[index].problem == nil {
            manifest(.removed(apps[index].id), &transition)
        }
    }
}
