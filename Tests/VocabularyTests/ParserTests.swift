import Linux
import Testing
import Vocabulary

/// The properties that the fuzz targets check, on their corpora and on damaged copies of them.
struct ParserTests {
    static let names = ParserProperties.all.map(\.name)

    @Test(arguments: names)
    func everyInputOfTheCorpusKeepsTheProperties(name: String) throws {
        let property = try #require(ParserProperties.all.first { $0.name == name }).property
        var random = SeededRandom(seed: 1)
        for input in try Self.corpus(name) {
            #expect(property(input.bytes) == nil, "\(input.path)")
            for _ in 0..<50 {
                let bytes = random.damaged(input.bytes)
                let broken = property(bytes)
                #expect(broken == nil, "\(input.path) as \(bytes)")
            }
        }
    }

    @Test func eachParserHasACorpus() throws {
        for name in Self.names { #expect(try Self.corpus(name).count >= 4, "\(name)") }
    }

    private static func corpus(_ name: String) throws -> [(path: String, bytes: [UInt8])] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let folder = "/\(root)/FuzzTesting/Corpus/\(name)"
        return try Files.list(folder).map { entry in
            ("\(name)/\(entry)", try Files.read("\(folder)/\(entry)", limit: 1 << 20))
        }
    }
}

extension SeededRandom {
    /// A copy with up to four bytes changed, taken out, put in or said twice.
    fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(3) {
            guard !bytes.isEmpty else { break }
            let place = below(bytes.count)
            switch below(4) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
            default: bytes.insert(contentsOf: bytes[place...].prefix(below(20)), at: place)
            }
        }
        return bytes
    }
}
