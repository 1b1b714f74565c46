package import Vocabulary

/// What the user, or a program of the user outside every launch, may ask for. Questions (status,
/// explain, history) are no events: they are asked of `Device` directly and change nothing.
package enum UserRequest: Hashable, Sendable, Codable {
    /// Starts the app, or brings it back. `attach`: the process that becomes its
    /// own; the caller is answered once it did, or cannot.
    case open(AppID, attach: ProcessID?, urls: [String] = [])
    /// The user has left the app.
    case leave(AppID)
    /// The swipe: ended, and kept from all background work until it is opened again.
    case close(AppID)
    case submit(Submission)
    /// User-initiated: skips the gates that only save.
    case run(AppID, identifier: String?)
    /// Cancels pending requests, and stops what runs of them; nil: all of the app.
    case cancel(AppID, identifier: String?)
    /// A helper program of an app, outside every launch, takes back what is pending.
    case cancelPending(AppID, identifier: String?)
    /// Forgets the failures of an app; nil: of all.
    case dismiss(AppID?)
    /// Holds all background work, for so long or until a date; neither: until `continue`.
    case pause(Interval?, until: WallTime? = nil)
    case `continue`
    /// Says what a sensor is to say; `silent` gives the word back to it.
    case override(Condition, Reading)
    /// `kind`: of a task that nothing else tells the kind of.
    case simulate(Simulation, AppID, identifier: String?, kind: TaskKind? = nil)
    case transfer(TransferRequest)
}

/// `offstage submit -- COMMAND…`, or a linked app's own request.
package struct Submission: Hashable, Sendable, Codable {
    /// The app; nil for a command of the user's, which becomes the app `command.NAME`.
    package var app: AppID?
    /// Nil: made from the command.
    package var identifier: String?
    package var kind: TaskKind
    /// Not before so long from now.
    package var after: Interval?
    package var earliest: WallTime?
    /// Asked for again after each run, at least so long after it.
    package var every: Interval?
    package var needs: Needs
    /// The client's own; the same token again is answered as the first time. At most 64 bytes.
    package var token: String?
    /// What to run, for a command.
    package var command: [String]?
    package var directory: String?
    package var environment: [EnvironmentVariable]

    package init(
        app: AppID? = nil,
        identifier: String? = nil,
        kind: TaskKind,
        after: Interval? = nil,
        earliest: WallTime? = nil,
        every: Interval? = nil,
        needs: Needs = Needs(),
        token: String? = nil,
        command: [String]? = nil,
        directory: String? = nil,
        environment: [EnvironmentVariable] = []
    ) {
        self.app = app
        self.identifier = identifier
        self.kind = kind
        self.after = after
        self.earliest = earliest
        self.every = every
        self.needs = needs
        self.token = token
        self.command = command
        self.directory = directory
        self.environment = environment
    }
}

/// The answer to a caller, sent after the commit.
package enum Reply: Hashable, Sendable, Codable {
    case done
    /// To a submit and a run.
    case requested(RequestedTask)
    case opened(OpenedApp)
    case greeted(Greeting)
    case begun(BegunTask)
    /// To an enqueue, in its order.
    case transfers([TransferID])
    /// To an app that joins a session.
    case tasks(JoinedTasks)
    /// To an app that watches the device.
    case conditions(DeviceConditions)
    case refused(Refusal)
}

/// Why something asked for was not done: what was wrong, the value, and what to do.
package struct Refusal: Error, Hashable, Sendable, Codable {
    package enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// Apple's error 1: background refresh is off, or the caller is no app.
        case unavailable
        /// Apple's error 2.
        case tooManyPendingTaskRequests
        /// Apple's error 3: mode or identifier not in the manifest.
        case notPermitted
        /// Apple's error 4.
        case immediateRunIneligible
        case notFound
        case invalid
        /// Not as things are: a gate says no, or there is nothing to do it to; the reason says
        /// which.
        case held
        /// The store did not take it; nothing was done.
        case storage
    }
    package var code: Code
    package var reason: String
    package var value: String
    package var fix: String

    /// In one line, with the fix in brackets, so that nothing else stands in brackets at its end. A
    /// value that the reason begins with is not said again.
    package var text: String {
        var text = reason
        if !value.isEmpty, code == .notFound || !reason.hasPrefix("\(value) ") {
            text += ": \(value)"
        }
        if fix.isEmpty { return text.hasSuffix(")") ? text + "." : text }
        return text + " (\(fix))"
    }

    /// What to do about what only the administrator can change.
    package static let administrator = "ask the administrator of this machine"

    package init(_ code: Code, reason: String, value: String = "", fix: String = "") {
        (self.code, self.reason, self.value, self.fix) = (code, reason, value, fix)
    }
}
