package import Vocabulary

/// What others may ask of a device, cheaply: nothing here changes it.
extension Device {
    /// The live launches, in the order of their beginning.
    package var launches: [(app: Int, launch: Launch)] {
        liveLaunches.compactMap { entry in
            apps[entry.app].launches.first { $0.id == entry.launch }.map { (entry.app, $0) }
        }
    }

    /// Calls `body` with each launch that has a run, in the order of their beginning.
    package func forEachRun(_ body: (Launch, Wake) -> Void) {
        for entry in liveLaunches {
            let launches = apps[entry.app].launches
            // By a span: an array's elements would be copied to be looked at.
            let span = launches.span
            for launchIndex in span.indices where span[launchIndex].id == entry.launch {
                if let wake = span[launchIndex].wake { body(span[launchIndex], wake) }
            }
        }
    }

    /// The live launches with their apps, in the order of their beginning.
    package var launchOwners: [(launch: LaunchID, app: AppID)] {
        liveLaunches.map { ($0.launch, apps[$0.app].id) }
    }

    /// Commands in a run that may be frozen at any moment, and reported as they are then.
    package var interruptibleLaunches: [LaunchID] {
        var found: [LaunchID] = []
        for entry in liveLaunches {
            let app = apps[entry.app]
            for launch in app.launches
            where launch.id == entry.launch && launch.isInterruptible(app.manifest) {
                found.append(launch.id)
            }
        }
        return found
    }

    package func launch(_ id: LaunchID) -> (app: Int, launch: Launch)? {
        find(id).map { ($0.app, apps[$0.app].launches[$0.launch]) }
    }
}

extension Launch {
    /// The request that a command's launch was made for.
    package var requestID: RequestID? { request }
}

/// What a linked app may read of its own limits (A12).
package struct Allowance: Hashable, Sendable, Codable {
    /// Bytes; nil: none, in the foreground.
    package var memoryLimit: Int64?
    /// Percent of one core; nil: none, in the foreground or on external power.
    package var cpuLimit: Int64?
    /// As last measured.
    package var usage: Usage?
    /// Awake time; nil: as long as it likes.
    package var timeLeft: Interval?
    /// When that is over.
    package var end: AwakeTime?
}

extension Device {
    package func allowance(of id: LaunchID, at now: Moment) -> Allowance? {
        guard let (app, launch) = launch(id) else { return nil }
        guard launch.presence != .foreground else { return Allowance(usage: launch.usage) }
        let ends =
            [launch.finishUp?.end, launch.graceEnd, launch.wake?.end].compactMap(\.self)
            + launch.tasks.compactMap(\.end) + launch.deliveries.map(\.end)
        let end = ends.max() ?? now.awake
        let facts = facts(of: app, at: now)
        return Allowance(
            memoryLimit: facts.memoryLimit,
            cpuLimit: launch.isUnmonitored(facts) ? nil : settings.cpuLimit,
            usage: launch.usage,
            timeLeft: max(.zero, end - now.awake),
            end: end
        )
    }

    /// Attempts that go on.
    package var runningTransfers: [TransferID] { transfers.running.map(\.id) }

    /// Attempts that go on, and files that are being put in place.
    package var transfersUnderWay: [(id: TransferID, activity: Transfer.Activity)] {
        transfers.all().compactMap { transfer in transfer.activity.map { (transfer.id, $0) } }
    }
}

extension Transfer {
    /// What a transfer waits for, other than for time to pass.
    package enum Activity: Hashable, Sendable {
        /// An exchange with the server; another one is something else.
        case attempt(since: BootTime)
        /// A file that gets its name.
        case placing
    }

    package var activity: Activity? {
        switch state {
        case .running(let attempt): .attempt(since: attempt.since)
        case .placing: placementRetry == nil ? .placing : nil
        case .paused, .waiting, .ended: nil
        }
    }
}

extension Launch {
    /// What a launch waits for, other than for time to pass.
    package enum Activity: Hashable, Sendable {
        case nothing
        /// To be started or handed its work, to have its results read, or to be ended at once.
        case handling
        /// Its processes, which work.
        case work
        /// Its processes, which know that their time is over.
        case expiry
    }

    package var activity: Activity {
        switch state {
        case .probing, .starting, .killed, .judging: .handling
        case .ending: .expiry
        case .running, .foreground:
            isTold ? .expiry : isHandedWork ? .handling : isWorking ? .work : .nothing
        case .suspended, .over: .nothing
        }
    }

    private var isTold: Bool {
        wake?.stop != nil || deliveries.contains(where: \.warned) || tasks.contains(where: \.warned)
            || !tasks.isEmpty && finishUp?.warned == true
    }

    private var isHandedWork: Bool {
        launchingUntil != nil || isLeftUnlaunched || deliveries.contains { $0.state != .running }
    }

    /// Whether its user left before it could be told so, and it may still come to hear it. Of
    /// another kind of program that is not known, so it is waited for no longer than it goes on.
    private var isLeftUnlaunched: Bool {
        role == .main && presence == .background && !isConnected && finishUp != nil
            && graceEnd != nil
    }

    private var isWorking: Bool {
        // A task has no end while the user looks at its app.
        wake != nil || !deliveries.isEmpty || enteringUntil != nil
            || presence == .background && !tasks.isEmpty
    }
}
