import Curl
import ExchangeCore
import Linux
import Vocabulary
import Wire

/// One upload: an exchange, and the file that its bytes come from.
@safe
final class Upload: RunningExchange {
    let id: TransferID
    private let file: SourceFile
    private var exchange: UploadExchange
    private var request: CurlRequest?
    private var head = AnswerHead()
    private var tasks: [ExchangeTask] = []
    /// Where the request's body ends in the file.
    private var bodyEnd: Int64 = 0
    /// Of the body of the answer.
    private var answerBytes = 0
    private var told: (sent: Int64, confirmed: Int64) = (-1, -1)
    /// Of what is sent; nil: it is with the thread that reads files.
    private var digest: SentDigest? = SentDigest()
    private var toldPart: (count: Int64, at: BootTime)
    /// The next request waits until the beginning of the file was looked at.
    private var isChecking = false
    /// Its server has made something that it can go on with.
    private var isTakenUp = false
    /// It has ended, and its server had bytes of it and made nothing for it.
    private(set) var wasIgnored = false

    /// More of an answer is not read: its head says what became of the file.
    private static let longestAnswer = 1 << 20
    /// What was sent is told again after so many bytes, or so long.
    private static let partBytes: Int64 = 4 << 20
    private static let partInterval = Interval.seconds(2)
    /// No more is summed up for a server that has made nothing: most never do, and what is missing
    /// can be read once more.
    private static let mostUnclaimed: Int64 = 32 << 20

    init(_ id: TransferID, _ order: UploadOrder, _ file: consuming FileDescriptor) {
        self.id = id
        self.file = SourceFile(file)
        toldPart = (order.sent?.count ?? -1, .distantPast)
        exchange = UploadExchange(order, digits: DigestChallenge.digits)
    }

    var order: UploadOrder { exchange.order }
    var url: String { order.url }
    var connections: Int64 { 1 }
    var connectionsPerHost: Int64? { exchange.order.connectionsPerHost }
    var needsConnections: Bool { !exchange.isEnded }

    func takeTasks() -> [ExchangeTask] {
        defer { tasks = [] }
        return tasks
    }

    // MARK: Orders

    func begin() { perform(exchange.begin()) }

    /// Only downloads wait for it.
    func proceed() {}
    func stored(durable: Int64) {}

    func stop() { perform(exchange.stop()) }

    func couldNotReport(_ error: NetworkError) {
        let reason = "the answer cannot be handed on: \(error)"
        perform(exchange.fail(ExchangeFailure(.badAnswer, reason: reason)))
    }

    // MARK: Requests

    func use(_ request: CurlRequest, on connection: Int, touched: @escaping () -> Void) {
        (self.request, head, answerBytes) = (request, AnswerHead(), 0)
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
        request.fill = { [unowned self] bytes in
            let count = fill(&bytes)
            if !tasks.isEmpty { touched() }
            return count
        }
        request.goesOut = { [unowned self] in exchange.goesOut() }
    }

    private func took(_ line: String) -> CurlRequest.Verdict {
        do throws(ExchangeFailure) {
            let isComplete = try head.add(line)
            if let interim = head.takeInterim() { perform(exchange.informed(interim)) }
            if isComplete, !head.isRedirect { exchange.answered(head.head) }
        } catch {
            perform(exchange.fail(error))
        }
        return exchange.isEnded ? .refuse : .taken
    }

    private func took(_ bytes: Span<UInt8>) -> CurlRequest.Verdict {
        answerBytes += bytes.count
        exchange.received(bytes)
        guard answerBytes > Self.longestAnswer else { return exchange.isEnded ? .refuse : .taken }
        if head.isRedirect {
            let reason = "a redirect with an endless body"
            perform(exchange.fail(ExchangeFailure(.badAnswer, reason: reason)))
        } else {
            perform(exchange.answerEnded())
        }
        return .refuse
    }

    /// The next bytes of the file. They are still those that were meant when they were read.
    private func fill(_ bytes: inout MutableSpan<UInt8>) -> Int? {
        guard !exchange.isEnded else { return nil }
        let left = Int(min(bodyEnd - exchange.sent, Int64(bytes.count)))
        guard left > 0 else { return 0 }
        do throws(LinuxError) {
            let offset = exchange.sent
            let count = try file.descriptor.read(at: offset, limit: left, into: &bytes)
            guard count > 0, try file.descriptor.status().identity == exchange.order.source else {
                let reason = "the file has changed while it was sent"
                perform(exchange.fail(ExchangeFailure(.source, reason: reason)))
                return nil
            }
            if let digest, exchange.resource != nil || offset < Self.mostUnclaimed {
                digest.add(bytes.span.extracting(0..<count), at: offset)
            }
            exchange.sending(count)
            return count
        } catch {
            couldNotRead(error)
            return nil
        }
    }

    private func couldNotRead(_ error: LinuxError) {
        let reason = "\(error)"
        perform(
            error.errno.isShortage
                ? exchange.failed(.init(.shortage, reason: reason))
                : exchange.fail(ExchangeFailure(.file, reason: reason))
        )
    }

    func requestEnded(_ ended: CurlRequest?, on connection: Int, _ error: CurlError?) {
        guard ended === request || ended == nil else { return }
        request = nil
        guard let error else {
            guard head.isRedirect else { return perform(exchange.answerEnded()) }
            return perform(exchange.redirected(head.head, to: ended?.redirectURL ?? ""))
        }
        // The exchange has said why.
        if error.kind == .refused, exchange.isEnded { return }
        switch error.outcome(of: exchange.request.url) {
        case .interrupted(let interruption): perform(exchange.failed(interruption))
        case .failed(let failure): perform(exchange.fail(failure))
        }
    }

    private func perform(_ actions: [UploadExchange.Action]) {
        for action in actions {
            switch action {
            case .request: ask()
            case .check(let part): check(part)
            case .resource(let resource):
                tasks.append(.report(.resource(id, resource)))
                guard resource != nil else { continue }
                isTakenUp = true
                // Stored together with it, and what was sent meanwhile with the next progress.
                toldPart.count = -1
                tasks += takePart(isLast: true).map(ExchangeTask.report)
                toldPart.at = .distantPast
            case .answered(let answer): tasks.append(.report(.answered(id, answer)))
            case .end(let end): self.end(end)
            }
        }
    }

    private func ask() {
        giveUp()
        let (order, request) = (exchange.order, exchange.request)
        var options = CurlRequest.Options(url: request.url)
        options.set(request.fields)
        // The body goes at once: a server that means to refuse it says so while it comes.
        options.fields.append("Expect:")
        if let body = request.body {
            bodyEnd = body.upperBound
            options.method = .sending(
                request.method,
                count: Int64(body.count),
                isOnce: !order.mayRepeat
            )
        } else {
            options.method = .head
        }
        options.timeoutSeconds = Int(max(1, order.timeout.seconds))
        options.rateLimit = order.rateLimit ?? 0
        options.proxy = order.proxy
        options.set(exchange.certificate)
        tasks.append(.request(options, on: 0))
    }

    private func giveUp() {
        guard let request else { return }
        tasks.append(.give(up: request))
        self.request = nil
    }

    // MARK: What was sent

    /// And what the server has beyond it is summed up with it.
    private func check(_ part: SentPart) {
        isChecking = true
        sumUp(to: max(part.count, exchange.confirmed), part)
    }

    private func sumUp(to end: Int64, _ known: SentPart? = nil) {
        guard let digest else { return }
        self.digest = nil
        tasks.append(
            .digest(DigestThread.Job(id: id, file: file, digest: digest, known: known, end: end))
        )
    }

    func digested(_ result: DigestThread.Result) {
        // An earlier attempt at the same transfer may have been stopped while its job waited.
        guard result.file === file else { return }
        digest = result.digest
        guard isChecking else { return }
        isChecking = false
        switch result.problem {
        case nil: perform(exchange.checked(isSame: true))
        case .changed: perform(exchange.checked(isSame: false))
        case .system(let error):
            couldNotRead(error)
        }
    }

    /// None: it is not known, of no use, or was told a moment ago. `isLast`: also then.
    private func takePart(isLast: Bool) -> [NetworkReport] {
        let now = Clocks.boot()
        guard exchange.resource != nil, exchange.unchecked == nil, let digest,
            digest.count > toldPart.count,
            isLast || digest.count - toldPart.count >= Self.partBytes
                || now - toldPart.at >= Self.partInterval,
            let part = digest.part
        else { return [] }
        toldPart = (part.count, now)
        return [.sent(id, part)]
    }

    // MARK: Progress

    /// What was sent before the server made something for it, or before this process, is lacking.
    func tick(_ now: BootTime) {
        guard !exchange.isEnded, exchange.resource != nil, exchange.unchecked == nil,
            let digest, digest.count < exchange.sent
        else { return }
        sumUp(to: exchange.sent)
    }

    func synced(_ result: SyncThread.Result) {}

    func takeProgress() -> [NetworkReport] {
        let confirmed = exchange.confirmed
        let now = (sent: max(exchange.sent, confirmed), confirmed: confirmed)
        guard !exchange.isEnded, now != told else { return [] }
        told = now
        return takePart(isLast: false)
            + [.progress(id, received: now.sent, durable: now.confirmed)]
    }

    private func end(_ end: ExchangeEnd) {
        tasks.removeAll(where: \.isRequest)
        giveUp()
        file.giveUp()
        let confirmed = exchange.confirmed
        let size = if case .complete(let size) = end { size } else { confirmed }
        switch end {
        // Its server had no time to make anything.
        case .interrupted(let interruption) where interruption.cause == .stopped: break
        case .complete, .interrupted: wasIgnored = !isTakenUp && exchange.sent > 0
        case .failed, .challenged: break
        }
        switch end {
        case .interrupted, .challenged:
            tasks += takePart(isLast: true).map(ExchangeTask.report)
        case .complete, .failed: break
        }
        // Whether anything was sent matters to the next attempt.
        if exchange.sent > told.sent {
            let sent = max(exchange.sent, confirmed)
            tasks.append(.report(.progress(id, received: sent, durable: confirmed)))
        }
        tasks.append(.done(.ended(id, end, durable: size)))
    }
}
