package import AppProtocol
package import Vocabulary

/// What a client learns: from its app, of its connection, from the daemon. It is all that it ever
/// learns.
package enum ClientEvent: Equatable, Sendable {
    // The app.

    /// Say hello now, and from now on first of all whenever connected.
    case greet(CallerToken)
    /// Handlers are registered for these identifiers; offers are welcome.
    case finishedLaunching(registered: [String])
    case call(App1, Persistence, CallerToken)
    /// Somebody looks at the device: answered with its conditions. It is watched from now on.
    case lookAtDevice(CallerToken)
    /// Whether the screen is to stay on in the foreground.
    case setIdleTimer(disabled: Bool)
    case complete(DeliveryID, TaskResult)
    /// What the daemon had called is done.
    case done(IncomingNumber)
    case stop

    // The connection.

    /// The daemon may be there now.
    case look
    /// What `ClientEffect.connect` came to.
    case connected
    case notConnected(CallError)
    /// The connection is lost.
    case disconnected

    // The daemon.

    case answered(CallNumber, Result<AppReply, CallError>)
    /// It calls the app's object. `hasHandler`: there is a handler for what is offered.
    case called(AppObject1, IncomingNumber, hasHandler: Bool)

    /// The time of a tick has passed.
    case tick
}

/// What becomes of a call when there is no daemon.
package enum Persistence: Equatable, Sendable {
    /// It fails at once without a daemon, and when the connection is lost before the answer.
    case now
    /// It stays until the daemon has answered, whichever of its lives that is.
    case kept
}

/// Who waits for the answer to a call.
package struct CallerToken: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
}

/// A call to the daemon. One that is made again on another connection has the same.
package struct CallNumber: Hashable, Comparable, Sendable {
    package let number: UInt64

    package static func < (left: CallNumber, right: CallNumber) -> Bool {
        left.number < right.number
    }
}

/// A call of the daemon's that is answered when the app has done what it says.
package struct IncomingNumber: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    /// Nobody waits for an answer.
    package static let none = IncomingNumber(0)
}
