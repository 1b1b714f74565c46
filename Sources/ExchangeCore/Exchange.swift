package import Vocabulary

/// One exchange of a download with a server, as a pure state machine: which header fields are sent,
/// which redirects are followed, and what of the answers goes where in the file.
///
/// It never joins bytes of two versions of an object. Bytes that are there are gone on with only
/// under a strong validator: the request carries `If-Range`, and the answer is checked again. In
/// every other case the file starts anew, once the daemon has forgotten what was durable
/// (`proceed`).
package struct Exchange: Sendable {
    package let order: ExchangeOrder
    private var target: RequestTarget
    /// What is there of the file, of one version.
    private var known: ResumePoint?
    /// Requests that brought little of what was asked for, or had to be repeated from the start.
    private var requests = 0
    var state = State.asking
    /// The daemon may know of durable bytes.
    private var mustAsk: Bool
    private var hasAnswered = false
    private var authorizer: Authorizer
    /// Bytes from the start of the file, of the version of the last answer.
    private var inOrder: Int64
    /// While several connections bring the rest, or one brings what lies between ranges, and after
    /// that; nil: one answer is read to its end.
    var missing: MissingRanges?
    /// Connections that have nothing to fetch for the time being. Others have failed.
    var idle: [Int] = []
    /// The server has sent another version beside the first.
    private var mustBeAlone = false

    enum State: Hashable, Sendable {
        /// A request is on its way, or will be.
        case asking
        /// The file is about to start anew; `body`: with the body of this answer.
        case startingAnew(body: Body?)
        case receiving(Body)
        /// What is missing, range by range.
        case filling
        case ended
    }

    /// A body whose bytes go into the file.
    struct Body: Hashable, Sendable {
        /// Where its next byte goes.
        var offset: Int64
        /// Where its last byte ends; nil: where the connection does.
        var end: Int64?
        /// Of the whole object.
        var total: Int64?
        var validator: Validator?
        /// Connections beside this one that may bring the rest.
        var moreConnections: Int64 = 0
    }

    /// What is to be done, in order.
    package enum Action: Hashable, Sendable {
        /// Sends a request to `url`, with `fields`. The connection of the last one may be given up.
        case request
        /// Tells the daemon. If the answer starts anew, `proceed` is waited for.
        case answered(ExchangeAnswer)
        /// The file is to have no bytes.
        case truncate
        /// Sends a request over this connection, beside the others, to `url`, with `fields(on:)`.
        case fetch(Int)
        /// What this connection still brings is of no use.
        case giveUp(Int)
        /// Over. The connection of every request may be given up.
        case end(ExchangeEnd)
    }

    /// The head of an answer that is no redirect.
    package struct Head: Hashable, Sendable {
        package var status: Int
        package var fields: [HTTPField]
        /// Of the body, if the server says so.
        package var length: Int64?

        package init(status: Int, fields: [HTTPField], length: Int64?) {
            (self.status, self.fields, self.length) = (status, fields, length)
        }
    }

    /// How many requests one exchange makes at the most, redirects not counted, nor those that
    /// brought a part of some size.
    private static let mostRequests = 16
    static let partBytes: Int64 = 65_536

    package init(_ order: ExchangeOrder, digits: @escaping DigestFunction) {
        (self.order, target, known) = (order, RequestTarget(order.url), order.resume)
        inOrder = order.resume?.offset ?? 0
        mustAsk = order.resume != nil
        authorizer = Authorizer(order.credentials, digits)
    }

    // MARK: Requests

    package mutating func begin() -> [Action] {
        // All bytes of one version are there.
        if let known, known.offset == known.total { return end(.complete(size: known.offset)) }
        return [.request]
    }

    /// Of the request that is, or will be, sent.
    package var url: String { target.url }

    /// Of the request to `url`.
    package var fields: [HTTPField] {
        var fields = ownFields
        if let known {
            let end = known.ranges.first.map { "\($0.lowerBound - 1)" } ?? ""
            fields.append(HTTPField("Range", "bytes=\(known.offset)-\(end)"))
            fields.append(HTTPField("If-Range", known.validator.text))
        }
        return fields
    }

    /// Of every request.
    var ownFields: [HTTPField] {
        // What was meant for one server is not told to another.
        var fields = target.isForeign ? [] : order.headers
        if let answer = authorizer.field(method: "GET", url: url, own: fields) {
            fields.append(answer)
        }
        if let credentials = order.credentials {
            fields += credentials.fields(for: url, own: fields, isForeign: target.isForeign)
        }
        fields.append(HTTPField("Accept-Encoding", "identity"))
        return fields
    }

    /// For the request to `url`; nil: none.
    package var certificate: Credentials.ClientCertificate? {
        target.isForeign ? nil : order.credentials?.certificate
    }

    /// The answer was a redirect to this URL, which is absolute.
    package mutating func redirected(to url: String, on connection: Int = 0) -> [Action] {
        if state == .filling { return lose(connection, "a range is at another place") }
        guard state == .asking, connection == 0 else { return [] }
        do throws(ExchangeFailure) {
            try target.follow(url)
        } catch {
            return end(.failed(error.plain))
        }
        authorizer.wasAnswered()
        return [.request]
    }

    // MARK: Answers

    package mutating func answered(_ head: Head, on connection: Int = 0) -> [Action] {
        if state == .filling { return answeredRange(head, connection) }
        guard state == .asking, connection == 0 else { return [] }
        requests += 1
        if head.status == 401, let actions = challenged(head) { return actions }
        authorizer.wasAnswered()
        if head.status >= 400, let actions = refused(head) { return actions }
        switch head.status {
        case 206: return partial(head)
        case 200..<300: return whole(head)
        case 412 where known != nil, 416 where known != nil: return startAnew()
        case 400...: return whole(head)
        default: return fail(.badAnswer, "the server answered \(head.status)")
        }
    }

    /// Nil: the answer is like any other that refuses.
    private mutating func challenged(_ head: Head) -> [Action]? {
        if authorizer.refused(head.fields, of: url), requests < Self.mostRequests {
            return [.giveUp(0), .request]
        }
        guard order.reportsChallenges else { return nil }
        return end(
            .challenged(ExchangeAnswer(status: head.status, headers: head.fields, url: url))
        )
    }

    /// Nil: the body of the answer is what was asked for, or the next request may bring it.
    private mutating func refused(_ head: Head) -> [Action]? {
        if let known {
            if head.status == 416, isComplete(known, head) {
                return end(.complete(size: known.offset))
            }
            if head.status == 412 || head.status == 416 { return nil }
        }
        guard order.errors == .fail else { return nil }
        guard BusyStatus.contains(head.status) else {
            return fail(.status, ExchangeFailure.reason(ofStatus: head.status))
        }
        return end(.interrupted(BusyStatus.interruption(head)))
    }

    /// Nothing is missing of what we have.
    private func isComplete(_ known: ResumePoint, _ head: Head) -> Bool {
        let range = head.fields.value(of: "Content-Range").flatMap(ContentRange.init)
        guard let total = range?.total, total == known.offset, total == known.total ?? total else {
            return false
        }
        // Without a word on the version it may be of another.
        return Validators.strong(of: head.fields) == known.validator
    }

    private mutating func partial(_ head: Head) -> [Action] {
        guard let known else { return fail(.badAnswer, "the server sent a part unasked") }
        // Among them answers of several parts, which have no `Content-Range`.
        guard let range = head.fields.value(of: "Content-Range").flatMap(ContentRange.init),
            let first = range.first, let last = range.last, first == known.offset,
            // Without a length of the whole nobody knows whether this is all of the rest.
            let total = range.total ?? known.total, total == known.total ?? total,
            last < known.ranges.first?.lowerBound ?? total,
            head.length.map({ $0 == last - first + 1 }) ?? true,
            Validators.confirm(known.validator, head.fields)
        else { return startAnew() }
        if let limit = order.sizeLimit, total > limit { return failTooLarge(total) }
        var body = Body(offset: first, end: last + 1, total: total, validator: known.validator)
        body.moreConnections = moreConnections(for: body, knowsRanges: true)
        return begin(body, head)
    }

    private mutating func whole(_ head: Head) -> [Action] {
        // An app would be told of a coding that its library is to undo, and nothing undoes any.
        guard order.errors == .fail || Validators.coding(of: head.fields) == nil else {
            return fail(.badAnswer, "the server sent a compressed body, which was not asked for")
        }
        if let limit = order.sizeLimit, let length = head.length, length > limit {
            return failTooLarge(length)
        }
        let validator = head.status == 200 ? Validators.strong(of: head.fields) : nil
        var body = Body(offset: 0, end: head.length, total: head.length, validator: validator)
        known = nil
        let ranges = head.fields.values(of: "Accept-Ranges").map { $0.lowercased() }
        body.moreConnections = moreConnections(for: body, knowsRanges: ranges == ["bytes"])
        guard mustAsk else { return begin(body, head) }
        (inOrder, hasAnswered) = (0, true)
        state = .startingAnew(body: body)
        return [.answered(answer(head, body))]
    }

    private mutating func failTooLarge(_ bytes: Int64) -> [Action] {
        fail(.tooLarge, "the file has \(ByteSize.text(bytes)), and \(limitWords)")
    }

    private var limitWords: String {
        "the setting download-limit is \(ByteSize.text(order.sizeLimit ?? .max))"
    }

    private mutating func begin(_ body: Body, _ head: Head) -> [Action] {
        // After a part that was too short the answer goes on where that ended.
        let goesOn = hasAnswered && known != nil
        let answered = Action.answered(answer(head, body))
        state = .receiving(body)
        (inOrder, mustAsk, hasAnswered) = (body.offset, true, true)
        let fetches = spread(body)
        if goesOn { return fetches }
        return (known == nil ? [.truncate, answered] : [answered]) + fetches
    }

    /// Beside the one that brings this body. Each of them has something to do for a while.
    private func moreConnections(for body: Body, knowsRanges: Bool) -> Int64 {
        guard knowsRanges, !mustBeAlone, body.validator != nil, let total = body.total else {
            return 0
        }
        let filled = FilledBytes(prefix: body.offset, ranges: known?.ranges ?? [])
        let pieces = (total - filled.count) / MissingRanges.leastBytes
        return max(0, min(order.moreConnections, pieces - 1))
    }

    /// The rest is fetched range by range, if that is of use.
    private mutating func spread(_ body: Body) -> [Action] {
        let ranges = known?.ranges ?? []
        guard body.moreConnections > 0 || !ranges.isEmpty, let validator = body.validator,
            let total = body.total, let end = body.end
        else { return [] }
        let filled = FilledBytes(prefix: body.offset, ranges: ranges)
        var missing = MissingRanges(total: total, validator: validator, filled: filled)
        _ = missing.assign(to: [0])
        missing.answered(0, end: end)
        (self.missing, state) = (missing, .filling)
        idle = Array(1..<Int(body.moreConnections) + 1)
        return employ()
    }

    private func answer(_ head: Head, _ body: Body) -> ExchangeAnswer {
        var answer = ExchangeAnswer(
            status: head.status,
            headers: head.fields,
            url: url,
            total: body.total,
            validator: body.validator,
            offset: body.offset,
            startsAnew: mustAsk && known == nil
        )
        answer.moreConnections = body.moreConnections
        return answer
    }

    /// What is there is of no use with this server's answer: all is asked for again, without it.
    private mutating func startAnew() -> [Action] {
        guard known != nil, requests < Self.mostRequests else {
            return fail(.badAnswer, "the server does not send what it was asked for")
        }
        known = nil
        (inOrder, hasAnswered) = (0, false)
        guard mustAsk else { return [.giveUp(0), .request] }
        return [.giveUp(0), askToStartAnew()]
    }

    private mutating func askToStartAnew() -> Action {
        state = .startingAnew(body: nil)
        return .answered(ExchangeAnswer(status: 0, url: url, startsAnew: true))
    }

    /// One connection has been answered with another version than the first one. The file may have
    /// been overwritten under what the others send, so none of it is kept.
    mutating func startAnewAlone() -> [Action] {
        let busy = missing?.claims.map(\.connection) ?? []
        (known, missing, idle, mustBeAlone) = (nil, nil, [], true)
        (inOrder, hasAnswered) = (0, false)
        return busy.map(Action.giveUp) + [askToStartAnew()]
    }

    /// The daemon has forgotten what was durable.
    package mutating func proceed() -> [Action] {
        guard case .startingAnew(let body) = state else { return [] }
        inOrder = 0
        guard let body else {
            (state, mustAsk) = (.asking, false)
            return [.truncate, .request]
        }
        state = .receiving(body)
        return [.truncate] + spread(body)
    }

    // MARK: Bodies

    /// Whether bytes may come. Else the connection is not to be read from.
    package var isWaiting: Bool { if case .startingAnew = state { true } else { false } }

    /// Bytes in the file, of the version of the last answer.
    package var filled: FilledBytes { missing?.filled ?? FilledBytes(prefix: inOrder) }

    /// So many bytes.
    package var received: Int64 { missing.map { $0.total - $0.count } ?? inOrder }

    /// Where these bytes go; nil: nowhere, and `actions` say what becomes of the exchange. Of one
    /// connection among several no more than `room(on:)`.
    package mutating func received(
        _ count: Int,
        on connection: Int = 0
    ) -> (offset: Int64?, actions: [Action]) {
        if state == .filling { return receivedRange(Int64(count), connection) }
        guard connection == 0 else { return (nil, []) }
        guard case .receiving(var body) = state else { return (nil, []) }
        let offset = body.offset
        let (end, isOver) = offset.addingReportingOverflow(Int64(count))
        guard !isOver, end <= body.end ?? .max else {
            return (nil, fail(.badAnswer, "the server sent more than it said"))
        }
        guard end <= order.sizeLimit ?? .max else {
            return (nil, fail(.tooLarge, "the server sends more, and \(limitWords)"))
        }
        (body.offset, inOrder) = (end, end)
        state = .receiving(body)
        return (offset, [])
    }

    /// These bytes did not get into the file.
    package mutating func notWritten(_ range: Range<Int64>) {
        missing?.lose(range)
        inOrder = min(inOrder, range.lowerBound)
    }

    /// The body has ended as HTTP has it.
    package mutating func bodyEnded(on connection: Int = 0) -> [Action] {
        if state == .filling { return endedRange(connection) }
        guard connection == 0 else { return [] }
        guard case .receiving(let body) = state else {
            // After an interim answer, or one that says that it is no HTTP from now on.
            return state == .asking
                ? end(.interrupted(.init(.connection, reason: "there was no answer"))) : []
        }
        guard body.offset == body.end ?? body.offset else {
            return end(.interrupted(.init(.connection, reason: "the answer ended early")))
        }
        guard let total = body.total, body.offset < total else {
            return end(.complete(size: body.offset))
        }
        // A part of what was asked for: the rest is asked for.
        if body.offset - (known?.offset ?? 0) >= Self.partBytes { requests -= 1 }
        guard let validator = body.validator, requests < Self.mostRequests else {
            return fail(.badAnswer, "the server sends only small parts")
        }
        known = ResumePoint(offset: body.offset, validator: validator, total: total)
        state = .asking
        return [.request]
    }

    // MARK: Ends from outside

    /// The connection failed, or there was none.
    package mutating func failed(
        _ interruption: ExchangeEnd.Interruption,
        on connection: Int = 0
    ) -> [Action] {
        if state == .filling { return lose(connection, interruption) }
        return connection == 0 ? end(.interrupted(interruption)) : []
    }

    /// What came over this connection is no answer.
    package mutating func failed(_ failure: ExchangeFailure, on connection: Int) -> [Action] {
        if state == .filling { return lose(connection, failure.plain.reason) }
        return connection == 0 ? end(.failed(failure)) : []
    }

    /// It cannot go on, whatever the connections do.
    package mutating func fail(_ failure: ExchangeFailure) -> [Action] { end(.failed(failure)) }

    package mutating func stop() -> [Action] { end(.interrupted(.init(.stopped))) }

    private mutating func fail(_ code: ExchangeFailure.Code, _ reason: String) -> [Action] {
        end(.failed(ExchangeFailure(code, reason: reason).plain))
    }

    /// It is over, unless it was before.
    package mutating func end(_ end: ExchangeEnd) -> [Action] {
        guard state != .ended else { return [] }
        state = .ended
        return [.end(end)]
    }

    package var isEnded: Bool { state == .ended }
}
