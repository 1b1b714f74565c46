import Vocabulary

/// What happens to a launch.
enum LaunchEvent: Hashable, Sendable {
    /// It was just made. `attach`: the process that becomes its own.
    case made(attach: ProcessID?)
    /// What the machine says of its process.
    case process(ProcessEvent)
    /// What the app says.
    case app(AppEvent)
    /// Time has passed.
    case woke
    /// The gates let work in: the app is to do it.
    case delivered(DeliveryID, Request)
    /// The next window of a command that is frozen in mid-run.
    case resumed(Request)
    /// Its runs may not go on; they have the time of a warning. `deliveries`: only these.
    case stopped(StopReason, deliveries: [DeliveryID]?)
    /// It must end at once. `detail`: for the history.
    case ended(StopReason, detail: String)
    /// Grants of processing have become longer, or shorter.
    case grantChanged(by: Interval)
    case refreshChanged
    /// Those that its app watches.
    case conditionsChanged
    /// Its user opens it, leaves it, or wants it again when it has ended.
    case opened(urls: [String])
    case left
    case reopened(Bool, urls: [String] = [])
    /// A daemon starts. `survivor`: what it found of the process; nil: nothing.
    case recovered(Survivor?)
    /// The device was booted since.
    case rebooted
}

extension Launch {
    /// Takes one event, and appends what is to be done about it.
    mutating func take(
        _ event: LaunchEvent,
        _ facts: LaunchFacts,
        into actions: inout [LaunchAction]
    ) {
        switch event {
        case .made(let attach): made(attach, facts, &actions)
        case .process(let event): process(event, facts, &actions)
        case .app(let event): said(event, facts, &actions)
        case .woke: woke(facts, &actions)
        case .delivered(let id, let request): delivered(id, request, facts, &actions)
        case .resumed(let request): resumed(request, facts, &actions)
        case .stopped(let reason, let deliveries): stop(reason, deliveries, facts, &actions)
        case .ended(let reason, let detail): end(reason, detail: detail, facts, &actions)
        case .grantChanged(let shift): moveEnds(by: shift, facts, &actions)
        case .refreshChanged: tellRefresh(facts, &actions)
        case .conditionsChanged: tellConditions(facts, &actions)
        case .opened(let urls): opened(urls, facts, &actions)
        case .left: left(facts, &actions)
        case .reopened(let wanted, let urls): reopened(wanted, urls, &actions)
        case .recovered(let survivor): recovered(survivor, facts, &actions)
        case .rebooted: rebooted(facts, &actions)
        }
    }
}
