package import Vocabulary

/// One exchange that sends a file to a server, as a pure state machine: which requests are made,
/// with which bytes of the file, and what the answers mean.
///
/// A server that speaks draft-ietf-httpbis-resumable-upload makes a resource for the upload, and
/// says so with status 104. After an interruption the exchange asks it how much it has, and sends
/// the rest. Any other server gets the whole file each time. If it may have the file already, it
/// gets another one only if the order says that this does no harm (`mayRepeat`).
package struct UploadExchange: Sendable {
    package let order: UploadOrder
    /// The target of the first request.
    private var target: RequestTarget
    /// The resource that the server has made, with what it has confirmed.
    package private(set) var resource: UploadResource?
    /// Where requests to the resource go.
    private var resourceTarget: RequestTarget?
    private var state = State.creating
    /// Where the next byte of the request's body comes from.
    package private(set) var sent: Int64 = 0
    /// The head of the last answer, until its body has ended.
    private var head: Exchange.Head?
    /// As much of its body as is kept.
    private var body: [UInt8] = []
    /// More than so many bytes are sent in no request to the resource.
    private var appendLimit: Int64?
    private var requests = 0
    private var hasBegunAnew = false
    /// The server may have all of the file, for all that anybody can say.
    private var mayHaveArrived = false
    /// A 2xx to the last bytes did not say whether the upload is complete.
    private var believed: Answer?
    /// What was sent before, until somebody has looked whether the file still begins with it.
    package private(set) var unchecked: SentPart?
    private var authorizer: Authorizer

    private struct Answer: Hashable, Sendable {
        let head: Exchange.Head
        var body: [UInt8] = []
    }

    private enum State: Hashable, Sendable {
        /// The first request: the whole file.
        case creating
        /// How much does the server have?
        case asking
        /// Bytes up to this one are sent to the resource.
        case appending(end: Int64)
        case ended
    }

    /// How many requests one exchange makes at the most; those that bring the upload on do not
    /// count.
    private static let mostRequests = 16
    /// What a limit that nobody has named begins with, after a server found a request too large.
    private static let leastAppend: Int64 = 65_536

    package init(_ order: UploadOrder, digits: @escaping DigestFunction) {
        (self.order, resource, target) = (order, order.resource, RequestTarget(order.url))
        resourceTarget = resource.map { RequestTarget($0.url) }
        unchecked = resource == nil ? nil : order.sent
        authorizer = Authorizer(order.credentials, digits)
    }

    package var size: Int64 { order.source.size }
    /// Bytes that the server has confirmed.
    package var confirmed: Int64 { resource?.offset ?? 0 }
    package var isEnded: Bool { state == .ended }

    // MARK: Requests

    package mutating func begin() -> [Action] {
        if resource != nil { state = .asking }
        return [.request]
    }

    package var request: Request {
        let interop = resource?.interop ?? order.interop
        let version = HTTPField("Upload-Draft-Interop-Version", "\(interop.rawValue)")
        switch state {
        case .creating, .ended:
            let length = HTTPField("Upload-Length", "\(size)")
            return Request(
                method: order.method.rawValue,
                url: target.url,
                fields: creatingFields
                    + [version, HTTPField("Upload-Complete", "?1"), length],
                body: 0..<size
            )
        case .asking:
            return Request(
                method: "HEAD",
                url: resourceTarget?.url ?? "",
                fields: resourceFields("HEAD") + [version],
                body: nil
            )
        case .appending(let end):
            let fields = [
                version, HTTPField("Upload-Complete", end == size ? "?1" : "?0"),
                HTTPField("Upload-Offset", "\(confirmed)"),
                HTTPField("Content-Type", "application/partial-upload"),
            ]
            return Request(
                method: "PATCH",
                url: resourceTarget?.url ?? "",
                fields: resourceFields("PATCH") + fields,
                body: confirmed..<end
            )
        }
    }

    private var creatingFields: [HTTPField] {
        let own = target.isForeign ? [] : order.headers
        return own
            + credentialFields(
                for: target.url,
                order.method.rawValue,
                own,
                isForeign: target.isForeign
            )
    }

    private func resourceFields(_ method: String) -> [HTTPField] {
        guard let resourceTarget else { return [] }
        let own =
            isResourceForeign ? [] : order.headers.forResource(resourceTarget.url, of: order.url)
        return own
            + credentialFields(for: resourceTarget.url, method, own, isForeign: isResourceForeign)
    }

    private func credentialFields(
        for url: String,
        _ method: String,
        _ own: [HTTPField],
        isForeign: Bool
    ) -> [HTTPField] {
        let answer = authorizer.field(method: method, url: url, own: own).map { [$0] } ?? []
        let others = order.credentials?.fields(for: url, own: own + answer, isForeign: isForeign)
        return answer + (others ?? [])
    }

    /// What was meant for the server of the order is not for that of the resource.
    private var isResourceForeign: Bool {
        guard let resourceTarget, !resourceTarget.isForeign, !target.isForeign else { return true }
        return Origin(resourceTarget.url) != Origin(order.url)
    }

    /// For the request that is, or will be, sent; nil: none.
    package var certificate: Credentials.ClientCertificate? {
        let isForeign = state == .creating ? target.isForeign : isResourceForeign
        return isForeign ? nil : order.credentials?.certificate
    }

    /// The request is about to go out. No byte of an empty file follows that would tell.
    package mutating func goesOut() {
        if size == 0 { sending(0) }
    }

    /// So many more bytes of the body are on their way.
    package mutating func sending(_ count: Int) {
        sent += Int64(count)
        if state == .creating, resource == nil { mayHaveArrived = true }
    }

    private mutating func ask() -> [Action] {
        state = .asking
        return send()
    }

    private mutating func append() -> [Action] {
        let end = appendLimit.map { min(size, confirmed + $0) } ?? size
        state = .appending(end: end)
        if let unchecked { return [.check(unchecked)] }
        return send()
    }

    /// The file was looked at.
    package mutating func checked(isSame: Bool) -> [Action] {
        guard case .appending = state, unchecked != nil else { return [] }
        guard isSame else {
            return fail(.source, "the file has changed since the upload was asked for")
        }
        unchecked = nil
        return send()
    }

    private mutating func send() -> [Action] {
        requests += 1
        guard requests <= Self.mostRequests else {
            return interrupt(.init(.busy, reason: "the server takes no more of the file"))
        }
        (sent, head, body) = (confirmed, nil, [])
        return [.request]
    }

    // MARK: Answers

    /// The head of an interim answer.
    package mutating func informed(_ head: Exchange.Head) -> [Action] {
        guard head.status == 104, state != .ended, state != .asking else { return [] }
        // Of another version of the draft, and not for us.
        let interop = resource?.interop ?? order.interop
        guard head.fields.value(of: "Upload-Draft-Interop-Version") == "\(interop.rawValue)" else {
            return []
        }
        var actions: [Action] = []
        if state == .creating, let location = head.fields.value(of: "Location") {
            actions = adopt(location)
            if isEnded { return actions }
        }
        limit(head)
        if resource != nil, let offset = head.fields.integer("Upload-Offset") {
            return actions + confirm(offset)
        }
        return actions
    }

    /// The server has made a resource.
    private mutating func adopt(_ location: String) -> [Action] {
        guard let url = target.resolve(location) else { return [] }
        if let resource {
            guard resource.url != url else { return [] }
            return fail(.badAnswer, "the server names two places for one upload")
        }
        let made = UploadResource(url: url, interop: order.interop)
        (resource, resourceTarget) = (made, RequestTarget(url))
        return [.resource(made)]
    }

    private mutating func limit(_ head: Exchange.Head) {
        guard let limit = head.fields.member("max-append-size", of: "Upload-Limit"), limit > 0
        else { return }
        appendLimit = limit
    }

    /// The server has so much. It never has less than it had, nor more than there is.
    private mutating func confirm(_ offset: Int64) -> [Action] {
        guard offset >= confirmed else {
            return fail(.badAnswer, "the server has lost bytes that it had confirmed")
        }
        guard offset <= size else {
            return fail(.badAnswer, "the server has more bytes than the file")
        }
        if offset > confirmed { requests = 0 }
        resource?.offset = offset
        return []
    }

    /// The head of an answer that is no redirect. It counts when the request is over.
    package mutating func answered(_ head: Exchange.Head) {
        if state != .ended { (self.head, body) = (head, []) }
    }

    /// Bytes of the body of the last answer.
    package mutating func received(_ bytes: Span<UInt8>) {
        // Others want to know only whether the file has come.
        guard order.errors == .deliver, head != nil else { return }
        for index in bytes.indices.prefix(ExchangeAnswer.longestBody - body.count) {
            body.append(bytes[index])
        }
    }

    /// The request is over, and its answer is there as far as it is of interest.
    package mutating func answerEnded() -> [Action] {
        guard state != .ended else { return [] }
        guard let head else {
            return interrupt(.init(.connection, reason: "there was no answer"))
        }
        let answer = Answer(head: head, body: body)
        (self.head, body) = (nil, [])
        if head.status != 401 { authorizer.wasAnswered() }
        switch state {
        case .ended: return []
        case .creating: return created(answer)
        case .asking: return told(head)
        case .appending(let end): return appended(answer, end)
        }
    }

    private mutating func created(_ answer: Answer) -> [Action] {
        let head = answer.head
        limit(head)
        let isComplete = head.fields.isUploadComplete
        guard (200..<300).contains(head.status) else { return refused(answer, isComplete) }
        if isComplete == false {
            let actions = head.fields.value(of: "Location").map { adopt($0) } ?? []
            if isEnded { return actions }
            guard resource != nil else {
                return fail(.badAnswer, "the server does not say where the upload goes on")
            }
            return actions + ask()
        }
        guard sent == size else {
            return resource == nil
                ? interrupt(.init(.connection, reason: "the server answered too early")) : ask()
        }
        return complete(answer)
    }

    private mutating func told(_ head: Exchange.Head) -> [Action] {
        guard (200..<300).contains(head.status) else {
            if let believed, head.status == 404 || head.status == 410 { return complete(believed) }
            return refused(Answer(head: head), nil)
        }
        guard let offset = head.fields.integer("Upload-Offset"),
            head.fields.integer("Upload-Length") ?? size == size
        else { return fail(.badAnswer, "the server does not say how much of the file it has") }
        limit(head)
        let actions = confirm(offset)
        if isEnded { return actions }
        guard head.fields.isUploadComplete == true else {
            believed = nil
            return append()
        }
        guard offset == size else {
            return fail(.badAnswer, "the server calls a part of the file complete")
        }
        return complete(believed ?? Answer(head: head))
    }

    private mutating func appended(_ answer: Answer, _ end: Int64) -> [Action] {
        let head = answer.head
        limit(head)
        let isComplete = head.fields.isUploadComplete
        guard (200..<300).contains(head.status) else { return refused(answer, isComplete) }
        guard end == size else {
            let actions = confirm(head.fields.integer("Upload-Offset") ?? sent)
            return isEnded ? actions : append()
        }
        if isComplete == true, sent == size { return complete(answer) }
        // Servers of older drafts say nothing there, so they are asked.
        if isComplete == nil, sent == size { believed = answer }
        return ask()
    }

    // MARK: Refusals

    /// `isComplete`: what the answer says of the upload. Nothing, or that it is not: the answer is
    /// about the request, and not about the file.
    private mutating func refused(_ answer: Answer, _ isComplete: Bool?) -> [Action] {
        let head = answer.head
        if head.status == 401, isComplete != true, let actions = challenged(answer) {
            return actions
        }
        if resource != nil, isComplete != true, let actions = refusedPart(head) { return actions }
        // An answer to the whole file is the server's own, whatever it says.
        if order.errors == .deliver, state == .creating || isComplete == true {
            return complete(answer)
        }
        let isUntouched = BusyStatus.isUntouched(head.status)
        guard BusyStatus.contains(head.status), order.mayRepeat || isUntouched else {
            return fail(.status, ExchangeFailure.reason(ofStatus: head.status))
        }
        // Complete and refused: to go on with it would change nothing.
        let actions = resource == nil ? [] : forget()
        return actions + end(.interrupted(BusyStatus.interruption(head)))
    }

    /// Nil: the answer is like any other that refuses.
    private mutating func challenged(_ answer: Answer) -> [Action]? {
        let url = state == .creating ? target.url : resourceTarget?.url ?? target.url
        if authorizer.refused(answer.head.fields, of: url), requests < Self.mostRequests {
            // The server has taken nothing of it.
            mayHaveArrived = false
            return resource == nil ? send() : ask()
        }
        guard order.reportsChallenges else { return nil }
        var told = ExchangeAnswer(
            status: answer.head.status,
            headers: answer.head.fields,
            url: url,
            total: size
        )
        if !answer.body.isEmpty { told.body = Bytes(answer.body) }
        return end(.challenged(told))
    }

    /// Nil: it is for good.
    private mutating func refusedPart(_ head: Exchange.Head) -> [Action]? {
        // What the server has made is there still, whatever it could not do.
        if BusyStatus.contains(head.status) || head.status >= 500 {
            return end(.interrupted(BusyStatus.interruption(head)))
        }
        switch (head.status, state) {
        case (409, _) where head.fields.integer("Upload-Offset") != nil:
            let actions = confirm(head.fields.integer("Upload-Offset") ?? 0)
            return isEnded ? actions : append()
        // It may be complete.
        case (400, .appending) where requests < 4, (409, .appending) where requests < 4:
            return ask()
        case (413, .appending(let end)) where end - confirmed > Self.leastAppend:
            if appendLimit.map({ $0 >= end - confirmed }) ?? true {
                appendLimit = max(Self.leastAppend, (end - confirmed) / 4)
            }
            return ask()
        case (413, .creating):
            appendLimit = appendLimit ?? max(Self.leastAppend, size / 4)
            return ask()
        case (400..., .asking), (404, .appending), (410, .appending): return lose(head)
        case (_, .creating), (_, .asking), (_, .appending), (_, .ended): return nil
        }
    }

    /// The server no longer knows the upload. It may have been complete.
    private mutating func lose(_ head: Exchange.Head) -> [Action] {
        let reason = "the server no longer knows the upload (\(head.status))"
        guard order.mayRepeat else {
            return fail(.uncertain, "\(reason), and may have all of it")
        }
        let actions = forget()
        // If the server loses it twice, the whole file is sent again only after a wait.
        if hasBegunAnew { return actions + interrupt(.init(.busy, reason: reason)) }
        hasBegunAnew = true
        state = .creating
        return actions + send()
    }

    private mutating func forget() -> [Action] {
        (resource, resourceTarget, believed, unchecked) = (nil, nil, nil, nil)
        return [.resource(nil)]
    }

    /// The answer was a redirect to this URL, which is absolute.
    package mutating func redirected(_ head: Exchange.Head, to url: String) -> [Action] {
        guard state != .ended else { return [] }
        let keepsMethod = head.status == 307 || head.status == 308
        do throws(ExchangeFailure) {
            if resource != nil {
                guard keepsMethod else {
                    throw ExchangeFailure(.badRedirect, reason: "the upload is redirected")
                }
                try resourceTarget?.follow(url)
                return ask()
            }
            // What became of the file is there to be seen.
            if head.status == 303, sent == size { return complete(Answer(head: head)) }
            guard keepsMethod || order.method.isIdempotent else {
                throw ExchangeFailure(
                    .badRedirect,
                    reason: "the server answered \(head.status), after which no file is sent again"
                )
            }
            try target.follow(url)
        } catch {
            return end(.failed(error.plain))
        }
        authorizer.wasAnswered()
        // That server did not want it.
        (sent, mayHaveArrived, self.head, body) = (0, false, nil, [])
        return [.request]
    }

    // MARK: Ends

    private mutating func complete(_ last: Answer) -> [Action] {
        var answer = ExchangeAnswer(
            status: last.head.status,
            headers: last.head.fields,
            url: target.url,
            total: size,
            offset: size
        )
        if !last.body.isEmpty { answer.body = Bytes(last.body) }
        return [.answered(answer)] + end(.complete(size: size))
    }

    /// The connection failed, or there was none. An answer that was there counts all the same.
    package mutating func failed(_ interruption: ExchangeEnd.Interruption) -> [Action] {
        if let head, sent == request.body?.upperBound || !(200..<300).contains(head.status) {
            return answerEnded()
        }
        return interrupt(interruption)
    }

    /// It cannot go on.
    package mutating func fail(_ failure: ExchangeFailure) -> [Action] { end(.failed(failure)) }

    package mutating func stop() -> [Action] { failed(.init(.stopped)) }

    private mutating func interrupt(_ interruption: ExchangeEnd.Interruption) -> [Action] {
        guard mayHaveArrived, resource == nil, !order.mayRepeat else {
            return end(.interrupted(interruption))
        }
        let reason = interruption.reason.isEmpty ? "it was interrupted" : interruption.reason
        return fail(.uncertain, "\(reason), and the server may have the file")
    }

    private mutating func fail(_ code: ExchangeFailure.Code, _ reason: String) -> [Action] {
        end(.failed(ExchangeFailure(code, reason: reason).plain))
    }

    private mutating func end(_ end: ExchangeEnd) -> [Action] {
        guard state != .ended else { return [] }
        state = .ended
        return [.end(end)]
    }
}
