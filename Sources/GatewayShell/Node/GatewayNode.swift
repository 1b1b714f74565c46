package import EventLoop
package import GatewayCore
import Linux
import TLS
package import Vocabulary

/// One gateway on one thread: feeds its driver with what links and providers bring, and performs
/// what the driver says. It decides nothing.
///
/// Everything happens in turns of the loop; after each the owner calls `endTurn`.
package final class GatewayNode {
    package let loop: EventLoop
    package let seal: SyntheticTokens
    /// Part of each `apns-unique-id`; the same for as long as the file lives.
    package let identity: UInt64
    /// Read in place: to take it out would copy it.
    package private(set) var driver: GatewayDriver
    // Not weak: that would slow down each use of the objects behind.
    package unowned var links: (any DeviceLinks)?
    package unowned var senders: (any PushSenders)?
    /// Where senders of Web Push find it: the beginning of subscriptions' addresses.
    package var origin = "https://localhost"
    /// Told why nothing can be kept when that begins, and nil when it is over.
    package var storeChanged: (String?) -> Void = { _ in }

    let storage: SQLiteStorage
    private var actions: [GatewayAction] = []
    private var isPerforming = false
    private var operations: [OperationID: Operation] = [:]
    private var lastOperation: UInt64 = 0
    private var turnTime: Moment?
    private var timer: TimerSource?
    private var armedAt: BootTime?
    private var storeSource: DescriptorSource?

    /// Who waits for something other than the answer to a push.
    enum Operation {
        case identify(mayEnrol: () -> Bool, (IdentifiedDevice?) -> Void)
        case change((OperationProblem?) -> Void)
    }

    package init(
        _ loop: EventLoop,
        _ storage: SQLiteStorage,
        _ limits: GatewayLimits,
        seal: SyntheticTokens,
        identity: UInt64
    ) throws(StorageError) {
        (self.loop, self.storage) = (loop, storage)
        (self.seal, self.identity) = (seal, identity)
        driver = GatewayDriver(limits, try storage.reader.gateway())
        do throws(LinuxError) {
            timer = try TimerSource(loop) { [unowned self] in
                armedAt = nil
                feed(.passed)
            }
            storeSource = try DescriptorSource(loop, storage.descriptor, .readable) {
                [unowned self] _ in finishWrites()
            }
        } catch {
            throw StorageError("\(error)")
        }
    }

    /// The time of this turn: of the first moment at which somebody asks.
    package var now: Moment {
        if let turnTime { return turnTime }
        let now = Clocks.now()
        turnTime = now
        return now
    }

    package var gateway: Gateway { driver.gateway }
    package var apps: BundleTable { driver.apps }

    // MARK: Events

    func feed(_ event: GatewayEvent) {
        driver.handle(event, at: now, into: &actions)
        perform()
    }

    func feed(_ event: LinkEvent, over link: LinkID) { feed(.link(link, event)) }

    /// The driver is told of what somebody asks for, who is told what becomes of it.
    func begin(_ operation: Operation, _ event: (OperationID) -> GatewayEvent) {
        lastOperation += 1
        let id = OperationID(lastOperation)
        operations[id] = operation
        feed(event(id))
    }

    /// Asks the driver something at once: whether a request is admitted, or what it allows.
    func use<Answer, Failure: Error>(
        _ body: (inout GatewayDriver) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try body(&driver)
    }

    // MARK: Actions

    /// What one brings (a link that ends) is performed behind all others.
    private func perform() {
        guard !isPerforming else { return }
        isPerforming = true
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            perform(action)
        }
        actions.removeAll(keepingCapacity: true)
        isPerforming = false
        // One that comes too early is harmless; one a turn would cost more. A getter called on the
        // driver would be given a copy of it.
        guard let alarm = use({ $0.alarm }), armedAt.map({ alarm < $0 }) ?? true else { return }
        armedAt = alarm
        try? timer?.arm(at: alarm)
    }

    private func perform(_ action: GatewayAction) {
        switch action {
        case .ask(let question): feed(.answered(question, storage.answer(question)))
        case .write(let batch): storage.write(batch)
        case .forgetLog(let push): storage.sweep(oldestLog: push)
        case .storeChanged(let problem): storeChanged(problem)
        case .unknown(let operation, let key): enrol(operation, key)
        case .identified(let operation, let device):
            guard case .identify(_, let completion) = operations.removeValue(forKey: operation)
            else { return }
            completion(device)
        case .send(let link, let sending): links?.send(sending, over: link)
        case .broadcast(let link, let broadcast): links?.send(broadcast, over: link)
        case .registered(let link, let bundle, let token):
            links?.registered(bundle, token: seal.seal(token.bytes), over: link)
        case .subscribed(let link, let bundle, let token, let key):
            let text = seal.text(of: WebPushAddress(token, key: key))
            let address = origin + SenderPath.webPush + text
            links?.subscribed(bundle, key: key, endpoint: address, over: link)
        case .refused(let link, let bundle, let why):
            links?.refused(bundle, why, over: link)
        case .unregistered(let link, let bundle): links?.unregistered(bundle, over: link)
        case .follows(let link, let channel, let why): links?.follows(channel, why, over: link)
        case .end(let link, let why): links?.end(link, why)
        case .answer(let call, let answer): senders?.answer(call, answer)
        case .tell(let call, let answer): senders?.tell(call, answer)
        case .done(let operation, let problem):
            guard case .change(let completion) = operations.removeValue(forKey: operation)
            else { return }
            completion(problem)
        }
    }

    private func enrol(_ operation: OperationID, _ key: [UInt8]) {
        guard case .identify(let mayEnrol, _) = operations[operation] else { return }
        if mayEnrol() {
            feed(.enrol(operation, key: key))
        } else {
            operations[operation] = nil
        }
    }

    // MARK: Turns

    /// Writes what changed, if somebody waits for it. To be called after each turn of the loop.
    package func endTurn() {
        feed(.turnEnded)
        turnTime = nil
    }

    /// The last thing of a turn: who asks for the time behind `endTurn` must not set that of the
    /// next one, which may begin much later.
    package func leaveTurn() { turnTime = nil }

    private func finishWrites() {
        for (number, error) in storage.completions() {
            feed(.written(number, problem: error?.description))
        }
    }

    /// Whether everything so far is on the disk.
    package var isSettled: Bool { driver.isSettled }

    /// Writes the rest and waits for it: the last thing before the end.
    package func settle() {
        while !isSettled {
            feed(.ending)
            guard driver.isWriting else { return }
            _ = Poll.ready(storage.descriptor, for: .readable, milliseconds: -1)
            finishWrites()
        }
    }

    /// Removes what expired, and what the log need not know any more.
    package func sweep() {
        turnTime = nil
        feed(.sweep)
    }
}
