/// One stream while it is open; used again for others.
final class HTTP2Stream {
    private(set) var number: Int32 = 0
    /// Since when it is waited for the peer: for the rest of its message, or until it takes the
    /// answer. By the clock of the session's owner.
    var start: Int64 = 0
    var headers = HeaderBlock(capacity: 512, fields: 16)
    var body: [UInt8] = []
    var isCutOff = false
    /// The peer's message was handed over.
    var isComplete = false
    var isAnswered = false
    /// What is counted of it among the unfinished.
    var held = 0
    /// What is to be sent, and how much of it went.
    var output: [UInt8] = []
    var sent = 0

    func start(_ number: Int32, at clock: Int64) { (self.number, start) = (number, clock) }

    /// Its message was handed over, and is not needed here any more.
    func forgetMessage() {
        body = []
        // Little is kept for the next.
        if headers.size > 2048 { headers = HeaderBlock() }
    }

    func clear() {
        number = 0
        headers.removeAll()
        body = []
        output = []
        (isCutOff, isComplete, isAnswered, sent) = (false, false, false, 0)
    }
}
