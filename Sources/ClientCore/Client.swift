internal import AppProtocol
internal import Vocabulary

/// An app's side of its talk with the daemon: says hello, calls, is called, and connects again
/// after the connection was lost. Pure: a driver performs its effects in order, and feeds it what
/// comes of them.
///
/// What must survive the daemon is kept here: which work was accepted, runs and is finished, and
/// calls that are to reach whichever daemon comes next.
package struct Client: Sendable {
    enum Link: Sendable {
        case down, connecting, up
        /// For good.
        case stopped
    }

    struct Greeter: Sendable {
        let token: CallerToken
        var ticksLeft: Int
    }

    /// A call that is not answered fails after so many. Counting them, and not the time, costs a
    /// process that was frozen one of them at most.
    let ticks: Int
    var link = Link.down
    /// Whether this process says hello: the main process of an app does, others do not.
    var greets = false
    var greeters: [Greeter] = []
    /// The daemon knows this process, and cannot store now that it is there: hello is said again
    /// with each tick.
    var greetsAgain = false
    /// The daemon at the other end of this connection knows this process as an app.
    var isGreeted = false
    /// The identifiers with handlers; nil: launching goes on.
    var registered: [String]?

    /// Calls that wait to know whether there is a connection.
    var unsent: [(call: App1, token: CallerToken)] = []
    var waiting: [WaitingCall] = []
    /// Those that were given up: what is answered all the same may have to be undone.
    var givenUp: [(number: CallNumber, token: CallerToken)] = []
    /// Calls to be made again until they are answered, in their order.
    var kept: [KeptCall] = []
    var lastNumber: UInt64 = 0
    var isTicking = false

    var deliveries: [ClientDelivery] = []
    /// The last opening of URLs that the app was told of; nil: it was not greeted yet.
    var lastOpening: Int64?
    /// Calls of the daemon's that the app works on.
    var working: [IncomingNumber] = []
    var device = DeviceTalk()

    package init(ticks: Int) { self.ticks = ticks }

    package mutating func take(_ event: ClientEvent, into effects: inout [ClientEffect]) {
        switch event {
        case .greet(let token): greet(token, &effects)
        case .finishedLaunching(let registered): finishedLaunching(registered, &effects)
        case .call(let call, let persistence, let token):
            perform(call, persistence, token, &effects)
        case .lookAtDevice(let token): lookAtDevice(token, &effects)
        case .setIdleTimer(let isDisabled): setIdleTimer(isDisabled, &effects)
        case .complete(let delivery, let result): complete(delivery, result, &effects)
        case .done(let number): done(number, &effects)
        case .stop: stop(&effects)
        case .look: connect(&effects)
        case .connected: connected(&effects)
        case .notConnected(let error): notConnected(error, &effects)
        case .disconnected: disconnected(&effects)
        case .answered(let number, let answer): answered(number, answer, &effects)
        case .called(let call, let number, let hasHandler):
            called(call, number, hasHandler, &effects)
        case .tick: tick(&effects)
        }
    }
}
