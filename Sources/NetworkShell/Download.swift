import Curl
import ExchangeCore
import Linux
import Vocabulary
import Wire

/// One download: an exchange, the file that its bytes go to, and how much of that is durable.
@safe
final class Download: RunningExchange {
    let id: TransferID
    private let file: DownloadFile
    private let fileSystem: UInt64
    private var exchange: Exchange
    private var request: CurlRequest?
    private var head = AnswerHead()
    private var tasks: [ExchangeTask] = []
    /// Bytes of the file that a loss of power does not take.
    private var durable: Int64
    /// A job of the thread that syncs is on its way.
    private var isSyncing = false
    /// How often the file has begun anew: what was synced before counts for nothing after.
    private var beginnings = 0
    /// Of the body of a redirect, which is of no interest.
    private var redirectBytes = 0
    private var syncedAt = Clocks.boot()
    private var told: (received: Int64, durable: Int64) = (-1, -1)
    /// How it ends, once the thread is done with its file.
    private var end: ExchangeEnd?
    /// The body has ended, and it waits for `proceed`.
    private var hasBodyEnded = false
    /// What has come may be gone on with.
    private var isResumable = false
    private var reserved = false
    /// Its bytes wait until others are durable.
    private var isHeld = false

    /// Bytes are made durable when so many have come, or after so long.
    static let syncBytes: Int64 = 4 << 20
    static let syncInterval = Interval.seconds(2)
    /// So many may be in the file and not durable: a network is faster than most disks, and who is
    /// killed loses these. As many may be durable while the daemon has not yet stored that.
    static let mostUnsynced: Int64 = 7 << 20
    /// Of a redirect.
    private static let longestRedirectBody = 1 << 20

    init(_ id: TransferID, _ order: ExchangeOrder, _ file: consuming FileDescriptor) {
        self.id = id
        self.file = DownloadFile(file)
        fileSystem = (try? self.file.descriptor.status())?.device ?? 0
        exchange = Exchange(order)
        durable = order.resume?.offset ?? 0
        isResumable = order.resume != nil
    }

    func takeTasks() -> [ExchangeTask] {
        defer { tasks = [] }
        return tasks
    }

    // MARK: Orders

    func begin() {
        perform(exchange.begin())
    }

    func proceed() {
        perform(exchange.proceed())
        guard hasBodyEnded else {
            request?.resume()
            return
        }
        hasBodyEnded = false
        perform(exchange.bodyEnded())
    }

    func stop() { perform(exchange.stop()) }

    /// What the server says cannot be told to the daemon.
    func couldNotReport(_ error: NetworkError) {
        let reason = "the answer cannot be handed on: \(error)"
        perform(exchange.fail(ExchangeFailure(.badAnswer, reason: reason)))
    }

    // MARK: Requests

    /// `touched` is called from within libcurl's calls when there is something to do.
    func use(_ request: CurlRequest, touched: @escaping () -> Void) {
        (self.request, head, redirectBytes) = (request, AnswerHead(), 0)
        request.headLine = { [unowned self] line in
            let verdict = took(line)
            if !tasks.isEmpty { touched() }
            return verdict
        }
        request.body = { [unowned self] bytes in
            let verdict = took(bytes)
            if !tasks.isEmpty { touched() }
            return verdict
        }
    }

    private func took(_ line: String) -> CurlRequest.Verdict {
        do throws(ExchangeFailure) {
            guard try head.add(line), !head.isRedirect else { return .taken }
        } catch {
            perform(exchange.fail(error))
            return .refuse
        }
        perform(exchange.answered(head.head))
        return exchange.isEnded ? .refuse : .taken
    }

    private func took(_ bytes: Span<UInt8>) -> CurlRequest.Verdict {
        if head.isRedirect {
            redirectBytes += bytes.count
            guard redirectBytes > Self.longestRedirectBody else { return .taken }
            let reason = "a redirect with an endless body"
            perform(exchange.fail(ExchangeFailure(.badAnswer, reason: reason)))
            return .refuse
        }
        if exchange.isWaiting { return .wait }
        if exchange.isEnded { return .refuse }
        isHeld = isResumable && isSyncing && exchange.received - durable >= Self.mostUnsynced
        if isHeld { return .wait }
        let (offset, actions) = exchange.received(bytes.count)
        if let offset {
            do throws(LinuxError) {
                try file.descriptor.writeAll(bytes, at: offset)
            } catch {
                exchange.notWritten(from: offset)
                couldNotWrite(error)
            }
        }
        perform(actions)
        syncIfMuch()
        return exchange.isEnded || offset == nil ? .refuse : .taken
    }

    private func couldNotWrite(_ error: LinuxError) {
        if error.errno == .noSpace || error.errno == .quota {
            perform(exchange.failed(.init(.diskFull)))
        } else {
            perform(exchange.fail(ExchangeFailure(.file, reason: "\(error)")))
        }
    }

    /// The request is over; nil: it could not even be made.
    func requestEnded(_ ended: CurlRequest?, _ error: CurlError?) {
        guard ended === request || ended == nil else { return }
        request = nil
        guard let error else {
            if head.isRedirect {
                let target = ended?.redirectURL ?? ""
                return perform(exchange.redirected(to: target))
            }
            hasBodyEnded = exchange.isWaiting
            return perform(exchange.bodyEnded())
        }
        // The exchange has said why.
        if error.kind == .refused, exchange.isEnded || exchange.isWaiting { return }
        switch error.outcome {
        case .interrupted(let interruption): perform(exchange.failed(interruption))
        case .failed(let failure): perform(exchange.fail(failure))
        }
    }

    private func perform(_ actions: [Exchange.Action]) {
        for action in actions {
            switch action {
            case .request: ask()
            case .answered(let answer):
                isResumable = answer.validator != nil
                // The daemon forgets it now, and takes what is told from now on for the new file.
                if answer.startsAnew { (durable, beginnings) = (0, beginnings + 1) }
                tasks.append(.report(.answered(id, answer)))
                reserve(answer)
            case .truncate: truncate()
            case .skipBody: giveUp()
            case .end(let end): self.end(end)
            }
        }
    }

    private func ask() {
        giveUp()
        let order = exchange.order
        var options = CurlRequest.Options(url: exchange.url)
        options.set(exchange.fields)
        options.timeoutSeconds = Int(max(1, order.timeout.seconds))
        options.rateLimit = order.rateLimit ?? 0
        options.proxy = order.proxy
        options.set(exchange.certificate)
        tasks.append(.request(options))
    }

    private func giveUp() {
        guard let request else { return }
        tasks.append(.give(up: request))
        self.request = nil
    }

    private func truncate() {
        do throws(LinuxError) {
            try file.descriptor.truncate(to: 0)
        } catch {
            couldNotWrite(error)
        }
    }

    /// Room for what is to come, so that the disk is not found full at the end.
    private func reserve(_ answer: ExchangeAnswer) {
        guard let total = answer.total, total - answer.offset >= 1 << 20 else { return }
        // Also if it fails: some file systems keep what they found.
        reserved = true
        do throws(LinuxError) {
            try file.descriptor.reserve(total - answer.offset, at: answer.offset)
        } catch  where error.errno == .noSpace || error.errno == .quota {
            couldNotWrite(error)
        } catch {
            // The file system cannot reserve: it is seen when it is full.
        }
    }

    // MARK: Durability

    private func syncIfMuch() {
        guard isResumable, !isSyncing, exchange.received - durable >= Self.syncBytes else { return }
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
                    size: exchange.received,
                    beginnings: beginnings,
                    isLast: isLast,
                    sha256: isLast && isWhole ? exchange.order.sha256 : nil
                )
            )
        )
    }

    func tick(_ now: BootTime) {
        guard end == nil, isResumable, !isSyncing, exchange.received > durable,
            now - syncedAt >= Self.syncInterval
        else { return }
        sync(isLast: false)
    }

    func synced(_ result: SyncThread.Result) {
        isSyncing = false
        switch result.problem {
        case nil:
            if result.beginnings == beginnings { durable = max(durable, result.size) }
            if isHeld { request?.resume() }
        case .checksum:
            end = .failed(ExchangeFailure(.checksum, reason: "its SHA-256 is another"))
        case .system(let error):
            // What could not be made durable now may be lost, whatever a second call says.
            isResumable = false
            let failure = ExchangeFailure(.file, reason: "\(error)")
            guard end == nil else {
                end = .failed(failure)
                break
            }
            return perform(exchange.fail(failure))
        }
        guard let end else { return }
        if result.isLast { return finish(end) }
        sync(isLast: true)
    }

    /// Nil: nothing is new.
    func takeProgress() -> NetworkReport? {
        let now = (received: exchange.received, durable: min(durable, exchange.received))
        guard end == nil, !exchange.isWaiting, now != told else { return nil }
        told = now
        return .progress(id, received: now.received, durable: now.durable)
    }

    // MARK: The end

    private func end(_ end: ExchangeEnd) {
        guard self.end == nil else { return }
        self.end = end
        giveUp()
        if reserved { releaseReserved() }
        switch end {
        case .complete(let size):
            tellWhole(size)
        case .interrupted where isResumable && exchange.received > durable: break
        case .interrupted, .failed:
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
        tasks.append(.report(.progress(id, received: size, durable: min(durable, size))))
    }

    /// What lies behind the end of the file.
    private func releaseReserved() {
        guard let size = try? file.descriptor.status().size else { return }
        try? file.descriptor.truncate(to: size)
    }

    private func finish(_ end: ExchangeEnd) {
        let size = if case .complete(let size) = end { size } else { durable }
        tasks.append(.done(.ended(id, end, durable: size)))
    }
}
