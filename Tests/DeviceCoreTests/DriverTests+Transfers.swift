import DeviceCore
import Testing
import Vocabulary

/// What the network process tells while the store fails.
extension DriverTests {
    private static let made = UploadResource(url: "http://a.example/1", interop: .eight)
    private static let other = UploadResource(url: "http://a.example/2", interop: .eight)

    private static func sent(_ count: Int64) -> TransferEvent {
        .sent(SentPart(count: count, sha256: Bytes([UInt8](repeating: 9, count: 32))))
    }

    private struct DidNotEnqueue: Error {}

    /// An upload that a server can go on with, and a download over several connections.
    private static func begun() throws -> (Setup, upload: TransferID, download: TransferID) {
        var setup = Setup()
        for condition in Condition.allCases where condition != .storage {
            setup.turn(.condition(condition, .kernel, .noDevice))
        }
        let source = FileIdentity(size: 1000, modified: 5, inode: 7)
        let request = UploadRequest(method: .put, source: source, mayRepeat: true)
        let orders = [
            TransferOrder(
                url: "http://a.example/in",
                direction: .upload(request),
                directory: "/home/user",
                name: "photo.jpg"
            ),
            TransferOrder(url: "http://a.example/out", directory: "/home/user"),
        ]
        var ids: [TransferID] = []
        for order in orders {
            let enqueue = TransferRequest.enqueue([order], token: nil)
            setup.turn(.user(.transfer(enqueue), reply: ReplyToken(1)))
            guard case .transfers(let new)? = setup.replies.last else { throw DidNotEnqueue() }
            ids += new
        }
        let answer = ExchangeAnswer(
            status: 200,
            url: "http://a.example/out",
            total: 1000,
            validator: .entityTag("\"1\"")
        )
        setup.turn(.transfer(ids[0], .resource(made)), .transfer(ids[1], .answered(answer)))
        return (setup, ids[0], ids[1])
    }

    @Test func `what begins is chosen when all events of a turn are known`() throws {
        var (setup, _, download) = try Self.begun()
        func ask(_ request: TransferRequest) -> Event {
            .user(.transfer(request), reply: ReplyToken(2))
        }
        func hasBegun() -> Bool {
            setup.effects.contains {
                if case .transfer(download, .begin) = $0 { true } else { false }
            }
        }
        setup.turn(ask(.pause([download])))
        let end = ExchangeEnd.interrupted(.init(.stopped))
        setup.turn(.transfer(download, .ended(end, durable: 0)))
        setup.turn(ask(.resume([download])), ask(.pause([download])))
        #expect(!hasBegun())
        setup.turn(ask(.resume([download])), .timer)
        #expect(hasBegun())
    }

    @Test func `a manifest that is read anew while the store fails counts as it was read last`() {
        let app = AppID("app")
        var setup = Setup(.manifests([.present(.refreshing("app"))]))
        setup.fail()
        let both: [ManifestChange] = [.present(.refreshing("app")), .present(.linked("other"))]
        setup.turn(.manifests([.removed(app)]))
        setup.turn(.manifests(both))
        #expect(setup.driver.unsettled.map(\.event) == [.manifests(both)])
        setup.turn(.manifests([.removed(app)]))
        setup.turn(.manifests([.removed(app)]))
        let events = setup.driver.unsettled.map(\.event)
        #expect(events == [.manifests(both), .manifests([.removed(app)])])
    }

    @Test func `what transfers tell while the store fails is kept, the last word of each`() throws {
        var (setup, upload, download) = try Self.begun()
        setup.fail()
        for count in 1...100 as ClosedRange<Int64> {
            setup.turn(
                .transfer(upload, Self.sent(count)),
                .transfer(download, .ranges([500..<500 + count])),
                .transfer(download, .progress(received: count, durable: count))
            )
        }
        #expect(setup.driver.unsettled.count == 3)
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.driver.device.transfer(upload)?.upload?.sent?.count == 100)
        let resume = setup.driver.device.transfer(download)?.resume
        #expect(resume?.offset == 100 && resume?.ranges == [500..<600])
    }

    @Test func `what was sent to one resource is not taken for sent to the next`() throws {
        var (setup, upload, _) = try Self.begun()
        setup.fail()
        setup.turn(.transfer(upload, Self.sent(10)))
        setup.turn(.transfer(upload, .resource(Self.other)))
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.driver.device.transfer(upload)?.upload?.resource == Self.other)
        #expect(setup.driver.device.transfer(upload)?.upload?.sent == nil)
        // And what is sent to that one is said after it.
        setup.fail()
        setup.turn(.transfer(upload, Self.sent(20)))
        setup.turn(.transfer(upload, .resource(nil)), .transfer(upload, .resource(Self.made)))
        setup.turn(.transfer(upload, Self.sent(30)))
        #expect(setup.driver.unsettled.count == 2)
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.driver.device.transfer(upload)?.upload?.resource == Self.made)
        #expect(setup.driver.device.transfer(upload)?.upload?.sent?.count == 30)
    }
}
