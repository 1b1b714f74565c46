import Linux
import Testing
import Vocabulary

/// The properties that the fuzz targets check, on their corpora and on damaged copies of them.
struct PortPropertyTests {
    @Test(arguments: PortProperties.all.map(\.name))
    func `every input of the corpus keeps the properties`(name: String) throws {
        let property = try #require(PortProperties.all.first { $0.name == name }).property
        let folder = FixtureTests.root + "/FuzzTesting/Corpus/" + name
        let entries = try Files.list(folder)
        #expect(entries.count >= 4)
        var random = SeededRandom(seed: 1)
        for entry in entries {
            let input = try Files.read(folder + "/" + entry)
            #expect(property(input) == nil, "\(entry)")
            for _ in 0..<100 {
                var bytes = input
                for _ in 0...random.next() % 3 {
                    let place = Int(random.next() % UInt64(bytes.count))
                    switch random.next() % 3 {
                    case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes.removeSubrange(place..<min(bytes.count, place + 9))
                    default: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place / 2)
                    }
                    if bytes.isEmpty { bytes = [0] }
                }
                let broken = property(bytes)
                #expect(broken == nil, "\(entry) as \(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }
}
