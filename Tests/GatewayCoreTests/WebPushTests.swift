import GatewayCore
import TestKit
import Testing
import Vocabulary

/// What a sender of Web Push may ask for (RFC 8030), and how it says who it is (RFC 8292).
struct WebPushTests {
    // MARK: Fields

    private func fields(
        _ given: [(String, String)]
    ) -> Result<WebPushRequest.Fields, WebPushReason> {
        var request = WebPushRequest()
        for (name, value) in given { request.add(Array(name.utf8), Array(value.utf8)[...]) }
        do throws(WebPushReason) {
            return .success(try request.fields())
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [
        ([], WebPushReason.missingTTL),
        ([("ttl", "")], .badTTL), ([("ttl", "-1")], .badTTL), ([("ttl", "1.5")], .badTTL),
        ([("ttl", "1"), ("ttl", "1")], .duplicateHeaders),
        ([("ttl", "1"), ("urgency", "urgent")], .badUrgency),
        ([("ttl", "1"), ("topic", "")], .badTopic),
        ([("ttl", "1"), ("topic", "a b")], .badTopic),
        ([("ttl", "1"), ("topic", String(repeating: "a", count: 33))], .badTopic),
        ([("ttl", "1"), ("content-encoding", "aesgcm")], .unsupportedEncoding),
        ([("ttl", "1"), ("content-encoding", "gzip")], .unsupportedEncoding),
    ])
    func `a field that says nothing is refused`(given: [(String, String)], why: WebPushReason) {
        #expect(fields(given) == .failure(why))
    }

    @Test(arguments: [
        ("very-low", PushPriority.passive), ("low", .considerate), ("Normal", .immediate),
        ("high", .immediate),
    ])
    func `urgency is what the device may be woken for`(
        urgency: String,
        priority: PushPriority
    ) throws {
        #expect(try fields([("ttl", "1"), ("urgency", urgency)]).get().priority == priority)
        #expect(try fields([("ttl", "1")]).get().priority == .immediate)
    }

    @Test func `time to live is kept to, up to what is kept at most`() throws {
        let limits = GatewayLimits()
        let now = WallTime(nanoseconds: 1_700_000_000_000_000_000)
        func expiration(_ ttl: String) throws -> (PushExpiration, Int64) {
            let said = try fields([("ttl", ttl)]).get()
            return (said.expiration(at: now, limits), said.granted(limits))
        }
        #expect(try expiration("0") == (.once, 0))
        #expect(try expiration("000") == (.once, 0))
        #expect(try expiration("60") == (.until(now + .seconds(60)), 60))
        let most = Interval.days(30).wholeSeconds
        for long in ["2592001", "2147483648", String(repeating: "9", count: 30)] {
            #expect(try expiration(long) == (.until(now + .days(30)), most))
        }
    }

    @Test func `a topic replaces, and the encoding goes along`() throws {
        let said = try fields([
            ("ttl", "1"), ("topic", "a-_Z9"), ("content-encoding", "AES128GCM"), ("x", "y"),
        ]).get()
        #expect(said.collapseID == Array("a-_Z9".utf8))
        #expect(
            WebPushRequest.payload(said.encoding, [1, 2])
                == [9] + Array("aes128gcm".utf8) + [1, 2]
        )
        #expect(WebPushRequest.payload(try fields([("ttl", "1")]).get().encoding, []) == [0])
    }

    // MARK: Addresses

    @Test func `an address holds whose it is, and for which sender`() {
        let token = DeviceToken(device: DeviceID(7), app: AppNumber(3), generation: 2)
        let anyone = WebPushAddress(token, key: [])
        #expect(anyone.sender == nil)
        #expect(WebPushAddress(bytes: anyone.bytes) == anyone)
        let even = WebPushAddress(token, key: [4] + Array(1...64))
        let odd = WebPushAddress(token, key: [4] + Array(1...63) + [65])
        #expect(even.sender == [2] + Array(1...32))
        #expect(odd.sender == [3] + Array(1...32))
        #expect(WebPushAddress(bytes: odd.bytes) == odd)
        #expect(WebPushAddress(bytes: Array(odd.bytes.dropLast())) == nil)
    }

    @Test func `an app is registered by subscribing, and its address ends with its token`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let other = AppNumber(9)
        let key: [UInt8] = [4] + Array(repeating: 1, count: 64)
        let effects = bench.after {
            $0.subscribe(other, key: key, over: LinkID(1), at: $1, into: &$2)
        }
        let token = DeviceToken(device: bench.device, app: other, generation: 1)
        #expect(
            effects == [
                .save(bench.device, Registration(app: other, generation: 1, isActive: true)),
                .subscribed(LinkID(1), other, token, key: key),
            ]
        )
        // The second finds it registered.
        let again = bench.after {
            $0.subscribe(other, key: [], over: LinkID(1), at: $1, into: &$2)
        }
        #expect(again == [.subscribed(LinkID(1), other, token, key: [])])
        _ = bench.after { $0.unregister(other, over: LinkID(1), at: $1, into: &$2) }
        #expect(
            bench.gateway.refusal(of: token) == .refused(.unregistered, timestamp: bench.now.wall)
        )
    }

    // MARK: VAPID

    private let point: [UInt8] = [4] + Array(1...64)

    private func field(
        head: String = #"{"typ":"JWT","alg":"ES256"}"#,
        claims: String,
        scheme: String = "vapid",
        key: [UInt8]? = nil
    ) -> [UInt8] {
        let token = [head, claims].map { Base64.urlText(Array($0.utf8)) }.joined(separator: ".")
        let signature = Base64.urlText(Array(repeating: 7, count: 64))
        return Array(
            "\(scheme) t=\(token).\(signature), k=\(Base64.urlText(key ?? point))".utf8
        )
    }

    @Test func `what a token says is read, in any order and spelling`() throws {
        let claims = #"{"aud":["https://a.example","https://b.example:8443"],"exp":"1700000100"}"#
        let token = try #require(VapidToken(field(claims: claims)[...]))
        #expect(token.key == point)
        #expect(token.audience == ["https://a.example", "https://b.example:8443"])
        #expect(token.expiration == 1_700_000_100)
        let text = String(decoding: field(claims: claims), as: UTF8.self)
        let parts = text.dropFirst(6).split(separator: ", ")
        let turned = "VAPID \(parts[1]),\t\(parts[0])".replacing("k=", with: "k=\"")
            .replacing(",", with: "\",")
        #expect(VapidToken(Array(turned.utf8)[...]) == token)
    }

    @Test func `what is no token is none`() {
        let claims = #"{"aud":"https://a.example","exp":1700000100}"#
        #expect(VapidToken(field(claims: claims)[...]) != nil)
        #expect(VapidToken(field(claims: claims, scheme: "WebPush")[...]) == nil)
        #expect(VapidToken(field(head: #"{"alg":"none"}"#, claims: claims)[...]) == nil)
        #expect(VapidToken(field(claims: #"{"aud":"https://a.example"}"#)[...]) == nil)
        #expect(VapidToken(field(claims: #"{"exp":1700000100}"#)[...]) == nil)
        #expect(VapidToken(field(claims: claims, key: Array(point.dropLast()))[...]) == nil)
        #expect(VapidToken(field(claims: claims, key: [2] + point.dropFirst())[...]) == nil)
        let doubled = field(claims: claims) + Array(", k=AAAA".utf8)
        #expect(VapidToken(doubled[...]) == nil)
    }

    @Test(arguments: [
        ("https://push.example:8443", 100, true, nil),
        ("https://PUSH.example:8443/", 86_400, true, nil),
        ("https://push.example", 100, true, WebPushReason.badVapid),
        ("http://push.example:8443", 100, true, .badVapid),
        ("https://push.example:8443", 0, true, .expiredVapid),
        ("https://push.example:8443", 90_000, true, .badVapid),
        ("https://push.example:8443", 100, false, .otherSender),
    ])
    func `a token serves here, now and for its sender`(
        audience: String,
        left: Int,
        isSender: Bool,
        why: WebPushReason?
    ) throws {
        let now = 1_700_000_000
        let claims = #"{"aud":"\#(audience)","exp":\#(now + left)}"#
        let token = try #require(VapidToken(field(claims: claims)[...]))
        let sender = WebPushAddress.compressed(isSender ? point : [4] + Array(2...65))
        let refusal = token.refusal(
            origin: "https://push.example:8443",
            sender: sender,
            at: WallTime(nanoseconds: Int64(now) * 1_000_000_000)
        )
        #expect(refusal == why)
    }

    @Test func `an origin has one spelling, with and without its port`() throws {
        let claims = #"{"aud":"https://push.example:443","exp":1700000100}"#
        let token = try #require(VapidToken(field(claims: claims)[...]))
        let now = WallTime(nanoseconds: 1_700_000_000_000_000_000)
        #expect(token.refusal(origin: "https://push.example", sender: nil, at: now) == nil)
    }
}
