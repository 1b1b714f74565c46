import GatewayCore
import TestKit
import Testing
import Vocabulary

/// Requests of HTTP/1.1 as far as senders of Web Push need it: one reading of each, or none.
struct HTTP1Tests {
    private func read(
        _ text: String,
        pieces size: Int = .max
    ) -> (steps: [HTTP1Reader.Step], error: WebPushReason?) {
        ProviderProperties.read(Array(text.utf8), pieces: size, bodyLimit: 16)
    }

    private func line(_ step: HTTP1Reader.Step) -> String {
        guard case .request(let request) = step else { return "go on" }
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let words =
            [text(request.method), text(request.path)]
            + request.fields.map { "\(text($0.name))=\(text($0.value))" }
        return words.joined(separator: " ") + " " + text(request.body)
            + (request.keepsAlive ? ", and more" : "")
    }

    @Test func `requests come one after the other, in any pieces`() {
        let text =
            "POST /push/a HTTP/1.1\r\nHost: h\r\nTTL:  5 \r\nContent-Length: 3\r\n\r\nabc"
            + "GET / HTTP/1.1\r\nhost: h\r\nConnection: keep-alive, Close\r\n\r\nrest"
        let whole = read(text)
        #expect(whole.error == nil)
        #expect(
            whole.steps.map(line) == [
                "POST /push/a host=h ttl=5 content-length=3 abc, and more",
                "GET / host=h connection=keep-alive, Close ",
            ]
        )
        for size in 1...9 {
            let pieces = read(text, pieces: size)
            #expect(pieces.steps == whole.steps && pieces.error == nil)
        }
    }

    @Test(arguments: [
        "POST /a HTTP/1.1\n\n\r\n\r\n", "POST  /a HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST a HTTP/1.1\r\nHost: h\r\n\r\n", "PO\u{1}ST /a HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /a HTTP/1.1\r\n\r\n", "POST /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\n folded: 1\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTTL : 1\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTTL: \u{0}\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST /a SPDY/1\r\nHost: h\r\n\r\n",
    ])
    func `what could be read in two ways is refused`(text: String) {
        let outcome = read(text)
        #expect(outcome.steps.isEmpty)
        #expect(outcome.error == .badRequest)
    }

    @Test func `what is not spoken here is named`() {
        let chunked = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(read(chunked).error == .lengthRequired)
        #expect(read("POST /a HTTP/2.0\r\nHost: h\r\n\r\n").error == .versionNotSupported)
        let long = "POST /a HTTP/1.1\r\nHost: \(String(repeating: "h", count: 8001))"
        #expect(read(long, pieces: 100).error == .headersTooLarge)
    }

    @Test func `who waits for a word before the body gets it once`() {
        let head = "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: "
        let steps = read(head + "3\r\n\r\nabc", pieces: 1).steps
        #expect(steps.count == 2)
        #expect(steps.first == .goOn)
        // What will be refused need not be sent.
        let large = read(head + "17\r\n\r\n").steps
        guard case .request(let request) = large.first, large.count == 1 else {
            Issue.record("\(large)")
            return
        }
        #expect(request.isCutOff)
    }

    @Test func `a body that is too long is skipped, and the next request is read`() throws {
        let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 17\r\n\r\n"
        let text = head + String(repeating: "x", count: 17) + "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        let steps = read(text, pieces: 5).steps
        #expect(steps.map(line).last == "GET / host=h , and more")
        try #require(steps.count == 2)
        guard case .request(let request) = steps[0] else {
            Issue.record("\(steps)")
            return
        }
        #expect(request.isCutOff && request.keepsAlive && request.body.isEmpty)
    }

    @Test(arguments: [8] + FreshSeeds.seeds(1))
    func `nothing that is not HTTP is held for ever`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<2000 {
            let count: Int = random.below(300)
            let alphabet = Array("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n".utf8)
            let bytes = (0..<count).map { _ in
                random.chance(9, in: 10)
                    ? alphabet[random.below(alphabet.count)] : UInt8(random.below(256) as Int)
            }
            #expect(ProviderProperties.brokenHTTP1(bytes) == nil)
        }
    }
}
