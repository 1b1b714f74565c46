import AppProtocol
import AppTranslation
import ClientCore
package import DeviceCore
import Vocabulary

/// One program's connection to the daemon: the library's own core, what is on its way to it, and
/// what the daemon has of it.
package final class VirtualClient {
    /// Tells it from all others.
    struct Number: Hashable {
        let launch: LaunchID
        let index: Int
    }

    package unowned let process: VirtualProcess
    let number: Number
    /// The helper program whose it is; nil: the app's main process.
    package let holder: ProcessID?
    var client = Client(ticks: 10)
    /// The rest of the library's state.
    var tasks = HeldTasks()
    var search = DaemonSearch()
    /// What it has not been told yet: its effects may come to something at once.
    var events: [ClientEvent] = []
    var effects: [ClientEffect] = []
    var isFeeding = false

    /// The number of its connection; nil: there is none.
    private(set) var connection: Int?
    /// How often it has connected.
    private(set) var connections = 0
    /// It cannot connect, whether there is a daemon or not.
    var isCutOff = false
    /// The program is gone.
    var isGone = false
    /// What has come from the daemon and was not read.
    var unread: [Letter] = []
    var isReading = false
    /// When the last that it said arrives: nothing overtakes it.
    var lastArrival = Interval.zero
    /// The daemon's calls that it works on.
    var heard: [(number: IncomingNumber, kind: MessageKind)] = []
    /// The device, as it was told of it on this connection; nil: it was not.
    var device: DeviceConditions?
    /// Its app wants to know of the device.
    var hasLooked = false
    /// The screen is to stay on.
    var disablesIdleTimer = false
    /// When its app said that last, by the age of the world.
    var idleTimerSetAt = Interval.zero
    /// What waits for an answer.
    var asked: [(token: CallerToken, what: Asked)] = []
    private var lastToken: UInt64 = 0

    /// Connections that the daemon has accepted and knows no end of.
    var served: [Int] = []
    /// Where the daemon says what it has to say: after hello, or after an activity was begun.
    var bound: Int?
    /// The daemon's calls whose answers it waits for.
    var told: [(number: IncomingNumber, message: AppMessage)] = []

    /// Something that the daemon says on a connection.
    struct Letter {
        let connection: Int
        let word: DaemonWord
    }

    init(_ process: VirtualProcess, holder: ProcessID? = nil) {
        (self.process, self.holder) = (process, holder)
        number = Number(launch: process.launch, index: process.nextClient)
        process.nextClient += 1
    }

    func connect() -> Int {
        connections += 1
        connection = connections
        served.append(connections)
        return connections
    }

    func disconnect() { connection = nil }

    /// The daemon is gone, and with it all that it had of this.
    func loseDaemon() {
        served.removeAll()
        told.removeAll()
        bound = nil
    }

    func token(for what: Asked) -> CallerToken {
        lastToken += 1
        let token = CallerToken(lastToken)
        asked.append((token, what))
        return token
    }
}

/// What a program waits to be answered.
enum Asked {
    case greeting
    case submission(Submission)
    /// A background task, by the program's own number.
    case task(Int)
    /// An activity that it held before its connection was lost, and the number that it had.
    case taskAgain(Int, before: Int64)
    case nothing
}

/// What the daemon says on a connection.
enum DaemonWord {
    case answer(CallNumber, MessageKind, Result<AppReply, CallError>)
    case call(IncomingNumber, AppObject1)
    case hangUp
}

/// What a program says on a connection.
enum AppWord {
    case call(CallNumber, App1)
    case answer(IncomingNumber, MessageKind, AppAnswer)
    case hangUp
}

/// Something that a program has said. It keeps the process, whether it lives or not.
struct Said {
    let process: VirtualProcess
    let client: VirtualClient
    let connection: Int
    let word: AppWord

    init(_ client: VirtualClient, _ connection: Int, _ word: AppWord) {
        process = client.process
        (self.client, self.connection, self.word) = (client, connection, word)
    }
}
