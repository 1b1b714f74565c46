import Glibc
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
        return names.filter { part, _ in occurs(part, in: object) }.map(\.1)
    }

    /// Whether the bytes hold a text; by the library's search, because tests are not optimised.
    private static func occurs(_ part: String, in bytes: [UInt8]) -> Bool {
        let part = Array(part.utf8)
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            var at = 0
            while at + part.count <= bytes.count {
                let left = bytes.count - at
                guard let next = memchr(base + at, Int32(part[0]), left) else {
                    break
                }
                at = UnsafeRawPointer(next) - base
                if at + part.count > bytes.count { break }
                if memcmp(next, part, part.count) == 0 { return true }
                at += 1
            }
            return false
        }
    }
}
