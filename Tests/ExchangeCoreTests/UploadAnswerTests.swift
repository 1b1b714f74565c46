import ExchangeCore
import Testing
import Vocabulary

/// What is kept of the answers to uploads, and how a server is asked to forget one.
struct UploadAnswerTests {
    private func begun(_ errors: ExchangeOrder.ErrorAnswers) -> UploadExchange {
        var exchange = UploadExchange(
            UploadOrder(
                url: "https://a.example/up",
                source: FileIdentity(size: 10, modified: 1, inode: 1),
                errors: errors
            )
        )
        _ = exchange.begin()
        return exchange
    }

    private func head(_ status: Int, _ fields: HTTPField...) -> Exchange.Head {
        Exchange.Head(status: status, fields: fields, length: nil)
    }

    private func body(_ actions: [UploadExchange.Action]) -> [UInt8]? {
        for case .answered(let answer) in actions { return answer.body?.array }
        return nil
    }

    @Test func `the body of the last answer is kept for who wants the answer, up to a bound`() {
        for errors in ExchangeOrder.ErrorAnswers.allCases {
            var exchange = begun(errors)
            exchange.sending(10)
            exchange.answered(head(200))
            let part = [UInt8](repeating: 7, count: 20_000)
            exchange.received(part.span)
            exchange.received(part.span)
            let kept = body(exchange.answerEnded())
            #expect(kept?.count == (errors == .deliver ? ExchangeAnswer.longestBody : nil))
        }
    }

    @Test func `what was said of a part is not taken for what was said of the file`() {
        var exchange = begun(.deliver)
        let version = HTTPField("Upload-Draft-Interop-Version", "8")
        _ = exchange.informed(head(104, HTTPField("Location", "/made/1"), version))
        exchange.sending(4)
        exchange.answered(head(413))
        exchange.received(Array("too large".utf8).span)
        #expect(exchange.answerEnded() == [.request])
        exchange.answered(
            head(204, HTTPField("Upload-Offset", "10"), HTTPField("Upload-Complete", "?1"))
        )
        let actions = exchange.answerEnded()
        #expect(exchange.isEnded && body(actions) == nil)
    }

    @Test func `an older server's answer is the one that it gave before it was asked`() {
        var exchange = begun(.deliver)
        let version = HTTPField("Upload-Draft-Interop-Version", "8")
        _ = exchange.informed(head(104, HTTPField("Location", "/made/1"), version))
        exchange.answered(head(204, HTTPField("Upload-Complete", "?0")))
        #expect(exchange.answerEnded() == [.request])
        exchange.answered(head(204, HTTPField("Upload-Offset", "4")))
        #expect(exchange.answerEnded() == [.request])
        exchange.sending(6)
        exchange.answered(head(200))
        exchange.received(Array("thanks".utf8).span)
        #expect(exchange.answerEnded() == [.request])
        exchange.answered(head(404))
        #expect(body(exchange.answerEnded()) == Array("thanks".utf8))
    }

    @Test func `a request to forget has the upload's own header fields, on its own host only`() {
        let headers = [HTTPField("Authorization", "secret"), HTTPField("Content-Type", "a/b")]
        for host in ["a.example", "b.example"] {
            let resource = UploadResource(url: "https://\(host)/made/1", interop: .six)
            let removal = UploadRemoval(
                resource: resource,
                url: "https://a.example/up",
                headers: headers
            )
            let version = HTTPField("Upload-Draft-Interop-Version", "6")
            #expect(removal.fields == (host == "a.example" ? [headers[0], version] : [version]))
        }
    }
}
