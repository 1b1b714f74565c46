@testable import DeviceCore
import Testing
import Vocabulary

/// How much is kept of transfers: no app leaves others, or the user, without room.
struct TransferRoomTests {
    private static let long = [HTTPField("Cookie", String(repeating: "x", count: 30_000))]

    private static func orders(
        _ numbers: Range<Int64>,
        _ headers: [HTTPField] = []
    ) -> [SessionOrder] {
        numbers.map { number in
            SessionOrder(
                task: SessionTask(session: "photos", number: number),
                order: TransferOrder(
                    url: "http://example.org/\(number)",
                    headers: headers,
                    directory: "/spool",
                    errors: .deliver
                )
            )
        }
    }

    private static func downloads(
        _ count: Int,
        _ headers: [HTTPField] = []
    ) -> UserRequest {
        let order = TransferOrder(
            url: "http://example.org/a",
            headers: headers,
            directory: "/home/user"
        )
        return .transfer(.enqueue([TransferOrder](repeating: order, count: count), token: nil))
    }

    /// Without a network nothing begins.
    private static func offline() throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        bench.set(.network, 0)
        return (bench, launch)
    }

    @Test func `an app may have what fits into one call, and the user has room beside it`() throws {
        var (bench, launch) = try Self.offline()
        bench.askSession(launch, .enqueue(Self.orders(0..<10_000), token: nil))
        #expect(bench.reply == .done)
        bench.askSession(launch, .enqueue(Self.orders(10_000..<10_001), token: nil))
        #expect(bench.refusal?.code == .held)
        let reason = "no more than 10000 transfers are kept of one app, and 15000 of all apps"
        #expect(bench.refusal?.reason == reason)
        bench.ask(Self.downloads(10_001))
        #expect(bench.refusal?.reason == "no more than 20000 transfers are kept")
        #expect(bench.refusal?.value == "10001 more, with room for 10000")
        bench.ask(Self.downloads(10_000))
        #expect(bench.refusal == nil && bench.device.transferCount == Device.mostTransfers)
        let before = bench.device.transfers.sizes
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        #expect(bench.device.transfers.sizes.all == before.all)
        bench.ask(Self.downloads(1))
        #expect(bench.refusal?.code == .held)
    }

    @Test func `what is said of them is bounded, for one app, for all, and together`() throws {
        var (bench, launch) = try Self.offline()
        bench.install(.linked("b"), .linked("c"))
        let others = (try bench.openApp("b"), try bench.openApp("c"))
        // Of each what fits, and what does not beside it. The last app has its least share.
        for (launch, count, more) in [(launch, 400, 20), (others.0, 220, 10), (others.1, 8, 1)] {
            let end = Int64(count)
            bench.askSession(launch, .enqueue(Self.orders(0..<end, Self.long), token: nil))
            #expect(bench.reply == .done)
            let rest = end..<end + Int64(more)
            bench.askSession(launch, .enqueue(Self.orders(rest, Self.long), token: nil))
            let reason = "no more than 12 MiB of URLs, header fields and descriptions are kept of "
            #expect(bench.refusal?.reason == reason + "one app, and 18 MiB of all apps")
        }
        bench.ask(Self.downloads(300, Self.long))
        #expect(bench.refusal?.code == .held)
        bench.ask(Self.downloads(200, Self.long))
        #expect(bench.refusal == nil)
        #expect(bench.device.transferCount == 400 + 220 + 8 + 200)
        let table = bench.device.transfers
        let copy = try ValueDecoder().decode(
            TransferTable.self,
            from: ValueEncoder().encode(table)
        )
        #expect(copy.sizes == table.sizes)
    }

    @Test func `ended ones make room for others`() throws {
        var bench = Bench()
        bench.set(.network, 0)
        guard case .transfers(let ids)? = bench.ask(Self.downloads(830, Self.long)) else {
            Issue.record("\(String(describing: bench.reply))")
            return
        }
        bench.ask(Self.downloads(20, Self.long))
        #expect(bench.refusal?.code == .held)
        bench.ask(.transfer(.cancel(Array(ids.prefix(30)))))
        bench.ask(Self.downloads(20, Self.long))
        #expect(bench.refusal == nil)
        #expect(bench.transfer(ids[0]) == nil && bench.stored(ids[0]) == nil)
        #expect(bench.transfer(ids[29])?.isEnded == true, "no more are forgotten than need be")
    }

    @Test func `one whose app has yet to hear of its end counts until it has`() throws {
        var (bench, launch) = try Self.offline()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.askSession(launch, .enqueue(Self.orders(0..<10_000), token: nil))
        let id = try #require(bench.sessionTasks.first)
        bench.ask(.transfer(.cancel([id])))
        bench.askSession(launch, .enqueue(Self.orders(10_000..<10_001), token: nil))
        #expect(bench.refusal?.code == .held)
        bench.say(launch, .acknowledged(id))
        bench.askSession(launch, .enqueue(Self.orders(10_000..<10_001), token: nil))
        #expect(bench.reply == .done)
    }

    @Test func `what is said of them later counts as well`() throws {
        var (bench, launch) = try Self.offline()
        bench.askSession(launch, .enqueue(Self.orders(0..<400, Self.long), token: nil))
        let text = String(repeating: "x", count: 16_000)
        bench.askSession(launch, .describe(Array(0..<100), text))
        #expect(bench.refusal?.code == .held)
        let tasks = bench.device.transfers.all().compactMap(\.task)
        #expect(tasks.allSatisfy { $0.description == nil })
        bench.askSession(launch, .describe(Array(0..<10), text))
        #expect(bench.reply == .done)
        var mine = Bench()
        mine.set(.network, 0)
        guard case .transfers(let ids)? = mine.ask(Self.downloads(830, Self.long)) else {
            Issue.record("\(String(describing: mine.reply))")
            return
        }
        let directory = "/" + String(repeating: "d", count: 4000)
        mine.ask(.transfer(.move(ids, TransferMove(directory: directory))))
        #expect(mine.refusal?.code == .held)
        #expect(mine.stored(ids[0])?.order.directory == "/home/user")
    }

    @Test func `a request that an app renews has to fit, too`() throws {
        for isLong in [false, true] {
            var (bench, launch) = try Bench.withApp()
            bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
            bench.askSession(launch, .enqueue(Self.orders(0..<1), token: nil))
            let id = try #require(bench.sessionTasks.first)
            let challenge = HTTPField("WWW-Authenticate", "Basic realm=\"r\"")
            let refused = ExchangeAnswer(
                status: 401,
                headers: [challenge],
                url: "http://example.org/0"
            )
            bench.report(id, .ended(.challenged(refused), durable: 0))
            let question = try #require(bench.questions(launch).first).question
            bench.set(.network, 0)
            bench.askSession(launch, .enqueue(Self.orders(1..<418, Self.long), token: nil))
            #expect(bench.reply == .done)
            // There is room for 29 KB.
            let value = String(repeating: "y", count: isLong ? 32_000 : 10)
            let answer = TransferAnswer.request(
                url: "http://example.org/0",
                headers: [HTTPField("Token", value)]
            )
            bench.askSession(launch, .answer(UInt64(question), answer))
            #expect(bench.stored(id)?.isEnded == isLong)
        }
    }

    @Test func `what servers say is left out where there is no room for it`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .enqueue(Self.orders(0..<400, Self.long), token: nil))
        let ids = bench.sessionTasks
        let field = HTTPField("X-Long", String(repeating: "z", count: 60_000))
        for id in ids.prefix(20) {
            let url = "http://example.org/moved"
            bench.report(id, .answered(ExchangeAnswer(status: 404, headers: [field], url: url)))
            bench.report(id, .ended(.complete(size: 1), durable: 1))
            bench.report(id, .placed(name: "\(id).download"))
        }
        #expect(bench.stored(ids[0])?.answer?.headers == [field])
        #expect(bench.stored(ids[19])?.answer?.headers == [])
        #expect(bench.stored(ids[19])?.answer?.status == 404)
        let index = try #require(bench.device.apps.index(of: AppID("app")))
        #expect(bench.device.transferRoom(of: index).bytes > -10_000)
    }
}
