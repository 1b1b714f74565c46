import GatewayCore
import Synchronization
import Testing
import Vocabulary

/// What senders are allowed before they have shown who they are, and what is counted of them.
struct SenderTests {
    // MARK: Whom the operator knows

    @Test func `a token is its key's if it names that key's team`() throws {
        let keys = ProviderKeys([
            ProviderKey(id: "ONE", team: "T1"), ProviderKey(id: "TWO", team: "T2"),
        ])
        func signer(_ key: String, _ team: String) throws -> String? {
            let head = Base64.urlText(Array(#"{"alg":"ES256","kid":"\#(key)"}"#.utf8))
            let claims = Base64.urlText(Array(#"{"iss":"\#(team)","iat":1700000000}"#.utf8))
            let signature = Base64.urlText([UInt8](repeating: 1, count: 64))
            let text = Array("\(head).\(claims).\(signature)".utf8)
            return keys.signer(of: try #require(ProviderToken(text[...])))?.id
        }
        #expect(try signer("ONE", "T1") == "ONE")
        #expect(try signer("ONE", "T2") == nil)
        #expect(try signer("NONE", "T1") == nil)
    }

    /// Which of `a.b` and `a.c` are open to a key of team A.
    struct Openness: Sendable {
        let owners: [(app: String, team: String)]
        let teams: [String]
        let own: Bool
        let other: Bool
    }

    @Test(arguments: [
        Openness(owners: [], teams: ["A"], own: true, other: true),
        Openness(owners: [], teams: ["A", "A"], own: true, other: true),
        Openness(owners: [], teams: ["A", "B"], own: false, other: false),
        Openness(owners: [("a.b", "A")], teams: ["A"], own: true, other: true),
        Openness(owners: [("a.b", "A")], teams: ["A", "B"], own: true, other: false),
        // A team counts as soon as it has an app.
        Openness(owners: [("a.b", "B")], teams: ["A"], own: false, other: false),
    ])
    func `an app without a team is open while there is one team`(rule: Openness) {
        let apps = TeamApps(rule.owners, teams: rule.teams)
        #expect(apps.isOpen("a.b", to: "A") == rule.own)
        #expect(apps.isOpen("a.c", to: "A") == rule.other)
        #expect(apps.canBelong("a.b", to: "A") == (rule.owners.first?.team != "B"))
    }

    @Test func `a certificate makes a connection trusted until it is revoked`() {
        let certificate = ProviderCertificate(fingerprint: "f", topics: ["a.b"])
        var sender = PushSender()
        sender.show(certificate, revoked: ["other"])
        #expect(sender.isTrusted && sender.authorized == .provider)
        let (other, own) = (sender.revoke(["other"]), sender.revoke(["f"]))
        #expect(!other && own && !sender.isTrusted && sender.authorized == nil)
        var late = PushSender()
        late.show(certificate, revoked: ["f"])
        #expect(!late.isTrusted && late.certificate == nil)
        var bad = PushSender()
        bad.show(nil, revoked: [])
        #expect(!bad.isTrusted)
    }

    // MARK: Wrong tokens

    /// One key, which signs tokens that begin with "good"; counts the signatures that it checks.
    private final class Checks: Proofs {
        let generation = 0
        let count = Mutex(0)

        func known(_ field: ArraySlice<UInt8>) -> SignedProvider? {
            field.elementsEqual("known".utf8) ? signed(field) : nil
        }
        func provider(_ field: ArraySlice<UInt8>) -> SignedProvider? {
            count.withLock { $0 += 1 }
            return field.starts(with: "good".utf8) ? signed(field) : nil
        }
        private func signed(_ field: ArraySlice<UInt8>) -> SignedProvider {
            let key = ProviderKey(id: "K", team: "T")
            return SignedProvider(text: field, issuedAt: 1_700_000_000, key: key)
        }
        func device(_ text: ArraySlice<UInt8>) -> DeviceToken? { nil }
        func address(_ text: ArraySlice<UInt8>) -> WebPushAddress? { nil }
        func vapid(_ field: ArraySlice<UInt8>) -> VapidToken? { nil }
    }

    private func expect(
        _ reason: Reason?,
        _ token: String,
        _ sender: inout PushSender,
        _ checks: Checks
    ) {
        let refusal = Self.refusal(token, of: &sender, checks)
        #expect(refusal == reason, "\(token)")
    }

    private static func refusal(
        _ token: String,
        of sender: inout PushSender,
        _ checks: Checks
    ) -> Reason? {
        var driver = GatewayDriver(GatewayLimits(), StoredGateway())
        let arrival = LogArrival(
            method: Array("GET".utf8)[...],
            authorization: Array(token.utf8)[...],
            id: Array("\(PushUUID(number: PushNumber(5), gateway: 7))".utf8)[...]
        )
        let now = Moment(
            boot: BootTime(nanoseconds: 1),
            awake: AwakeTime(nanoseconds: 1),
            wall: WallTime(nanoseconds: 1_700_000_000_000_000_000),
            utcOffset: 0
        )
        do throws(Reason) {
            _ = try driver.admit(arrival, from: &sender, checks, .production, gateway: 7, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the same wrong token is checked once`() {
        let checks = Checks()
        var sender = PushSender()
        for _ in 0..<20 {
            expect(.invalidProviderToken, "wrong", &sender, checks)
        }
        #expect(checks.count.withLock { $0 } == 1)
        #expect(!sender.mustGo)
    }

    @Test func `after ten wrong tokens only one that was right before is taken`() {
        let checks = Checks()
        var sender = PushSender()
        for number in 1...10 {
            #expect(!sender.mustGo)
            expect(.invalidProviderToken, "wrong \(number)", &sender, checks)
        }
        #expect(sender.mustGo)
        expect(.invalidProviderToken, "good", &sender, checks)
        #expect(checks.count.withLock { $0 } == 10)
        expect(nil, "known", &sender, checks)
    }

    // MARK: Guests

    @Test func `guests of each line are served by turns`() {
        let start = BootTime(nanoseconds: 0)
        var lines = GuestLines(at: start)
        for guest in 1...3 as ClosedRange<UInt64> {
            lines.add(guest, turns: 0, isGood: true)
            lines.add(10 + guest, turns: 5, isGood: false)
            lines.add(20 + guest, turns: 6, isGood: true)
            lines.add(30 + guest, turns: 60, isGood: false)
        }
        #expect(lines.count == 12)
        var served: [UInt64] = []
        while let guest = lines.next(at: start) { served.append(guest) }
        #expect(served.prefix(4).sorted() == [1, 11, 21, 31])
        #expect(served.prefix(8).suffix(4).sorted() == [2, 12, 22, 32])
        #expect(served.count == 12)
    }

    @Test func `guests get a tenth of the time at most, and yield for five milliseconds`() {
        // A macro cannot change what it looks at.
        func check(_ holds: Bool, at location: SourceLocation = #_sourceLocation) {
            #expect(holds, sourceLocation: location)
        }
        let start = BootTime(nanoseconds: 0)
        var lines = GuestLines(at: start)
        let soon = start + .milliseconds(1)
        check(lines.beginShare(at: soon) == soon + .milliseconds(1) / 10)
        lines.endShare(at: soon)
        let late = soon + .seconds(1)
        check(lines.beginShare(at: late) == late + .milliseconds(1) / 2)
        lines.endShare(at: late)

        check(lines.yields(at: late))
        check(lines.yields(at: late + .milliseconds(4)))
        check(!lines.yields(at: late + .milliseconds(5)))
        _ = lines.beginShare(at: late + .milliseconds(5))
        check(lines.yields(at: late + .milliseconds(6)))
    }

    /// Guests that are always there, each turn of which takes 0.1 ms; how much of the time it was
    /// the turn of guest 1, which is no newcomer.
    private static func shareOfFirst(beside newcomers: Int) -> Double {
        var now = BootTime(nanoseconds: 0)
        var lines = GuestLines(at: now)
        var served = Interval.zero
        var isWaiting = false
        let turn = Interval.milliseconds(1) / 10
        for round in 0..<20_000 {
            if !isWaiting { lines.add(1, turns: 100, isGood: false) }
            isWaiting = true
            for index in 0..<newcomers {
                lines.add(UInt64(1000 + round * newcomers + index), turns: 0, isGood: false)
            }
            guard let start = lines.nextShare(at: now) else { break }
            now = start
            let end = lines.beginShare(at: now)
            repeat {
                guard let guest = lines.next(at: now) else { break }
                now = now + turn
                guard guest == 1 else { continue }
                served += turn
                isWaiting = false
            } while now < end
            lines.endShare(at: now)
        }
        return Double(served.nanoseconds) / Double(now.nanoseconds)
    }

    @Test(arguments: [0, 1, 3])
    func `whoever goes on without end has half of the time at most`(newcomers: Int) {
        let share = Self.shareOfFirst(beside: newcomers)
        #expect(share > 0.1 && share <= 0.55, "\(share)")
    }

    @Test func `newcomers do not wait while the others rest`() {
        var now = BootTime(nanoseconds: 0)
        var lines = GuestLines(at: now)
        lines.add(1, turns: 100, isGood: false)
        _ = lines.beginShare(at: now)
        let first = lines.next(at: now)
        #expect(first == 1)
        now = now + .milliseconds(2)
        lines.endShare(at: now)
        lines.add(1, turns: 101, isGood: false)
        #expect(lines.nextShare(at: now) == now + .milliseconds(2))
        lines.add(2, turns: 0, isGood: false)
        #expect(lines.nextShare(at: now) == now)
        _ = lines.beginShare(at: now)
        let (second, third) = (lines.next(at: now), lines.next(at: now))
        #expect(second == 2)
        #expect(third == nil)
        #expect(lines.count == 1)
    }
}
