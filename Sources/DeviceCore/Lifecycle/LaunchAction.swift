import Vocabulary

/// What a launch goes by beside itself.
struct LaunchFacts {
    let now: Moment
    let app: AppID
    let settings: Shared<Settings>
    let manifest: Shared<AppManifest>?
    /// Of its app.
    let requests: [Request]
    let onExternalPower: Bool
    let processingGrant: Interval
    let refreshStatus: RefreshStatus
    /// What its app watches, if it is not what it was told last.
    let changedConditions: DeviceConditions?
    /// The daemon ends with this turn: nothing is begun any more.
    let isStopping: Bool

    func request(_ id: RequestID?) -> Request? {
        guard let id else { return nil }
        return requests.first { $0.id == id }
    }

    /// The length of a run, in awake time.
    func grant(for grant: Grant) -> Interval {
        switch grant {
        case .wake: settings.wakeGrant
        case .processing: processingGrant
        case .nothing: .zero
        }
    }

    /// Bytes, in the background.
    var memoryLimit: Int64 { min(manifest?.memoryLimit ?? .max, settings.memoryLimit) }

    /// How often a launch is measured.
    var sampleInterval: Interval { max(.seconds(1), settings.cpuWindow / 4) }

    /// When the expiration handler is called: shortly before the end, never before the beginning.
    func warning(before end: AwakeTime, _ began: AwakeTime) -> AwakeTime {
        end == .distantFuture ? end : max(began, end - settings.expiryWarning)
    }

    /// Whether a command's result is read before it runs too.
    var readsBefore: Bool {
        switch manifest?.newDataFrom ?? .exit {
        case .exit: false
        case .file, .command: true
        }
    }
}

/// What a launch wants done because of an event. The device does it, in order; it alone knows
/// requests, ledgers and history.
enum LaunchAction: Hashable, Sendable {
    /// Keeps the launch as it is now.
    case save
    /// In the world.
    case emit(Effect)
    case answer(ReplyToken, Reply)
    /// Its app has been told the conditions of the device.
    case toldConditions(DeviceConditions)
    /// A program of it runs: so can others.
    case started
    /// What its request or delivery is now.
    case claim(RequestID, Request.State)
    /// A command was frozen in mid-run; its request waits for another window.
    case interrupted(RequestID)
    /// A run began, and counts.
    case began(onBattery: Bool)
    /// A line for the history, with what it says of the app.
    case report(WakeReport)
    case append(HistoryLine.Entry)
    case countFailure(reason: String)
    /// What becomes of the request.
    case settle(RequestID, RunEnd)
    /// A run is over: its slot is free. `cost`: for the ledgers; nil: it does not count.
    case closed(cost: RunCost?)
    /// More of the cost of a run that is over.
    case book(cpu: Interval)
    /// The machine could not start a program.
    case blockStarts(StartFailure)
    /// Whoever opened the app is told that it could not be started.
    case refuseOpeners(StartFailure)
    /// It was in the foreground, and is no more.
    case leftForeground
    /// It is frozen from now on.
    case froze
    /// Its user wants it again.
    case reopen
    /// Nothing of it has run: what it was for waits again.
    case undo
    /// All processes are gone. The last action.
    case remove
}

/// What a run has used.
struct RunCost: Hashable, Sendable {
    var runTime: Interval
    var cpu: Interval
}
