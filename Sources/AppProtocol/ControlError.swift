/// The errors of `Control1` and `App1`, by their D-Bus names.
package enum ControlErrorName: String, CaseIterable, Sendable {
    case notFound = "org.offstage.Error.NotFound"
    case invalid = "org.offstage.Error.Invalid"
    case held = "org.offstage.Error.Held"
    case unavailable = "org.offstage.Error.Unavailable"
    case tooManyPendingTaskRequests = "org.offstage.Error.TooManyPendingTaskRequests"
    case notPermitted = "org.offstage.Error.NotPermitted"
    case immediateRunIneligible = "org.offstage.Error.ImmediateRunIneligible"
    case storage = "org.offstage.Error.Storage"

    /// The exit status of the command line; `invalid` is what nobody could do, whatever the state.
    package var exitStatus: Int32 {
        switch self {
        case .notFound: 3
        case .invalid: 2
        case .held, .unavailable, .tooManyPendingTaskRequests, .notPermitted,
            .immediateRunIneligible, .storage:
            1
        }
    }
}
