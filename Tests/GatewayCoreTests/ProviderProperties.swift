package import GatewayCore
import Vocabulary

/// What holds for any bytes that a provider may send; shared with the fuzzers.
package enum ProviderProperties {
    package static func read(
        _ bytes: [UInt8],
        pieces size: Int,
        bodyLimit: Int
    ) -> (steps: [HTTP1Reader.Step], error: WebPushReason?) {
        var reader = HTTP1Reader(bodyLimit: bodyLimit)
        var steps: [HTTP1Reader.Step] = []
        do throws(WebPushReason) {
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + min(size, bytes.count))
                reader.append(bytes[start..<end])
                start = end
                while let step = try reader.next() { steps.append(step) }
            }
            return (steps, nil)
        } catch {
            return (steps, error)
        }
    }

    /// The rule that reading `bytes` as HTTP/1.1 broke; nil when all held.
    package static func brokenHTTP1(_ bytes: [UInt8]) -> String? {
        let whole = read(bytes, pieces: max(1, bytes.count), bodyLimit: 64)
        let pieces = read(bytes, pieces: 3, bodyLimit: 64)
        guard pieces.error == whole.error else { return "pieces make a difference" }
        // Whoever waits for a word gets it only if the body did not come along.
        guard requests(pieces.steps) == requests(whole.steps) else { return "other requests" }
        for request in requests(whole.steps) {
            guard request.body.count <= 64 else { return "too long a body" }
            guard !request.isCutOff || request.body.isEmpty else { return "half a body" }
        }
        return nil
    }

    private static func requests(_ steps: [HTTP1Reader.Step]) -> [HTTP1Reader.Request] {
        steps.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    // MARK: A load balancer's header

    /// Who connects by the header, and how much of `bytes` it took; nil: it is none.
    package static func readHeader(
        _ bytes: [UInt8],
        pieces size: Int
    ) -> (source: ProxyHeader.Source?, taken: Int)? {
        var header = ProxyHeader()
        var taken = 0
        while taken < bytes.count {
            let count = min(size, header.missing, bytes.count - taken)
            do throws(ProxyHeader.Malformed) {
                let source = try header.take(Array(bytes[taken..<(taken + count)]))
                taken += count
                if let source { return (source, taken) }
            } catch {
                return nil
            }
        }
        return (nil, taken)
    }

    package static func brokenProxyHeader(_ bytes: [UInt8]) -> String? {
        let whole = readHeader(bytes, pieces: .max)
        for size in [1, 7] {
            let pieces = readHeader(bytes, pieces: size)
            guard pieces?.source == whole?.source, pieces?.taken == whole?.taken else {
                return "pieces make a difference"
            }
        }
        guard let (source, taken) = whole, source != nil else { return nil }
        guard taken >= 16, taken <= ProxyHeader.longest else { return "too much was taken" }
        return taken == 16 + Int(bytes[14]) * 256 + Int(bytes[15]) ? nil : "not what it says"
    }

    // MARK: Tokens and fields

    private static let limits = GatewayLimits()
    private static let now = WallTime(nanoseconds: 1_700_000_000_000_000_000)

    /// A field of `authorization`, of either interface.
    package static func brokenToken(_ bytes: [UInt8]) -> String? {
        if let text = ProviderToken.bearer(bytes[...]), let token = ProviderToken(text) {
            guard token.signature.count == 64, text.starts(with: token.signed),
                !token.keyID.isEmpty, !token.teamID.isEmpty
            else { return "half a token" }
        }
        if let token = VapidToken(bytes[...]) {
            guard token.signature.count == 64, token.key.count == 65 else {
                return "half a token"
            }
            let foreign = token.refusal(origin: "no origin", sender: nil, at: now)
            guard foreign == .badVapid else { return "a token for everywhere" }
        }
        return nil
    }

    /// A payload is what a reader of JSON that builds everything takes for an object as well.
    package static func brokenPayload(_ bytes: [UInt8]) -> String? {
        guard bytes.count <= 4096 else { return nil }
        var request = PushRequest()
        request.payload = bytes
        let scan = PayloadScan(bytes)
        let depth = bytes.count { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
        if let value = try? ValueJSON.parse(bytes), case .map = value,
            depth < PayloadScan.depthLimit
        {
            guard let scan else { return "an object was refused" }
            if value["aps"] == nil, scan.wakes || scan.shows { return "no aps, and yet" }
        }
        do throws(Reason) {
            let nature = try PushRequest.nature(
                of: request.fields(),
                request.payload,
                isCutOff: request.isCutOff
            )
            guard scan?.isSilent == nature.isSilent else { return "two natures" }
        } catch {
            guard scan == nil || bytes.isEmpty else { return "an object was refused" }
        }
        return nil
    }

    /// The fields of a push, one a line.
    package static func brokenFields(_ bytes: [UInt8]) -> String? {
        let lines = bytes.split(
            separator: 0x0A,
            maxSplits: 5,
            omittingEmptySubsequences: false
        )
        func line(_ index: Int) -> ArraySlice<UInt8>? {
            index < lines.count && lines[index] != [0x2D] ? lines[index] : nil
        }
        var request = PushRequest()
        (request.topic, request.pushType, request.id) = (line(0), line(1), line(2))
        (request.expiration, request.priority, request.collapseID) = (line(3), line(4), line(5))
        do throws(Reason) {
            let fields = try request.fields()
            guard fields.collapseID.count <= 64 else { return "too long an id" }
            guard fields.type != .webpush else { return "a type of the other interface" }
            guard (fields.bundle ?? "a").utf8.count <= 255, fields.bundle != "" else {
                return "a bundle that is none"
            }
            if let id = fields.id, PushUUID(id.utf8) != id { return "another id" }
        } catch {
            guard error.status == 400 else { return "a reason of something else" }
        }
        return nil
    }

    /// The fields of a Web Push, `name:value` a line, and the ids of addresses and channels.
    package static func brokenWebPush(_ bytes: [UInt8]) -> String? {
        var request = WebPushRequest()
        for line in bytes.split(separator: 0x0A) {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            request.add(line[..<colon], line[colon...].dropFirst())
        }
        if let fields = try? request.fields() {
            guard fields.ttl >= 0, fields.granted(limits) <= limits.storage.wholeSeconds,
                fields.collapseID.count <= 32
            else { return "more than is granted" }
            if case .until(let end) = fields.expiration(at: now, limits), end <= now {
                return "kept for no time"
            }
        }
        if let address = WebPushAddress(bytes: bytes), address.bytes != bytes {
            return "an address has two forms"
        }
        if let id = ChannelID(bytes), ChannelID(id.text.utf8) != id { return "another channel" }
        return nil
    }
}
