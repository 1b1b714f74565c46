import Curl
import ExchangeCore
import Linux
import TLS
import Vocabulary
import Wire

/// One download: an exchange, the file that its bytes go to, and how much of that is durable.
@safe
final class Download: RunningExchange {
    let id: TransferID
    private let file: DownloadFile
    private let fileSystem: UInt64
    /// Nothing has been in the file yet.
    private var isUntouched: Bool
    private var exchange: Exchange
    /// By number: the first one, and those that fetch ranges beside it.
    private var links: [Connection]
    private var tasks: [ExchangeTask] = []
    /// Bytes of the file that a loss of power does not take.
    private var durable: FilledBytes
    /// What the daemon knows of these.
    private var toldRanges: [Range<Int64>]
    private var stored: StoredBytes
    /// Of all connections together; nil: libcurl keeps to it.
    private var meter: RateMeter?
    /// A job of the thread that syncs is on its way.
    private var isSyncing = false
    /// How often the file has begun anew: what was synced before counts for nothing after.
    private var beginnings = 0
    private var syncedAt = Clocks.boot()
    private var told: (received: Int64, durable: Int64) = (-1, -1)
    private var toldAt = Clocks.boot()
    /// How it ends, once the thread is done with its file.
    private var end: ExchangeEnd?
    /// The body has ended, and it waits for `proceed`.
    private var hasBodyEnded = false
    /// What has come may be gone on with.
    private var isResumable = false
    private var isAnswered = false
    /// The last one that counted.
    private var answer: ExchangeAnswer?
    private var reserved = false
    private var headroom = Headroom()
    /// Its bytes wait until others are durable.
    private var isHeld = false

    /// One of the connections, and the answer that comes over it.
    private final class Connection {
        var request: CurlRequest?
        var head = AnswerHead()
        /// Of the body of a redirect, which is of no interest.
        var redirectBytes = 0
    }

    /// Bytes are made durable when so many have come, or after so long.
    static let syncBytes: Int64 = 4 << 20
    static let syncInterval = Interval.seconds(2)
    /// So many may be in the file and not durable: a network is faster than most disks.
    static let mostUnsynced: Int64 = 7 << 20
    /// The most bytes in the file that the daemon has not stored as durable. Together with what
    /// libcurl delivers in one call this is less than the 16 MB that a kill may cost.
    static let mostUnstored: Int64 = 14 << 20
    /// Of a redirect.
    private static let longestRedirectBody = 1 << 20

    init(_ id: TransferID, _ order: ExchangeOrder, _ file: consuming FileDescriptor) {
        self.id = id
        self.file = DownloadFile(file)
        let status = try? self.file.descriptor.status()
        // An attempt that was killed leaves what it reserved, which adds nothing to the size.
        isUntouched = status?.size == 0 && status?.allocated == 0
        fileSystem = status?.device ?? 0
        exchange = Exchange(order, digits: DigestChallenge.digits)
        durable = order.resume?.filled ?? FilledBytes(prefix: 0)
        toldRanges = durable.ranges
        stored = StoredBytes(durable.count)
        isResumable = order.resume != nil
        links = (0...order.moreConnections).map { _ in Connection() }
        if order.moreConnections > 0 {
            meter = order.rateLimit.map { RateMeter($0, at: Clocks.boot()) }
        }
    }

    var url: String { exchange.order.url }
    var connections: Int64 { Int64(links.count) }
    var connectionsPerHost: Int64? { exchange.order.connectionsPerHost }
    var needsConnections: Bool { end == nil }

    func takeTasks() -> [ExchangeTask] {
        defer { tasks = [] }
        return tasks
    }

    // MARK: Orders

    func begin() {
        perform(exchange.begin())
    }

    func proceed() {
        // It has forgotten what it had.
        stored = StoredBytes(0)
        perform(exchange.proceed())
        guard hasBodyEnded else { return resume() }
        hasBodyEnded = false
        perform(exchange.bodyEnded())
    }

    func stored(durable: Int64) {
        stored.answered(durable: durable)
        if isHeld { resume() }
    }

    func stop() { perform(exchange.stop()) }

    /// What the server says cannot be told to the daemon.
    func couldNotReport(_ error: NetworkError) {
        let reason = "the answer cannot be handed on: \(error)"
        perform(exchange.fail(ExchangeFailure(.badAnswer, reason: reason)))
    }

    // MARK: Requests

    /// `touched` is called from within libcurl's calls when there is something to do.
    func use(_ request: CurlRequest, on number: Int, touched: @escaping () -> Void) {
        let connection = links[number]
        (connection.request, connection.head) = (request, AnswerHead())
        connection.redirectBytes = 0
        request.headLine = { [unowned self, unowned connection, unowned request] line in
            // It was given up, and libcurl has yet to be told.
            guard connection.request === request else { return .refuse }
            let verdict = took(line, on: number)
            if !tasks.isEmpty { touched() }
            return verdict
        }
        request.body = { [unowned self, unowned connection, unowned request] bytes in
            guard connection.request === request else { return .refuse }
            let verdict = took(bytes, on: number)
            if !tasks.isEmpty { touched() }
            return connection.request === request ? verdict : .refuse
        }
    }

    private func took(_ line: String, on number: Int) -> CurlRequest.Verdict {
        let connection = links[number]
        do throws(ExchangeFailure) {
            guard try connection.head.add(line), !connection.head.isRedirect else { return .taken }
        } catch {
            perform(exchange.failed(error, on: number))
            return .refuse
        }
        perform(exchange.answered(connection.head.head, on: number))
        return exchange.isEnded ? .refuse : .taken
    }

    private func took(_ bytes: Span<UInt8>, on number: Int) -> CurlRequest.Verdict {
        let connection = links[number]
        if connection.head.isRedirect {
            connection.redirectBytes += bytes.count
            guard connection.redirectBytes > Self.longestRedirectBody else { return .taken }
            let reason = "a redirect with an endless body"
            perform(exchange.failed(ExchangeFailure(.badAnswer, reason: reason), on: number))
            return .refuse
        }
        if exchange.isWaiting { return .wait }
        if exchange.isEnded { return .refuse }
        if mustHold() { return .wait }
        var done = 0
        while done < bytes.count {
            // What is behind its range may be another connection's, or become its own.
            let left = Int64(bytes.count - done)
            let room = exchange.room(on: number)
            let count = Int(room == 0 ? left : min(left, room))
            let isTaken = write(bytes.extracting(done..<done + count), on: number)
            guard isTaken, !exchange.isEnded, connection.request != nil else { return .refuse }
            done += count
        }
        meter?.add(bytes.count, at: Clocks.boot())
        syncIfMuch()
        return .taken
    }

    /// Where the exchange wants them; false: nowhere.
    private func write(_ bytes: Span<UInt8>, on number: Int) -> Bool {
        let (offset, actions) = exchange.received(bytes.count, on: number)
        if let offset {
            isUntouched = false
            do throws(LinuxError) {
                try headroom.take(Int64(bytes.count), on: file.descriptor)
                try file.descriptor.writeAll(bytes, at: offset)
            } catch {
                exchange.notWritten(offset..<offset + Int64(bytes.count))
                couldNotWrite(error)
            }
        }
        perform(actions)
        return offset != nil
    }

    private var unsynced: Int64 { exchange.received - durable.count }
    private var isFarAhead: Bool {
        isResumable && exchange.received - stored.count >= Self.mostUnstored
    }

    /// The network is faster than the disk or the daemon, or than it may be.
    private func mustHold() -> Bool {
        let isTooFast = meter?.isAhead(at: Clocks.boot()) ?? false
        let mustHold =
            isTooFast || isFarAhead || isResumable && isSyncing && unsynced >= Self.mostUnsynced
        // Another connection may be held already.
        isHeld = isHeld || mustHold
        return mustHold
    }

    private func resume() {
        isHeld = false
        for connection in links { connection.request?.resume() }
    }

    /// Also if the exchange has come to its end with these bytes: they are not in the file.
    private func couldNotWrite(_ error: LinuxError) { couldNotWrite(ExchangeEnd(by: error)) }

    private func couldNotWrite(_ end: ExchangeEnd) {
        perform(exchange.end(end))
        self.end(end)
    }

    /// The request is over; nil: it could not even be made.
    func requestEnded(_ ended: CurlRequest?, on number: Int, _ error: CurlError?) {
        let connection = links[number]
        guard ended === connection.request || ended == nil else { return }
        connection.request = nil
        guard let error else {
            if connection.head.isRedirect {
                let target = ended?.redirectURL ?? ""
                return perform(exchange.redirected(to: target, on: number))
            }
            hasBodyEnded = exchange.isWaiting
            return perform(exchange.bodyEnded(on: number))
        }
        // The exchange has said why.
        if error.kind == .refused, exchange.isEnded || exchange.isWaiting { return }
        switch error.outcome(of: exchange.url) {
        case .interrupted(let interruption): perform(exchange.failed(interruption, on: number))
        case .failed(let failure): perform(exchange.failed(failure, on: number))
        }
    }

    private func perform(_ actions: [Exchange.Action]) {
        for action in actions {
            // What follows would go out for a file that nobody fetches any more.
            if self.end != nil { return }
            switch action {
            case .request:
                answer = nil
                ask(on: 0)
            case .fetch(let number): ask(on: number)
            case .answered(let answer):
                (isResumable, isAnswered) = (answer.validator != nil, true)
                self.answer = answer
                // The daemon forgets it now, and takes what is told from now on for the new file.
                if answer.startsAnew { forgetDurable() }
                tasks.append(.report(.answered(id, answer)))
                reserve(answer)
            case .truncate: truncate()
            case .giveUp(let number): giveUp(number)
            case .end(let end): self.end(end)
            }
        }
    }

    private func ask(on number: Int) {
        giveUp(number)
        let order = exchange.order
        var options = CurlRequest.Options(url: exchange.url)
        options.set(exchange.fields(on: number))
        // Several streams of one connection would bring no more than one.
        options.isAlone = order.moreConnections > 0
        options.timeoutSeconds = Int(max(1, order.timeout.seconds))
        options.rateLimit = meter == nil ? order.rateLimit ?? 0 : 0
        options.proxy = order.proxy
        options.set(exchange.certificate)
        tasks.append(.request(options, on: number))
    }

    private func giveUp(_ number: Int) {
        guard let request = links[number].request else { return }
        tasks.append(.give(up: request))
        links[number].request = nil
    }

    private func truncate() {
        if isUntouched { return }
        // What was reserved goes with it.
        headroom = Headroom()
        do throws(LinuxError) {
            try file.descriptor.truncate(to: 0)
        } catch {
            return couldNotWrite(error)
        }
        if let answer { reserve(answer) }
    }

    /// Room for what is to come, so that the disk is not found full at the end.
    private func reserve(_ answer: ExchangeAnswer) {
        headroom = Headroom()
        guard let total = answer.total, total - answer.offset >= 1 << 20 else { return }
        // Also if it fails: some file systems keep what they found.
        (reserved, isUntouched) = (true, false)
        do throws(LinuxError) {
            // What does not fit is not to take the last room of others even for a moment.
            let there = try file.descriptor.status().allocated
            let missing = max(0, total - max(there, answer.offset))
            if let shortage = Headroom.shortage(of: missing, on: file.descriptor) {
                return couldNotWrite(.interrupted(.init(.diskFull, reason: shortage)))
            }
            try file.descriptor.reserve(total - answer.offset, at: answer.offset)
            try headroom.takeReserved(on: file.descriptor)
        } catch  where error.errno.isDiskFull {
            couldNotWrite(error)
        } catch {
            // The file system cannot reserve: it is seen when it is full.
        }
    }

    // MARK: Durability

    private func syncIfMuch() {
        guard isResumable, !isSyncing, unsynced >= Self.syncBytes else { return }
        sync(isLast: false)
    }

    private func sync(isLast: Bool) {
        isSyncing = true
        syncedAt = Clocks.boot()
        let isWhole = if case .complete = end { true } else { false }
        tasks.append(
            .sync(
                SyncThread.Job(
                    id: id,
                    file: file,
                    fileSystem: fileSystem,
                    filled: exchange.filled,
                    beginnings: beginnings,
                    isLast: isLast,
                    sha256: isLast && isWhole ? exchange.order.sha256 : nil
                )
            )
        )
    }

    func tick(_ now: BootTime) {
        if isHeld, let meter, !meter.isAhead(at: now) { resume() }
        // The daemon drops progress that it cannot store, so it is told again.
        if isHeld, isFarAhead, now - toldAt >= Self.syncInterval { told = (-1, -1) }
        guard end == nil, isResumable, !isSyncing, unsynced > 0,
            now - syncedAt >= Self.syncInterval
        else { return }
        sync(isLast: false)
    }

    func synced(_ result: SyncThread.Result) {
        isSyncing = false
        switch result.problem {
        case nil:
            if result.beginnings == beginnings { durable = result.filled }
            if isHeld { resume() }
        case .checksum(let found):
            let wanted = MessageDigest.digits(of: exchange.order.sha256 ?? [])
            let reason =
                found.map { "its SHA-256 is \(MessageDigest.digits(of: $0)), not \(wanted)" }
                ?? "it is shorter than it was"
            end = .failed(ExchangeFailure(.checksum, reason: reason))
        case .system(let error):
            // What could not be made durable now may be lost, whatever a second call says.
            isResumable = false
            guard end == nil else { return finish(ExchangeEnd(by: error)) }
            return couldNotWrite(error)
        }
        guard let end else { return }
        if result.isLast { return finish(end) }
        sync(isLast: true)
    }

    /// Only uploads have it done.
    func digested(_ result: DigestThread.Result) {}

    private func forgetDurable() {
        (durable, toldRanges) = (FilledBytes(prefix: 0), [])
        stored = StoredBytes(0)
        beginnings += 1
    }

    /// None: nothing is new.
    func takeProgress() -> [NetworkReport] {
        let now = (received: exchange.received, durable: min(durable.prefix, exchange.received))
        // Before that the daemon knows more: what earlier attempts have brought.
        guard isAnswered, end == nil, !exchange.isWaiting else { return [] }
        let ranges = takeRanges()
        guard now != told || !ranges.isEmpty else { return [] }
        (told, toldAt) = (now, Clocks.boot())
        stored.tell(durable: now.durable, count: durable.count)
        return ranges + [.progress(id, received: now.received, durable: now.durable)]
    }

    /// What is durable behind the first gap, if that is new.
    private func takeRanges() -> [NetworkReport] {
        guard durable.ranges != toldRanges else { return [] }
        toldRanges = durable.ranges
        return [.ranges(id, toldRanges)]
    }

    // MARK: The end

    private func end(_ end: ExchangeEnd) {
        guard self.end == nil else { return }
        self.end = end
        tasks.removeAll(where: \.isRequest)
        for number in links.indices { giveUp(number) }
        if reserved { releaseReserved() }
        switch end {
        case .complete(let size):
            tellWhole(size)
        case .interrupted where isResumable && unsynced > 0: break
        case .interrupted, .failed, .challenged:
            if case .interrupted(let why) = end, why.cause == .diskFull, durable.count == 0 {
                // No other attempt goes on with it, and others need the room.
                try? file.descriptor.truncate(to: 0)
            }
            if !isSyncing { finish(end) } else { isResumable = false }
            return
        }
        // Else its end begins another.
        if !isSyncing { sync(isLast: true) }
    }

    /// Others may come in its place: what is left to do needs no connection.
    private func tellWhole(_ size: Int64) {
        for (index, task) in tasks.enumerated() {
            guard case .report(.answered(_, var answer)) = task, answer.total == size else {
                continue
            }
            answer.isWhole = true
            tasks[index] = .report(.answered(id, answer))
            return
        }
        tasks.append(.report(.progress(id, received: size, durable: min(durable.prefix, size))))
    }

    /// What lies behind the end of the file.
    private func releaseReserved() {
        guard let size = try? file.descriptor.status().size else { return }
        try? file.descriptor.truncate(to: size)
    }

    private func finish(_ end: ExchangeEnd) {
        let size = if case .complete(let size) = end { size } else { durable.prefix }
        tasks += takeRanges().map(ExchangeTask.report)
        tasks.append(.done(.ended(id, end, durable: size)))
    }
}

extension ExchangeEnd {
    /// Of a download whose file could not be written, or made durable.
    fileprivate init(by error: LinuxError) {
        let reason = "\(error)"
        self =
            if error.errno.isDiskFull {
                .interrupted(.init(.diskFull))
            } else if error.errno.isShortage {
                .interrupted(.init(.shortage, reason: reason))
            } else {
                .failed(ExchangeFailure(.file, reason: reason))
            }
    }
}
