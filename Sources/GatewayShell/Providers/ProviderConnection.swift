import EventLoop
import GatewayCore
import HTTP2
import Glibc
import Linux
import TLS
import Vocabulary

/// One connection of a provider: TLS, HTTP/2 (or HTTP/1.1 for Web Push), and what it has shown of
/// itself.
final class ProviderConnection {
    /// By which the server finds it.
    let number: UInt64
    unowned let server: ProviderServer
    let descriptor: FileDescriptor
    private(set) var http: HTTP2Session?
    /// Instead of `http`, for senders of Web Push that speak nothing newer.
    private(set) var web: HTTP1Session?
    /// What came before it was known which of the two is spoken.
    private var early: [UInt8] = []
    private(set) var isSecure = false
    /// What a load balancer says first, until it is read.
    var header: ProxyHeader?
    /// What it has shown of who sends.
    var sender = PushSender()

    private var tls: TLSSession
    private(set) var source: DescriptorSource?
    private var output: [UInt8] = []
    private var sent = 0
    private var isWatchingWrites = false
    private var times: SenderTimes
    private var flood = FloodMeter()
    /// Stands in the server's list of those to be flushed.
    var isTouched = false
    /// Stands in its list of those that are to be read again.
    var isUnread = false
    /// What it is ready for, and whether it waits for its turn, as long as it is a guest.
    var found: DescriptorSource.Events = []
    /// Something of it was read and not looked at.
    var hasMore = false
    var isQueued = false
    var turns = 0
    private(set) var isClosed = false
    /// When it was read from: what it asks had come by then.
    private(set) var lastRead: BootTime
    var isTrusted: Bool { sender.isTrusted }
    /// Its last token, that need not be looked for again.
    var lastToken: KnownToken?

    init(
        _ number: UInt64,
        _ server: ProviderServer,
        _ descriptor: consuming FileDescriptor
    ) throws(TLSError) {
        (self.number, self.server) = (number, server)
        let start = Clocks.now().boot
        (times, lastRead) = (SenderTimes(at: start), start)
        let socket = descriptor.number
        self.descriptor = descriptor
        tls = try TLSSession(server.context, serving: socket)
    }

    func watch() throws(LinuxError) {
        source = try DescriptorSource(server.loop, descriptor.number, .readable) {
            [unowned self] events in ready(events)
        }
    }

    // MARK: Descriptor

    private func ready(_ events: DescriptorSource.Events) {
        if isTrusted { act(events) } else { wait(events) }
    }

    func act(_ events: DescriptorSource.Events) {
        guard !times.isLingering else { return linger() }
        guard isSecure else { return handshake() }
        if events.contains(.writable) { flush() }
        guard !isClosed else { return }
        if !times.isBlocked {
            if !events.isDisjoint(with: [.readable, .hangUp, .error]) { read() }
        } else if !events.isDisjoint(with: [.hangUp, .error]) {
            close()
        }
    }

    private func handshake() {
        times.lastActivity = server.now.boot
        guard server.readHeader(self) else { return }
        do throws(TLSError) {
            switch try tls.handshake() {
            case .wantsRead: return watchWrites(false)
            case .wantsWrite: return watchWrites(true)
            case .done: break
            }
        } catch {
            return close(.failedHandshake)
        }
        watchWrites(false)
        if let shown = tls.peerCertificate {
            let certificate = tls.peerProblem == nil ? ProviderCertificate(shown) : nil
            sender.show(certificate, revoked: server.authority.keys.revoked)
        }
        isSecure = true
        server.door.wasSetUp(number)
        hasLearned()
        switch tls.chosenProtocol {
        case Self.newer: guard speakHTTP2() else { return }
        case Self.older: web = HTTP1Session()
        // Libraries that offer no protocol begin with what tells it.
        case .some, .none: break
        }
        read()
    }

    /// What the two are called in ALPN, most wanted first.
    static let newer = "h2"
    static let older = "http/1.1"

    /// After the handshake and after each request: what follows from what it showed of who sends.
    func hasLearned() {
        if sender.authorized == .provider { server.door.keepsPlace(number) }
        if isTrusted { allowAllStreams() }
        if sender.mustGo { sendAway(.invalidProviderToken) }
    }

    private func allowAllStreams() {
        do throws(HTTP2Error) {
            try http?.allowAllStreams()
        } catch {
            close()
        }
    }

    private func speakHTTP2() -> Bool {
        do throws(HTTP2Error) {
            var limits = server.httpLimits
            // Who shows no certificate has one request at a time until it shows a good token.
            if !isTrusted {
                limits.announcedStreams = UInt32(SenderLimits.streamsAtFirst)
            }
            http = try HTTP2Session(.server, limits, memory: server.memory, handler: self)
            http?.clock = times.lastActivity.nanoseconds
            return true
        } catch {
            close()
            return false
        }
    }

    /// Takes what came, in whatever is spoken here.
    private func take(_ bytes: Span<UInt8>) throws(HTTP2Error) {
        if let http { return try take(bytes, http) }
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        if let web { return take(copy, web) }
        // No request of HTTP/1.1 begins with PR as HTTP/2 does, not even a PUT or a POST.
        early += copy
        guard early.count > 1 else { return }
        if early.starts(with: "PR".utf8) {
            guard speakHTTP2(), let http else { return }
            let bytes = early
            try take(bytes.span, http)
        } else {
            let web = HTTP1Session()
            self.web = web
            take(early, web)
        }
        early = []
    }

    private func take(_ bytes: Span<UInt8>, _ http: HTTP2Session) throws(HTTP2Error) {
        try http.receive(bytes)
        guard !flood.admits(SenderTraffic(http.takeTraffic())) else { return }
        throw http.endFlood()
    }

    private func take(_ bytes: [UInt8], _ web: HTTP1Session) {
        web.receive(bytes)
        guard !web.isOverfull else { return close() }
        takeRequests(web)
    }

    /// What came while one was being answered follows, as far as the answers go out.
    private func takeRequests(_ web: HTTP1Session) {
        do throws(WebPushReason) {
            while let request = try web.next() {
                times.tookRequest()
                if times.isEnding { web.end() }
                server.received(request, on: self)
            }
        } catch {
            server.refused(error)
        }
        times.heard(speech)
    }

    private func read() {
        guard isSecure, !times.isBlocked else { return }
        // What came goes first.
        if web?.mayGoOn == true { return readAgain() }
        let now = server.now
        http?.clock = now.boot.nanoseconds
        times.lastActivity = now.boot
        var buffer = server.takeBuffer(isTrusted: isTrusted)
        defer { server.giveBuffer(&buffer) }
        // Enough for one; others wait as well.
        lastRead = Clocks.boot()
        let end = lastRead + (isTrusted ? Self.slice : GuestQueue.slice)
        var rounds = 0
        repeat {
            rounds += 1
            do {
                switch try tls.read(into: &buffer) {
                case .bytes(let count):
                    let bytes = buffer.span.extracting(0..<count)
                    try take(bytes)
                case .wantsRead: return server.touch(self)
                case .wantsWrite:
                    watchWrites(true)
                    return
                case .closed: return close()
                }
            } catch let error as HTTP2Error {
                return fail(isFlood: error.isFlood)
            } catch {
                return close()
            }
            if isClosed { return }
        } while rounds < 16 && Clocks.boot() < end
        server.touch(self)
        if tls.hasPending { readAgain() }
    }

    /// How long one may be read from in a turn, beyond its last piece.
    private static let slice = Interval.milliseconds(2)

    /// What it sent cannot be understood: it is told so, and goes.
    private func fail(isFlood: Bool) {
        times.ends()
        flush()
        close(.misspoke(isFlood: isFlood))
    }

    func readMore() {
        guard !isClosed, !times.isLingering, !times.isBlocked else { return }
        if let web, web.mayGoOn {
            takeRequests(web)
            server.touch(self)
            // The rest waits for answers to go.
            guard !isClosed, !web.mayGoOn else { return }
        }
        // Of what TLS holds already no event tells.
        read()
    }

    /// Sends what there is, as far as the peer takes it.
    func flush() {
        guard !isClosed, isSecure, !times.isLingering else { return }
        // A span of a local array may be lent to the session.
        var output: [UInt8] = []
        swap(&output, &self.output)
        defer { swap(&output, &self.output) }
        var hasSent = false
        do {
            while true {
                if sent == output.count {
                    output.removeAll(keepingCapacity: output.capacity <= 65_536)
                    sent = 0
                    _ = try http?.send(into: &output, upTo: 32_768)
                    web?.send(into: &output)
                    if output.isEmpty, sayGoodbye() { continue }
                    if output.isEmpty { break }
                }
                let rest = output.span.extracting(sent..<output.count)
                switch try tls.write(rest) {
                case .bytes(let count):
                    sent += count
                    hasSent = true
                case .wantsRead: return
                case .wantsWrite:
                    let now = Clocks.boot()
                    if hasSent { times.takes(true, at: now) }
                    times.takes(false, at: now)
                    return watchWrites(true)
                case .closed: return close()
                }
            }
        } catch {
            return close()
        }
        watchWrites(false)
        // What waited, and no event of the descriptor will tell of.
        if times.isBlocked || web?.mayGoOn == true { readAgain() }
        times.takes(true, at: lastRead)
        let isAllSaid = times.isEnding && !times.owesGoodbye
        if let http, http.isOver || isAllSaid && http.openCount == 0 { finish() }
        if let web, web.isOver { finish() }
    }

    private func watchWrites(_ on: Bool) {
        guard on != isWatchingWrites else { return }
        isWatchingWrites = on
        try? source?.setEvents(on ? .writable : .readable)
    }

    func close(_ why: SenderDeparture = .closed) {
        guard !isClosed else { return }
        isClosed = true
        source = nil
        tls.close()
        server.closed(self, why)
    }

    // MARK: The end

    /// Tells the provider to send no more here, and goes when all is answered. Who has just come
    /// may ask once: it is answered, and told, when it can be.
    func drain(_ reason: Reason) {
        let isNew = http == nil && web.map { $0.number == 0 } ?? true
        sendAway(reason)
        if http != nil { flush() } else if !isNew, web?.isAnswering != true { close() }
    }

    /// The same, at the end of the turn.
    private func sendAway(_ reason: Reason) {
        guard times.sendAway(reason, at: server.now.boot) else { return }
        if let web, web.number > 0 { web.end() }
        if reason != .shutdown { _ = sayGoodbye(isLate: true) }
        server.touch(self)
    }

    /// What is next to be said, if its time has come. True: there is something to send.
    private func sayGoodbye(isLate: Bool = false) -> Bool {
        guard let http else { return false }
        do throws(HTTP2Error) {
            switch times.nextGoodbye(open: http.openCount, isLate: isLate, at: server.now.boot) {
            case .announce: try http.announceEnd()
            case .ask: try http.ping()
            case .end(let reason): try http.end(.noError, reason: RefusalBody.bytes(reason))
            case nil: return false
            }
            return true
        } catch {
            return false
        }
    }

    /// The time for the shutdown is over: sends the final GOAWAY if it was not sent yet.
    func endNow() {
        if sayGoodbye(isLate: true) { flush() }
    }

    /// All is said. To close now would take back what the peer has not read, if it says more: what
    /// it says is thrown away until it closes as well.
    private func finish() {
        guard !isClosed, !times.isLingering else { return }
        times.lingers(at: server.now.boot)
        tls.close()
        _ = shutdown(descriptor.number, Int32(SHUT_WR))
        watchWrites(false)
    }

    private func linger() {
        // As elsewhere: others want their turn.
        for _ in 0..<8 {
            do throws(LinuxError) {
                guard let bytes = try descriptor.readAvailable(upTo: 65_536) else { return }
                if bytes.isEmpty { return close() }
                times.lastActivity = server.now.boot
            } catch {
                return close()
            }
        }
    }

    /// Once a second: what takes too long ends.
    func check(_ now: Moment) {
        http?.clock = now.boot.nanoseconds
        flood.secondPassed()
        let steps = times.steps(
            speech,
            isTrusted: isTrusted,
            isQueued: isQueued,
            isDraining: server.isDraining,
            server.limits,
            at: now.boot
        )
        for step in steps where !isClosed { perform(step) }
    }

    private var speech: SenderSpeech {
        if let http { return .http2(open: http.openCount) }
        guard let web else { return .nothing }
        return .http1(isAnswering: web.isAnswering, isIdle: web.isIdle)
    }

    private func perform(_ step: SenderStep) {
        switch step {
        case .close(let why): close(why)
        case .sayGoodbye(let isLate):
            _ = isLate && sayGoodbye(isLate: true)
            flush()
        case .cutRequests(let instant):
            guard let http, http.cut(startedBefore: instant.nanoseconds) > 0 else { return }
            server.door.cutRequests()
            flush()
        case .sendAway(let reason): drain(reason)
        }
    }
}

extension SenderTraffic {
    fileprivate init(_ traffic: HTTP2Traffic) {
        self.init()
        (frames, openings) = (traffic.frames, traffic.openings)
        (pieces, requests) = (traffic.pieces, traffic.messages)
        wastedHeaders = traffic.wastedHeaders
    }
}

extension ProviderConnection: HTTP2Handler {
    func received(_ message: HTTP2Message) { server.received(message, on: self) }

    func turnedAway(_ stream: Int32) { server.turnAway(stream, of: self) }

    /// The answer that may still come finds no stream.
    func broken(_ stream: Int32, _ code: HTTP2Code) {}

    func saidGoodbye(lastStream: Int32, _ code: HTTP2Code, _ reason: [UInt8]) {}

    /// All that it sent before it read the first GOAWAY has arrived.
    func answeredPing() {
        if times.answered() { server.touch(self) }
    }
}
