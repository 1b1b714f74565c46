import Vocabulary

/// Apps come, change and go with their manifests.
extension Device {
    mutating func manifest(_ change: ManifestChange, _ transition: inout Transition) {
        switch change {
        case .present(let manifest):
            present(manifest, &transition)
            if let index = apps.index(of: manifest.id) { stopWhatIsNotAllowed(index, &transition) }
        case .invalid(let id, let file, let reason):
            // Half an edit, perhaps: what runs goes on.
            lose(id, for: reason, in: file, &transition)
        case .notInstalled(let id, let file, let program):
            // Half an upgrade, perhaps.
            let reason = "TryExec: \(program) is not installed"
            let index = lose(id, for: reason, in: file, &transition)
            apps[index].lacksProgram = true
        case .removed(let id):
            guard let index = apps.index(of: id), !apps[index].isTransient else { return }
            lose(index, &transition)
            for launch in apps[index].launches where launch.isCommand {
                take(.stopped(.manifestRemoved, deliveries: nil), launch.id, &transition)
            }
            // What the user did with it is kept, should it come back.
            forgetProblem(of: index)
        }
    }

    /// There is a manifest, which cannot be used.
    @discardableResult
    private mutating func lose(
        _ id: AppID,
        for reason: String,
        in file: String,
        _ transition: inout Transition
    ) -> Int {
        let index = ensureApp(id)
        lose(index, &transition)
        forgetProblem(of: index)
        (apps[index].problem, apps[index].problemFile) = (reason, file)
        remember(index, &transition)
        return index
    }

    private mutating func forgetProblem(of index: Int) {
        (apps[index].problem, apps[index].problemFile) = (nil, nil)
        apps[index].lacksProgram = false
    }

    mutating func present(_ manifest: AppManifest, _ transition: inout Transition) {
        let index = ensureApp(manifest.id)
        let old = apps[index].manifest
        guard old?.value != manifest || apps[index].problem != nil else { return }
        apps[index].manifest = Shared(manifest)
        forgetProblem(of: index)
        apps[index].record.goneSince = nil
        remember(index, &transition)
        if old?.useFrom != manifest.useFrom {
            transition.emit(.watchUse(manifest.id, manifest.useFrom))
        }
        reconcileStandingRequests(of: index, &transition)
        touch(index)
        touchTransfers(heldBy: GateSet(.unknownApp))
    }

    private mutating func remember(_ index: Int, _ transition: inout Transition) {
        if apps[index].record.firstSeen == nil {
            apps[index].record.firstSeen = transition.now.wall
        }
        save(app: index)
        touch(index)
    }

    private mutating func lose(_ index: Int, _ transition: inout Transition) {
        if apps[index].manifest?.useFrom != nil { transition.emit(.watchUse(apps[index].id, nil)) }
        apps[index].manifest = nil
        if apps[index].record.goneSince == nil {
            apps[index].record.goneSince = transition.now.wall
            save(app: index)
        }
        reconcileStandingRequests(of: index, &transition)
        touch(index)
    }

    /// Runs of a kind that the manifest, as it is now, no longer declares.
    mutating func stopWhatIsNotAllowed(_ index: Int, _ transition: inout Transition) {
        guard let manifest = apps[index].manifest, !apps[index].isTransient else { return }
        for launch in apps[index].launches {
            switch launch.role {
            case .command(_, let trigger):
                guard manifest.command(for: trigger) == nil || !manifest.value.declares(trigger)
                else { continue }
                take(.stopped(.manifestRemoved, deliveries: nil), launch.id, &transition)
            case .main:
                guard launch.presence != .foreground else { continue }
                let stopped = launch.deliveries.filter { !manifest.value.declares($0.trigger) }
                guard !stopped.isEmpty else { continue }
                let event = LaunchEvent.stopped(.manifestRemoved, deliveries: stopped.map(\.id))
                take(event, launch.id, &transition)
            }
        }
    }

    /// Makes the standing requests what the manifest and the fetch interval say.
    mutating func reconcileStandingRequests(of index: Int, _ transition: inout Transition) {
        guard !apps[index].isTransient else { return }
        refreshPolicy.requestsChanged(of: index)
        let manifest = apps[index].manifest
        for row in TriggerTable.rows {
            guard let keys = row.command else { continue }
            let isWanted = manifest.map {
                keys.arguments($0) != nil && $0.value.declares(row.trigger)
            }
            reconcileStandingRequest(
                row.trigger.rawValue,
                row.trigger,
                .command,
                wanted: isWanted == true,
                needs: manifest.map { keys.needs($0) } ?? Needs(),
                of: index,
                &transition
            )
        }
        // Permitted identifiers turn the first API off (B7).
        let fetches =
            manifest?.exec != nil && manifest?.refreshCommand == nil
            && apps[index].record.fetchInterval != .never
            && manifest?.modes.contains(.fetch) == true
            && manifest?.permittedTaskIdentifiers.isEmpty == true
        reconcileStandingRequest(
            "fetch",
            .refresh,
            .fetch,
            wanted: fetches,
            needs: Needs(),
            of: index,
            &transition
        )
    }

    private mutating func reconcileStandingRequest(
        _ identifier: String,
        _ trigger: Trigger,
        _ origin: Work.Origin,
        wanted: Bool,
        needs: Needs,
        of index: Int,
        _ transition: inout Transition
    ) {
        let requestIndex = apps[index].requests.firstIndex {
            $0.origin == origin && $0.identifier == identifier && $0.mode != .simulated
        }
        switch (requestIndex, wanted) {
        case (.none, true):
            let request = Request(
                id: nextSerial(RequestKind.self),
                identifier: identifier,
                trigger: trigger,
                origin: origin,
                needs: needs,
                submittedAt: transition.now.wall
            )
            apps[index].requests.append(request)
            save(app: index, request: request.id)
        case (.some(let requestIndex), true):
            guard apps[index].requests[requestIndex].needs != needs else { return }
            apps[index].requests[requestIndex].needs = needs
            save(app: index, request: apps[index].requests[requestIndex].id)
        case (.some(let requestIndex), false):
            // A running one goes with its launch.
            let request = apps[index].requests[requestIndex]
            guard request.state == .pending else { return }
            if request.isUserInitiated {
                // Somebody waits for it.
                drop(request, of: index, reason: "its app no longer asks for it", &transition)
            } else {
                forget(request: request.id, of: index)
                apps[index].requests.remove(at: requestIndex)
            }
        case (.none, false):
            break
        }
    }
}
