import GatewayCore
import TestKit
import Testing
import Vocabulary

/// What is read and written byte for byte with each push.
struct TextTests {
    @Test(arguments: [1] + FreshSeeds.seeds(1))
    func `a UUID is written in small digits, with dashes in four places`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let id = PushUUID(high: random.next(), low: random.next())
            var digits = [id.high, id.low].flatMap { half in
                let text = String(half, radix: 16)
                return Array((String(repeating: "0", count: 16 - text.utf8.count) + text).utf8)
            }
            for place in [8, 13, 18, 23] { digits.insert(UInt8(ascii: "-"), at: place) }
            #expect(id.utf8 == digits)
            var text = Array("<".utf8) + digits.reversed() + Array(">".utf8)
            id.write(over: &text, at: 1)
            #expect(text == Array("<".utf8) + digits + Array(">".utf8))
        }
    }

    @Test func `a byte in a text is looked at wherever it stands`() {
        let marks = (Array("{\"".utf8), Array("\":1}".utf8))
        for count in 0..<24 {
            for place in 0..<count {
                for byte in UInt8.min...UInt8.max {
                    var name = [UInt8](repeating: UInt8(ascii: "x"), count: count)
                    name[place] = byte
                    let isPlain = byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C
                    let scan = PayloadScan(marks.0 + name + marks.1)
                    #expect((scan != nil) == isPlain, "\(byte) at \(place) of \(count)")
                }
            }
        }
    }

    @Test func `a topic ends with what it is for`() {
        func split(_ topic: String, _ type: PushType?) -> String? {
            PushType.split(topic: Array(("#" + topic).utf8)[1...], type: type)
                .map { "\($0.type.name) \($0.bundle)" }
        }
        #expect(split("a.App", nil) == "alert a.App")
        #expect(split("a.App", .alert) == "alert a.App")
        #expect(split("a.App", .voip) == nil)
        for type in PushType.allCases where type.topicSuffix.utf8CodeUnitCount > 0 {
            let topic = "a.App\(type.topicSuffix)"
            #expect(split(topic, nil) == "\(type.name) a.App")
            #expect(split(topic, type) == "\(type.name) a.App")
            #expect(split(topic, .alert) == nil)
            #expect(split("\(type.topicSuffix)", nil) == "alert \(type.topicSuffix)")
        }
    }
}
