import Vocabulary

/// How long a run may last, and what it may do to the device.
enum Grant: Hashable, Sendable {
    /// Half a minute, beside others.
    case wake
    /// Minutes of work that is heavy on the processor: one at a time, and only while the device has
    /// nothing better to do.
    case processing
    /// None: another process does the work.
    case nothing
}

extension Grant {
    /// One such run at a time, beside any number of others. A run that it joins becomes one.
    var isHeavy: Bool { self == .processing }
    /// Not while somebody uses the device, in low-power mode, in heat or for want of memory.
    var endsWhenDeviceIsBusy: Bool { self == .processing }
    /// What runs out of time goes on later; else it has had its turn.
    var isAgainAfterTimeout: Bool { self == .processing }
    /// A command may be frozen when it is stopped (`WhenInterrupted=freeze`).
    var isFreezable: Bool { self == .processing }
    /// On external power that was asked for it may use the processor without end.
    var isUnmonitoredOnPower: Bool { self == .processing }
    /// Longer while the device is idle and charging.
    var isLongerOnPower: Bool { self == .processing }
}

/// What limits how often a trigger wakes an app, beside the quotas.
enum RateBucket: Hashable, Sendable {
    case refreshBudget
    /// After a launch the next one for the same waits so long, then twice as long, and so on; from
    /// the start again when a wait passes without a launch.
    case doublingWait(Interval)
}

/// All that is particular to one trigger, but for the gates that hold it.
struct TriggerRow: Sendable {
    let trigger: Trigger
    /// Of its column in the gate table.
    let letter: String
    let label: String
    /// The mode that a manifest must declare; nil: none.
    let mode: BackgroundMode?
    let grant: Grant
    let bucket: RateBucket?
    /// Whether it starts an app that does not run; else it only resumes one.
    let launches: Bool
    /// What its message may hold beside the identifier (I5). All else is kept from the app.
    let message: [String]
    /// Whether the app's picture is taken after a completed run. Not used yet: there are
    /// no pictures.
    let snapshot: Bool
    /// Whether it brings content up to date: a run has news or none, and is not due right after the
    /// user has looked.
    var fetches = false
    /// How many of its events wait for an app; of more the oldest are dropped.
    var mostPending = Device.pendingEvents
    /// The manifest keys of a command that serves it; nil: only the app's own process can.
    var command: CommandKeys?
    /// What makes work of something that happened (`Event.triggered`); nil: the work is requested.
    var triggered: (@Sendable (inout Device, TriggerEvent, inout Device.Transition) -> Void)?

    struct CommandKeys: Sendable {
        let arguments: @Sendable (Shared<AppManifest>) -> [String]?
        let needs: @Sendable (Shared<AppManifest>) -> Needs
        let interval: @Sendable (Shared<AppManifest>, Shared<Settings>) -> Interval
    }
}

/// The table of triggers, in the order of `Trigger.allCases`.
enum TriggerTable {
    static let rows: [TriggerRow] = [
        refresh,
        processing,
        transfer,
        discretionaryTransfer,
        sessionEvents,
    ]

    private static let refresh = TriggerRow(
        trigger: .refresh,
        letter: "F",
        label: "fetch or refresh",
        mode: .fetch,
        grant: .wake,
        bucket: .refreshBudget,
        launches: true,
        message: [],
        snapshot: true,
        fetches: true,
        command: TriggerRow.CommandKeys(
            arguments: { $0.refreshCommand },
            needs: { _ in Needs() },
            interval: { $0.refreshInterval ?? $1.minimumRefreshInterval }
        )
    )

    private static let processing = TriggerRow(
        trigger: .processing,
        letter: "P",
        label: "processing",
        mode: .processing,
        grant: .processing,
        bucket: nil,
        launches: true,
        message: [],
        snapshot: true,
        command: TriggerRow.CommandKeys(
            arguments: { $0.processingCommand },
            needs: { $0.processingNeeds },
            interval: { $0.processingInterval ?? $1.processingInterval }
        )
    )

    private static let transfer = TriggerRow(
        trigger: .transfer,
        letter: "T",
        label: "transfer",
        mode: nil,
        grant: .nothing,
        bucket: nil,
        launches: false,
        message: [],
        snapshot: false
    )

    private static let discretionaryTransfer = TriggerRow(
        trigger: .discretionaryTransfer,
        letter: "D",
        label: "discretionary transfer",
        mode: nil,
        grant: .nothing,
        bucket: nil,
        launches: false,
        message: [],
        snapshot: false
    )

    private static let sessionEvents = TriggerRow(
        trigger: .sessionEvents,
        letter: "E",
        label: "events of a session",
        mode: nil,
        grant: .wake,
        bucket: .doublingWait(.minutes(1)),
        launches: true,
        message: [],
        snapshot: true,
        // What is dropped is told by nobody.
        mostPending: Device.mostSessions
    )
}
