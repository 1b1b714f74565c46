import GatewayCore

/// One HTTP/1.1 connection of a sender of Web Push, without its transport: requests are handed on
/// one at a time, in their order.
final class HTTP1Session {
    private var reader = HTTP1Reader(bodyLimit: WebPushRequest.bodyLimit)
    private var output: [UInt8] = []
    /// A request was handed on and waits for its answer.
    private(set) var isAnswering = false
    /// What is to be sent is the last.
    private(set) var isOver = false
    /// The number of the present request, by which its answer finds it.
    private(set) var number: Int32 = 0
    private var keepsAlive = true
    /// Something that came may be a request, which nobody has looked for since.
    private var isLeft = false
    /// The present request is for the head alone.
    private var isHead = false

    /// Nothing of a request has come, and none waits.
    var isIdle: Bool { !isAnswering && reader.isIdle }

    /// Nobody asks for more before an answer than a request takes.
    var isOverfull: Bool {
        reader.pendingCount > 16 * (HTTP1Reader.headLimit + WebPushRequest.bodyLimit)
    }

    func receive(_ bytes: some Sequence<UInt8>) { reader.append(bytes) }

    /// What came is to be looked at when the answers went out.
    var mayGoOn: Bool { isLeft && !isAnswering && !isOver }

    /// Bytes of answers that wait to go before the next request is looked at.
    private static let outputLimit = 4096

    /// The next request, if one is complete, none is being answered, and few answers wait.
    /// If what came is not a valid request, queues the last answer and throws its reason.
    func next() throws(WebPushReason) -> HTTP1Reader.Request? {
        isLeft = isAnswering || output.count > Self.outputLimit
        guard !isLeft, !isOver else { return nil }
        do throws(WebPushReason) {
            while let step = try reader.next() {
                switch step {
                case .goOn: output += Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
                case .request(let request):
                    isAnswering = true
                    number += 1
                    keepsAlive = request.keepsAlive
                    isHead = request.method.elementsEqual("HEAD".utf8)
                    return request
                }
            }
        } catch {
            keepsAlive = false
            respond(error)
            throw error
        }
        return nil
    }

    func respond(_ reason: WebPushReason) {
        let answer = WebPushAnswer(reason)
        respond(answer)
    }

    func respond(_ answer: WebPushAnswer) {
        isAnswering = false
        if !keepsAlive { isOver = true }
        var head = "HTTP/1.1 \(answer.status) \(answer.word)\r\n"
        for field in answer.fields { head += "\(field.name): \(field.value)\r\n" }
        head += "content-length: \(answer.body.count)\r\n"
        if isOver { head += "connection: close\r\n" }
        output += Array((head + "\r\n").utf8) + (isHead ? [] : answer.body)
    }

    /// The request that is being answered is the last.
    func end() {
        keepsAlive = false
        if !isAnswering { isOver = true }
    }

    func send(into bytes: inout [UInt8]) {
        bytes += output
        output = []
    }
}

/// What a sender of Web Push is told.
struct WebPushAnswer {
    var status: Int
    var word: String
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    init(_ reason: WebPushReason) {
        (status, word) = (reason.status, "Refused")
        fields = [("content-type", "application/json")]
        if let field = reason.field { fields.append(field) }
        body = RefusalBody.bytes(reason)
    }

    /// It was taken, for so many seconds.
    init(location: String, ttl: Int64) {
        (status, word) = (201, "Created")
        fields = [("location", location), ("ttl", "\(ttl)")]
    }
}
