import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// Frames of the device link: one form each, everything else refused.
struct LinkFrameTests {
    /// The lines `name: hex` of the document's last section.
    private func documented() throws -> [String: [UInt8]] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let document = (root + ["docs", "device-link.md"]).joined(separator: "/")
        let text = try Files.text(document, limit: 1 << 20)
        let section = try #require(text.split(separator: "## Vectors\n").last)
        var found: [String: [UInt8]] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("    ") {
            let parts = line.split(separator: " = ")
            try #require(parts.count == 2, "\(line)")
            let name = String(parts[0].drop { $0 == " " })
            try #require(found.updateValue([UInt8](hex: parts[1]), forKey: name) == nil)
        }
        return found
    }

    @Test func theDocumentsVectorsAreWhatIsSent() throws {
        let documented = try documented()
        let ours =
            Vectors.gateway.map { ($0.name, $0.frame.bytes) }
            + Vectors.device.map { ($0.name, $0.frame.bytes) }
        for (name, bytes) in ours { #expect(documented[name] == bytes, "\(name) = \(bytes.hex)") }
        #expect(documented.count == ours.count)
    }

    @Test func whatWasSentIsRead() throws {
        for (name, frame) in Vectors.gateway {
            #expect(try read(frame.bytes) == [frame], "\(name)")
        }
        for (name, frame) in Vectors.device { #expect(try read(frame.bytes) == [frame], "\(name)") }
    }

    @Test func framesComeOutOfAnyPieces() throws {
        let all = Vectors.device.map(\.frame)
        let bytes = all.flatMap(\.bytes)
        for size in [1, 2, 3, 7, 50, bytes.count] {
            var reader = FrameReader<DeviceFrame>()
            var found: [DeviceFrame] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = bytes[start..<min(start + size, bytes.count)]
                try reader.read(piece) { found.append($0) }
            }
            #expect(found == all)
            #expect(reader.pendingCount == 0)
        }
    }

    @Test func aFrameThatEndsTooSoonIsRefused() throws {
        var (refused, shorter) = (0, 0)
        for (name, frame) in Vectors.device {
            let bytes = frame.bytes
            let fields = bytes[2...]
            for count in 0..<fields.count {
                let cut = fields.prefix(count)
                let whole = [bytes[0]] + head(cut.count) + cut
                // Lists may be shorter, and a keep-alive may end before what it has to add.
                guard let frames: [DeviceFrame] = try? read(whole) else {
                    refused += 1
                    continue
                }
                #expect(frames[0].bytes == whole, "\(name) cut to \(count)")
                shorter += 1
            }
        }
        #expect(refused > shorter && shorter > 0, "\(refused) refused, \(shorter) shorter")
        for (name, frame) in Vectors.gateway where frame != .keptAlive {
            let bytes = frame.bytes
            if case .push = frame { continue }
            if case .broadcast = frame { continue }
            let fields = bytes[(bytes[1] >= 0x40 ? 3 : 2)...]
            for count in 0..<fields.count {
                let whole = [bytes[0]] + head(count) + fields.prefix(count)
                #expect(error(gateway: whole) == .truncated, "\(name) cut to \(count)")
            }
        }
    }

    @Test func whatFollowsTheFieldsIsRefused() {
        #expect(error(device: [0x43, 2, 1, 1]) == .trailing)
        #expect(error(device: [0x48, 2, 1, 1]) == .trailing)
        #expect(error(gateway: [0x07, 1, 0]) == .trailing)
    }

    /// A hello with two digits for each byte of what may stand behind its condition.
    private static func hello(_ rest: String) -> String {
        "41 40" + String(99 + rest.utf8.count / 2, radix: 16) + "01"
            + String(repeating: "00", count: 96) + "0102" + rest
    }

    @Test(arguments: [
        // A number in more bytes than it needs.
        ("43 02 40 01", LinkError.notCanonical),
        ("43 04 80 00 00 01", .notCanonical),
        ("43 08 c0 00 00 00 00 00 00 01", .notCanonical),
        // A length in more bytes than it needs.
        ("43 40 01 01", .notCanonical),
        // Lengths that no frame has.
        ("43 44 01", .tooLong),
        ("43 80 00 00 01", .tooLong),
        // Unknown kinds, and those of the other side.
        ("00 00", .unknownKind), ("4d 00", .unknownKind), ("01 00", .unknownKind),
        ("ff 00", .unknownKind),
        // An acknowledgement of nothing.
        ("42 00", .truncated),
        // Topics that are none.
        ("45 01 00", .badValue), ("45 02 01 20", .badValue), ("45 03 02 c3 a9", .badValue),
        // Flags without a meaning.
        ("44 03 02 01 61", .notCanonical), ("47 01 20", .notCanonical),
        // 101 percent.
        ("47 02 01 65", .badValue),
        // A keep-alive that says that it has nothing to say.
        ("46 02 0a 00", .notCanonical),
        // An end for no reason.
        ("49 01 00", .badValue), ("49 01 0c", .badValue),
        // A secret of no bytes.
        (Self.hello("00"), .notCanonical), (Self.hello("0201"), .truncated),
        // A key that is too short, and one too long.
        ("4a 04 01 61 01 04", .badValue), ("4a 05 01 61 40 42 04", .badValue),
    ])
    func whatADeviceMayNotSayIsRefused(hex: String, expected: LinkError) {
        #expect(error(device: [UInt8](hex: hex)) == expected)
    }

    @Test(arguments: [
        ("41 00", LinkError.unknownKind), ("0d 00", .unknownKind),
        // A priority that is none.
        ("03 04 01 01 07 01", .badValue),
        // An empty collapse id.
        ("03 05 01 01 8a 01 00", .notCanonical),
        // Versions from 2 to 1.
        ("01 02 02 01", .badValue),
        ("06 03 01 61 05", .badValue),
        // No reason not to follow; a flag and a priority of a broadcast that are none.
        ("0b 11 00000000000000000000000000000000 03", .badValue),
        ("0c 12 00000000000000000000000000000000 01 1a", .notCanonical),
        ("0c 12 00000000000000000000000000000000 01 03", .badValue),
        // An address of nothing, and one with a space.
        ("09 05 01 61 01 00 00", .badValue), ("09 06 01 61 01 00 01 20", .badValue),
    ])
    func whatAGatewayMayNotSayIsRefused(hex: String, expected: LinkError) {
        #expect(error(gateway: [UInt8](hex: hex)) == expected)
    }

    @Test func listsAreBounded() {
        let most = DeviceFrame.acknowledge(Array(repeating: 1, count: LinkFormat.mostInList))
        #expect(error(device: most.bytes) == nil)
        let more = DeviceFrame.acknowledge(Array(repeating: 1, count: LinkFormat.mostInList + 1))
        #expect(error(device: more.bytes) == .tooLong)
        let budgets = Array(repeating: DeviceFrame.Budget(app: 1, left: 1), count: 101)
        #expect(
            error(device: DeviceFrame.keepAlive(.init(next: 1, budgets: budgets)).bytes) == .tooLong
        )
    }

    @Test func theLongestPushFitsAndALongerOneDoesNot() {
        func push(_ count: Int) -> GatewayFrame {
            .push(
                .init(
                    sending: LinkFormat.largestNumber,
                    app: LinkFormat.largestNumber,
                    type: 255,
                    priority: 10,
                    expiration: LinkFormat.largestNumber,
                    collapseID: Array(repeating: 0x61, count: 64),
                    payload: Array(repeating: 0x20, count: count)
                )
            )
        }
        #expect(error(gateway: push(5120).bytes) == nil)
        #expect(error(gateway: push(5121).bytes) == .tooLong)
    }

    @Test func aReaderHoldsNoMoreThanOneFrame() throws {
        var reader = FrameReader<DeviceFrame>()
        // The head of the longest frame, and then nothing but its fields.
        try reader.read([0x42, 0x44, 0x00][...]) { _ in }
        for _ in 0..<1023 { try reader.read([1][...]) { _ in } }
        #expect(reader.pendingCount == 1026)
        #expect(throws: LinkError.tooLong) { try reader.read([1][...]) { _ in } }
        #expect(reader.pendingCount == 0)
    }

    @Test(arguments: [6] + FreshSeeds.seeds(1))
    func randomBytesNeverTrapAndWhatIsReadIsCanonical(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            let count: Int = random.below(40)
            var bytes = (0..<count).map { _ in UInt8(random.below(256) as Int) }
            if count > 0, random.chance(9, in: 10) {
                bytes[0] = (random.chance(1, in: 2) ? 0x41 : 0x01) + UInt8(random.below(13) as Int)
            }
            if count > 1, random.chance(3, in: 4) { bytes[1] = UInt8(count - 2) }
            if let broken = LinkProperties.brokenRule(bytes) {
                Issue.record("\(broken): \(bytes.hex)")
            }
        }
    }

    private func head(_ count: Int) -> [UInt8] {
        count < 64 ? [UInt8(count)] : [0x40 | UInt8(count >> 8), UInt8(count & 255)]
    }

    private func read<Frame: LinkFrame>(_ bytes: [UInt8]) throws -> [Frame] {
        var reader = FrameReader<Frame>()
        var frames: [Frame] = []
        try reader.read(bytes[...]) { frames.append($0) }
        return frames
    }

    private func error(device bytes: [UInt8]) -> LinkError? {
        do {
            let _: [DeviceFrame] = try read(bytes)
            return nil
        } catch {
            return error as? LinkError
        }
    }

    private func error(gateway bytes: [UInt8]) -> LinkError? {
        do {
            let _: [GatewayFrame] = try read(bytes)
            return nil
        } catch {
            return error as? LinkError
        }
    }
}
