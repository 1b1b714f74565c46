import ExchangeCore
import Testing
import Vocabulary

/// A file is fetched from a server that does all that servers do, by exchanges that are stopped,
/// broken off, and begun again: what is complete is one version of the object, from its first byte
/// to its last.
struct OneVersionTests {
    private struct Fetch {
        typealias Byte = RandomServer.VersionedByte

        var server: RandomServer
        var file: [Byte] = []
        /// What the daemon knows.
        var resume: ResumePoint?
        var answer: ExchangeAnswer?
        var exchange: Exchange
        var end: ExchangeEnd?
        /// How often the rest was appended to what was there.
        var appended = 0

        init(seed: UInt64) {
            server = RandomServer(seed: seed)
            exchange = Exchange(ExchangeOrder(url: "http://a.example/"))
        }

        /// Begins again what was interrupted, until it is over; nil: it does not end.
        mutating func run() -> ExchangeEnd? {
            for _ in 0..<200 {
                let order = ExchangeOrder(
                    url: "http://a.example/",
                    resume: resume,
                    errors: .fail
                )
                (exchange, answer, end) = (Exchange(order), nil, nil)
                var asks = perform(exchange.begin())
                var requests = 0
                while asks {
                    requests += 1
                    if requests > 500 { return nil }
                    asks = exchangeOnce()
                }
                guard let end, case .interrupted = end else { return end }
                settle()
            }
            return nil
        }

        /// One request and its answer. True: another one is wanted.
        private mutating func exchangeOnce() -> Bool {
            let answer = server.answer(exchange.fields)
            if let target = answer.redirect { return perform(exchange.redirected(to: target)) }
            if perform(exchange.answered(answer.head)) { return true }
            var body = answer.body[..<(answer.cut ?? answer.body.count)]
            while end == nil, !body.isEmpty {
                // A chance to stop it, also while the daemon forgets.
                if server.random.below(30) == 0 { return perform(exchange.stop()) }
                let piece = body.prefix(1 + server.random.below(9))
                let (offset, actions) = exchange.received(piece.count)
                if let offset { write(piece, at: Int(offset)) }
                if perform(actions) { return true }
                body = body.dropFirst(piece.count)
            }
            guard end == nil else { return false }
            return perform(
                answer.cut == nil ? exchange.bodyEnded() : exchange.failed(.init(.connection))
            )
        }

        private mutating func write(_ piece: ArraySlice<Byte>, at offset: Int) {
            while file.count < offset { file.append(Byte(version: -2, place: 0)) }
            for (index, byte) in piece.enumerated() {
                if offset + index < file.count {
                    file[offset + index] = byte
                } else {
                    file.append(byte)
                }
            }
        }

        private mutating func perform(_ actions: [Exchange.Action]) -> Bool {
            for action in actions {
                switch action {
                case .request: return true
                case .truncate: file = []
                // It has one connection.
                case .fetch, .giveUp: break
                case .end(let end): self.end = end
                case .answered(let answer):
                    self.answer = answer
                    if answer.offset > 0 { appended += 1 }
                    guard answer.startsAnew else { continue }
                    resume = nil
                    // The daemon may want to stop just then.
                    let next = server.random.below(5) == 0 ? exchange.stop() : exchange.proceed()
                    if perform(next) { return true }
                }
            }
            return false
        }

        /// What was durable is kept; of the rest the disk has whatever it has.
        private mutating func settle() {
            let received = Int(exchange.received)
            let least = Int(resume?.offset ?? 0)
            let durable = min(received, least) + server.random.below(max(1, received - least + 1))
            for index in file.indices where index >= durable {
                file[index] = Byte(version: -3, place: index)
            }
            guard let answer else { return }
            resume = answer.validator.flatMap {
                durable == 0
                    ? nil
                    : ResumePoint(offset: Int64(durable), validator: $0, total: answer.total)
            }
        }
    }

    @Test func `what is complete is one version`() throws {
        var (complete, appended) = (0, 0)
        for seed in 0..<4000 {
            var fetch = Fetch(seed: UInt64(seed))
            let last = fetch.run()
            let end = try #require(last, "seed \(seed) does not end")
            appended += fetch.appended
            guard case .complete(let size) = end else { continue }
            complete += 1
            let version = fetch.file.first?.version ?? 0
            try #require(fetch.file == RandomServer.object(version), "seed \(seed)")
            try #require(Int(size) == fetch.file.count, "seed \(seed)")
        }
        // Else nothing was tried.
        #expect(complete > 2500 && appended > 500, "\(complete) complete, \(appended) appended")
    }
}
