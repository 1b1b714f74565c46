import ExchangeCore
import Testing
import Vocabulary

/// A file is sent to a server that does all that servers do, by exchanges that are stopped, broken
/// off, and begun again: what the server is given is the file, and no second time unless that was
/// allowed and an answer was lost.
struct UploadOnceTests {
    private struct Sending {
        var server: RandomUploadServer
        let size: Int
        let mayRepeat: Bool
        var resource: UploadResource?
        var interop = UploadInterop.eight
        var exchange: UploadExchange
        var end: ExchangeEnd?
        /// How often a resource was gone on with.
        var resumed = 0
        /// Attempts that sent the whole file anew though something had been sent before.
        var repeated = 0

        init(seed: UInt64, size: Int, mayRepeat: Bool) {
            server = RandomUploadServer(seed: seed)
            (self.size, self.mayRepeat) = (size, mayRepeat)
            exchange = UploadExchange(Self.order(nil, .eight, size, mayRepeat))
        }

        static func order(
            _ resource: UploadResource?,
            _ interop: UploadInterop,
            _ size: Int,
            _ mayRepeat: Bool
        ) -> UploadOrder {
            UploadOrder(
                url: "http://a.example/up",
                method: mayRepeat ? .put : .post,
                source: FileIdentity(size: Int64(size), modified: 1, inode: 1),
                resource: resource,
                interop: interop,
                mayRepeat: mayRepeat
            )
        }

        /// Begins again what was interrupted, until it is over; nil: it does not end.
        mutating func run() -> ExchangeEnd? {
            for _ in 0..<300 {
                if resource != nil { resumed += 1 }
                exchange = UploadExchange(Self.order(resource, interop, size, mayRepeat))
                end = nil
                perform(exchange.begin())
                var requests = 0
                while end == nil {
                    requests += 1
                    if requests > 500 { return nil }
                    request()
                }
                guard case .interrupted = end else { return end }
                if resource == nil { interop = interop.other }
                // What is known to have been confirmed; a daemon may know less.
                resource?.offset = server.random.below(2) == 0 ? exchange.confirmed : 0
            }
            return nil
        }

        private mutating func request() {
            exchange.goesOut()
            let answer = server.answer(exchange.request)
            if answer.taken > 0 { exchange.sending(answer.taken) }
            for head in answer.interim {
                perform(exchange.informed(head))
                if end != nil { return }
            }
            if server.random.below(30) == 0 { return perform(exchange.stop()) }
            guard let head = answer.head else {
                return perform(exchange.failed(.init(.connection)))
            }
            exchange.answered(head)
            // The end of its body is lost.
            let isCut = server.random.below(20) == 0
            perform(isCut ? exchange.failed(.init(.connection)) : exchange.answerEnded())
        }

        private mutating func perform(_ actions: [UploadExchange.Action]) {
            for action in actions {
                switch action {
                case .request, .answered, .check: break
                case .resource(let resource): self.resource = resource
                case .end(let end): self.end = end
                }
            }
        }
    }

    @Test(arguments: [true, false], [40, 0])
    func `the server is given the file, and no second one unasked`(
        mayRepeat: Bool,
        size: Int
    ) throws {
        var (complete, resumed, uncertain) = (0, 0, 0)
        for seed in 0..<4000 {
            var sending = Sending(seed: UInt64(seed), size: size, mayRepeat: mayRepeat)
            let last = sending.run()
            let end = try #require(last, "seed \(seed) does not end")
            resumed += sending.resumed
            let files = sending.server.files
            let whole = Array(0..<size)
            try #require(files.allSatisfy { $0 == whole }, "seed \(seed)")
            if !mayRepeat { try #require(files.count <= 1, "seed \(seed): \(files.count)") }
            switch end {
            case .complete:
                complete += 1
                try #require(!files.isEmpty, "seed \(seed): the server has nothing")
            case .failed(let failure):
                if failure.code == .uncertain { uncertain += 1 }
            case .interrupted, .challenged: break
            }
        }
        // Else nothing was tried.
        #expect(complete > 1500 && resumed > 500, "\(complete) complete, \(resumed) resumed")
        #expect(mayRepeat ? uncertain == 0 : uncertain > 300, "\(uncertain) uncertain")
    }
}
