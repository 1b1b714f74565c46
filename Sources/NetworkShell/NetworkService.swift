import Curl
import EventLoop
import ExchangeCore
import Linux
import Vocabulary
import Wire

/// Takes orders, keeps the exchanges, and reports. A turn of the loop is: sockets, then what they
/// brought, then one batch of reports.
@safe
final class NetworkService {
    private let loop: EventLoop
    private let link: DaemonLink
    private let multi: CurlMulti
    private var syncs: SyncThreads?
    private let digests: DigestThread
    private var sockets: [Int32: DescriptorSource] = [:]
    private var curlTimer: TimerSource?
    private var progressTimer: TimerSource?
    private var idleTimer: TimerSource?
    private var digestSource: DescriptorSource?
    private var batch = SyncBatch()
    private var batchTimer: TimerSource?
    private var exchanges: [TransferID: any RunningExchange] = [:]
    /// By request: whose it is, and of which of its connections.
    private var owners: [ObjectIdentifier: (exchange: any RunningExchange, connection: Int)] = [:]
    private var queues = HostQueues()
    private var interops = InteropMemory()
    private var removals = UploadRemovals()
    private var isGreeted = false
    /// It begins nothing any more, and has said so. It waits for the end of the daemon's orders,
    /// some of which may have been on their way.
    private var isRetired = false
    private var hasAllOrders = false
    private let sandbox: Sandbox
    /// Why it ended, if not in good order.
    private(set) var problem: String?

    /// How often progress is told, and looked whether bytes are to be made durable.
    static let tick = Interval.milliseconds(500)
    /// Idle for so long, it retires. The daemon starts another when there is something to fetch.
    static let linger = Interval.seconds(30)

    init(_ loop: EventLoop, _ socket: consuming PacketSocket, _ sandbox: Sandbox) throws {
        (self.loop, self.sandbox) = (loop, sandbox)
        // Queues count them; this is for those whom a redirect has led to one host.
        multi = try CurlMulti(
            connectionsPerHost: ExchangeOrder.mostConnections,
            connections: 32
        )
        digests = try DigestThread()
        link = try DaemonLink(loop, socket)
        curlTimer = try TimerSource(loop) { [unowned self] in multi.timeOut() }
        progressTimer = try TimerSource(loop) { [unowned self] in tick() }
        idleTimer = try TimerSource(loop) { [unowned self] in retireIfIdle() }
        multi.watch = { [unowned self] in watch($0, $1) }
        multi.setTimer = { [unowned self] in setTimer($0) }
        link.ordered = { [unowned self] in take($0, $1) }
        link.ended = { [unowned self] in ordersEnded() }
        link.lost = { [unowned self] in end($0) }
        batchTimer = try TimerSource(loop) {}
        syncs = try SyncThreads(loop) { [unowned self] in synced($0) }
        digestSource = try digests.attach(to: loop) { [unowned self] in digested($0) }
        try idleTimer?.arm(at: Clocks.boot() + Self.linger)
    }

    private func end(_ problem: String?) {
        self.problem = self.problem ?? problem
        loop.exit()
    }

    private func retireIfIdle() {
        if exchanges.isEmpty, removals.isEmpty { retire() }
    }

    private func retire() {
        if isRetired { return }
        isRetired = true
        report(.retires)
    }

    /// The first time after it has retired: no more orders follow. Otherwise the daemon is gone.
    private func ordersEnded() {
        guard isRetired, !hasAllOrders else { return end(nil) }
        hasAllOrders = true
    }

    // MARK: Orders

    private func take(_ order: NetworkOrder, _ file: consuming FileDescriptor?) {
        guard isGreeted else {
            guard case .hello(NetworkFormat.version) = order else {
                return end("the daemon speaks another version")
            }
            isGreeted = true
            return report(.hello(version: NetworkFormat.version, lacks: sandbox.lacks))
        }
        switch order {
        case .hello: end("the daemon said hello twice")
        case .begin(let id, let order):
            guard let file = file.take() else { return end("an order came without its file") }
            begin(Download(id, order, file))
        case .upload(let id, let order):
            guard let file = file.take() else { return end("an order came without its file") }
            begin(Upload(id, interops.applied(to: order), file))
        case .proceed(let id):
            guard let exchange = exchanges[id] else { return }
            exchange.proceed()
            advance(exchange)
        case .stop(let id):
            guard let exchange = exchanges[id] else { return }
            exchange.stop()
            advance(exchange)
        case .stored(let id, let durable):
            guard let exchange = exchanges[id] else { return }
            exchange.stored(durable: durable)
            advance(exchange)
        case .remove(let removal):
            removals.add(removal)
            removeNext()
        }
    }

    /// Asks servers to forget uploads, a few at a time.
    private func removeNext() {
        while let options = removals.next() {
            // Nobody waits for it: what cannot even be asked is left to the server.
            guard let request = try? CurlRequest(options) else { continue }
            // What is said in the answer is of no interest.
            request.body = { _ in .taken }
            request.trust = sandbox.authorities.apply(to:)
            guard (try? multi.add(request)) != nil else { continue }
            removals.began(request)
        }
    }

    private func begin(_ exchange: any RunningExchange) {
        guard exchanges[exchange.id] == nil, exchanges.count < NetworkFormat.mostExchanges else {
            return end("an order that cannot be: \(exchange.id)")
        }
        exchanges[exchange.id] = exchange
        let mayBegin = queues.add(
            exchange.id,
            to: String(exchange.url.urlHost),
            connections: exchange.connections,
            limit: exchange.connectionsPerHost
        )
        if isRetiring(at: Clocks.boot()) {
            exchange.stop()
        } else if mayBegin {
            exchange.begin()
        }
        advance(exchange)
        if !isTicking { startTicking() }
    }

    /// Not anew while it runs: what begins again and again would put it off for ever.
    private func startTicking() {
        isTicking = (try? progressTimer?.arm(at: Clocks.boot() + Self.tick)) != nil
    }
    private var isTicking = false

    /// Whether it has retired. Once a second it looks whether the resolver files were replaced, and
    /// retires if so.
    private func isRetiring(at now: BootTime) -> Bool {
        guard !isRetired, now >= nextLook else { return isRetired }
        nextLook = now + .seconds(1)
        if sandbox.isOutdated { retire() }
        return isRetired
    }
    private var nextLook = BootTime.distantPast

    // MARK: Sockets and time

    private func watch(_ socket: Int32, _ interest: CurlMulti.Interest) {
        guard !interest.isEmpty else {
            // At once: its handler may be what runs now, and libcurl may watch it again, or another
            // socket of the same number.
            try? sockets.removeValue(forKey: socket)?.setEnabled(false)
            return
        }
        var events: DescriptorSource.Events = []
        if interest.contains(.readable) { events.insert(.readable) }
        if interest.contains(.writable) { events.insert(.writable) }
        do throws(LinuxError) {
            if let source = sockets[socket] { return try source.setEvents(events) }
            sockets[socket] = try DescriptorSource(loop, socket, events) { [unowned self] in
                ready(socket, $0)
            }
        } catch {
            end("\(error)")
        }
    }

    private func ready(_ socket: Int32, _ events: DescriptorSource.Events) {
        var interest: CurlMulti.Interest = []
        if events.contains(.readable) || events.contains(.hangUp) { interest.insert(.readable) }
        if events.contains(.writable) { interest.insert(.writable) }
        if events.contains(.error) { interest.insert(.error) }
        multi.act(socket, interest)
    }

    private func setTimer(_ milliseconds: Int?) {
        // Most often it is to be now, which needs no timer.
        isTimeOutDue = milliseconds == 0
        if isTimeOutDue { return }
        let wait = milliseconds.map { Interval.milliseconds(Int64($0)) }
        do throws(LinuxError) {
            try curlTimer?.arm(at: wait.map { Clocks.boot() + $0 })
        } catch {
            end("\(error)")
        }
    }

    private func tick() {
        isTicking = false
        guard !exchanges.isEmpty else { return }
        let now = Clocks.boot()
        for exchange in exchanges.values {
            exchange.tick(now)
            tellProgress(of: exchange)
            touched[exchange.id] = exchange
        }
        stopWaiting()
        startTicking()
    }

    /// libcurl is to be told that its time has come, as soon as it has returned.
    private var isTimeOutDue = false

    /// After each turn of the loop: what has ended, who has something to do, and what that begins.
    func turnEnded() throws {
        settle()
        // Sockets and orders have their turn, too.
        for _ in 0..<4 where isTimeOutDue {
            isTimeOutDue = false
            multi.timeOut()
            settle()
        }
        if isTimeOutDue { try curlTimer?.arm(at: Clocks.boot()) }
        try flushBatch()
        try link.flush()
        let isIdle = exchanges.isEmpty && removals.isEmpty
        if isIdle, hasAllOrders, link.isEmpty { return end(nil) }
        if isIdle, !wasIdle { try idleTimer?.arm(at: Clocks.boot() + Self.linger) }
        wasIdle = isIdle
    }

    private func settle() {
        while let (request, error) = multi.next() {
            if removals.ended(request) {
                removeNext()
                continue
            }
            guard
                let (exchange, connection) = owners.removeValue(forKey: ObjectIdentifier(request))
            else { continue }
            exchange.requestEnded(request, on: connection, error)
            touched[exchange.id] = exchange
        }
        while let (_, exchange) = touched.popFirst() { advance(exchange) }
    }
    private var touched: [TransferID: any RunningExchange] = [:]
    private var wasIdle = false

    /// Does what an exchange has come to want.
    private func advance(_ exchange: any RunningExchange) {
        for task in exchange.takeTasks() { perform(task, of: exchange) }
        guard !exchange.needsConnections else { return }
        beginNext(queues.remove(exchange.id))
    }

    /// Their turn has come.
    private func beginNext(_ ids: [TransferID]) {
        for id in ids {
            guard let next = exchanges[id] else { continue }
            isRetired ? next.stop() : next.begin()
            advance(next)
        }
    }

    /// Who waits for long could not be overtaken here: the daemon orders it anew at its turn.
    private func stopWaiting() {
        var ticks: [TransferID: Int] = [:]
        for id in queues.waiting {
            let count = waited[id, default: 0] + 1
            ticks[id] = count
            guard count > Self.longestWait, let exchange = exchanges[id] else { continue }
            exchange.stop()
            advance(exchange)
        }
        waited = ticks
    }
    /// At how many ticks.
    private var waited: [TransferID: Int] = [:]
    /// In ticks.
    private static let longestWait = 4

    private func perform(_ task: ExchangeTask, of exchange: any RunningExchange) {
        switch task {
        case .give(let up):
            owners[ObjectIdentifier(up)] = nil
            multi.remove(up)
        case .request(let options, let connection):
            request(options, for: exchange, on: connection)
        case .report(let report):
            if case .resource(_, let resource?) = report { interops.learn(resource) }
            self.report(report, of: exchange)
            guard case .answered(_, let answer) = report, exchange.connections > 1 else { return }
            beginNext(queues.keep(exchange.id, connections: 1 + answer.moreConnections))
        case .sync(let job) where job.isLast: batch.add(job, at: Clocks.boot())
        case .sync(let job): syncs?.add(job)
        case .digest(let job): digests.add(job)
        case .done(let report):
            exchanges[exchange.id] = nil
            if let upload = exchange as? Upload, upload.wasIgnored {
                interops.unlearn(upload.order)
            }
            self.report(report)
        }
    }

    /// `exchange`: whose server has said it.
    private func report(_ report: NetworkReport, of exchange: (any RunningExchange)? = nil) {
        do throws(NetworkError) {
            try link.report(report)
        } catch {
            guard let exchange else { return end("a report that cannot be: \(error)") }
            exchange.couldNotReport(error)
            touched[exchange.id] = exchange
        }
    }

    /// Not to a daemon that does not read: it would be told as much when it reads again.
    private func tellProgress(of exchange: any RunningExchange) {
        guard !link.isBlocked else { return }
        for progress in exchange.takeProgress() { report(progress) }
    }

    private func request(
        _ options: CurlRequest.Options,
        for exchange: any RunningExchange,
        on connection: Int
    ) {
        do throws(CurlError) {
            let request = try CurlRequest(options)
            request.trust = sandbox.authorities.apply(to:)
            exchange.use(request, on: connection) { [unowned self] in
                touched[exchange.id] = exchange
            }
            owners[ObjectIdentifier(request)] = (exchange, connection)
            try multi.add(request)
        } catch {
            exchange.requestEnded(nil, on: connection, error)
            touched[exchange.id] = exchange
        }
    }

    /// What is complete is made durable together with others that are about to be.
    private func flushBatch() throws {
        let isQuiet = batch.unsettled == exchanges.count
        let due = batch.due(isQuiet: isQuiet)
        if let due, due <= Clocks.boot() {
            for job in batch.take() { syncs?.add(job) }
        } else if due != batchDue {
            try batchTimer?.arm(at: due)
        }
        batchDue = due
        syncs?.flush()
    }
    private var batchDue: BootTime?

    private func synced(_ result: SyncThread.Result) {
        if result.isLast { batch.settled() }
        guard let exchange = exchanges[result.id] else { return }
        exchange.synced(result)
        tellProgress(of: exchange)
        touched[exchange.id] = exchange
    }

    private func digested(_ result: DigestThread.Result) {
        guard let exchange = exchanges[result.id] else { return }
        exchange.digested(result)
        tellProgress(of: exchange)
        touched[exchange.id] = exchange
    }
}
