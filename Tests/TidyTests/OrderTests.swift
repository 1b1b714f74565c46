import Testing

/// The order of a `Dictionary` or `Set` differs from run to run; a decision that depends on it
/// cannot be replayed.
///
/// Asked of what the compiler made of the source, because only it knows the type of each
/// expression: going through a dictionary, by `for` or by any method of `Sequence` or `Collection`
/// (`map`, `first`, `min`), leaves its iterator or its conformance among the names of the object
/// file. Optimised builds inline these names away, so the question is put to debug builds only.
struct OrderTests {
    #if DEBUG
    private static let isAsked = true
    #else
    private static let isAsked = false
    #endif

    /// Parts of mangled names, with what they stand for.
    private static let names = [
        ("$sSD12makeIterator", "an iterator of Dictionary"),
        ("$sSh12makeIterator", "an iterator of Set"),
        ("SDyxq_GST", "Dictionary as Sequence"), ("ShyxGST", "Set as Sequence"),
        ("SDyxq_GSl", "Dictionary as Collection"), ("ShyxGSl", "Set as Collection"),
        ("$sSDsSE", "Dictionary as Encodable"), ("$sShsSE", "Set as Encodable"),
        ("$sSD4Keys", "keys of Dictionary"), ("$sSD6Values", "values of Dictionary"),
    ]

    @Test(.enabled(if: isAsked, "optimised code no longer shows it"), arguments: Layers.pure)
    func theCoresNeverGoThroughADictionaryOrSet(_ target: String) {
        let sources = Tree.current.files.filter { $0.isCore && $0.target == target }
        #expect(!sources.isEmpty)
        for source in sources {
            for what in Self.unordered(object: "\(target).build/\(source.name).o") {
                Issue.record("\(source.path): \(what)")
            }
        }
    }

    @Test(.enabled(if: isAsked, "optimised code no longer shows it"))
    func everyWayThroughOneIsSeen() {
        let found = Self.unordered(object: "TidyTests.build/UnorderedSample.swift.o")
        #expect(found == Self.names.map(\.1))
        #expect(Self.unordered(object: "TidyTests.build/SourceText.swift.o") == [])
    }

    /// What an object file of this build says of unordered collections.
    private static func unordered(object: String) -> [String] {
        let program = Array(CommandLine.arguments[0].utf8)
        let folder = program[...(program.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
        let path = String(decoding: folder, as: UTF8.self) + object
        let object = bytes(at: path)
        #expect(!object.isEmpty, "\(path) is not there")
        let names = names(in: object)
        return Self.names.filter { part, _ in names.contains { $0.contains(part) } }.map(\.1)
    }

    /// The mangled names of Swift in an object file.
    private static func names(in bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0).compactMap { part in
            guard part.count > 3, part.count < 4096 else { return nil }
            let name = String(decoding: part, as: UTF8.self)
            return name.hasPrefix("$s") || name.hasPrefix("symbolic ") ? name : nil
        }
    }
}
