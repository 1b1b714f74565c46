package import AppProtocol
package import Vocabulary

/// What a client wants done: on the connection, for its callers, in the app.
package enum ClientEffect: Equatable, Sendable {
    // The connection.

    /// Answered by `connected` or `notConnected`.
    case connect
    /// The connection was lost: look for the next daemon, now and whenever it may have come.
    case watch
    case send(CallNumber, App1)
    /// Answers a call of the daemon's.
    case reply(IncomingNumber)
    case refuse(IncomingNumber, ControlErrorName, String)
    /// A `tick` is wanted, once.
    case armTicker

    // Who called.

    case answer(CallerToken, Result<AppReply, CallError>)
    /// It is waited for no more, and might be answered all the same.
    case giveUp(CallerToken, CallError)
    /// The answer to one that was given up; nil: there will be none.
    case answerLate(CallerToken, AppReply?)

    // The app.

    /// Somebody listens: for the first time, or again.
    case reachable
    /// Nobody is there who could give time.
    case unreachable
    /// The daemon knows this process as an app: for the first time, or again. Only the first
    /// greeting has URLs, and only if somebody waits for it.
    case greeted(Greeting)
    /// The receipt is durable: run it. Once for each delivery.
    case run(ClientWork)
    /// Time is nearly out.
    case expire(DeliveryID, deadline: Double?)
    case expireTask(Int64, deadline: Double?)
    /// `deadline`: of background tasks; the work goes on.
    case enterBackground(deadline: Double?, work: [AppObject1.Work], IncomingNumber)
    case enterForeground(IncomingNumber)
    case becomeActive(IncomingNumber)
    /// The app is opened for these: once for each opening.
    case openURLs([String], IncomingNumber)
    case memoryWarning
    case changed(backgroundRefresh: Word<RefreshStatus>)
    /// The device, as it was asked for. `isTold`: what changes is told from now on.
    case conditions(DeviceConditions, isTold: Bool)
    /// Of the device, which the app watches.
    case conditionsChanged(DeviceConditions)
    /// A task of a session has ended: acknowledged by the answer.
    case taskEnded(session: String, SessionTaskEnd, IncomingNumber)
    case taskProgressed(session: String, TaskProgress)
    /// A task of a session waits for an answer.
    case taskAsked(session: String, TaskQuestion)
    /// For the app's developer.
    case log(String)
}
