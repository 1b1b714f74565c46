@testable import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Records are written by hand, and some are read so: nothing of one is lost between, and all is
/// as the compiler's own code has it.
/// The records here are made up from the form that is kept of the store.
struct WrittenRecordTests {
    /// What is left out because it is the default of its field.
    private static let defaults: Set = [
        "app.fetchInterval.never", "app.transient.newDataFrom.exit",
        "request.request.state.pending", "transfer.transfer.order.direction.download",
    ]
    /// Enough for each word and each case of every enum to have its turn, also within others.
    private static let variants = 600

    private static let roots: [(name: String, again: @Sendable (Value) throws -> Value)] = [
        ("app", { try written(AppRecord.self, $0) }),
        ("device", { try written(DeviceRecord.self, $0) }),
        ("launch", { try written(LaunchRecord.self, $0) }),
        ("line", { try written(HistoryLine.self, $0) }),
        ("request", { try written(RequestRecord.self, $0) }),
        ("transfer", { try written(TransferRecord.self, $0) }),
    ]

    private static func written<T: Codable>(_ type: T.Type, _ value: Value) throws -> Value {
        try ValueEncoder().encode(ValueDecoder().decode(type, from: value))
    }

    @Test(arguments: roots.map(\.name))
    func `what is read of a record is written again`(name: String) throws {
        let form = try Form(kept: name)
        let again = try #require(Self.roots.first { $0.name == name }).again
        var seen: Set<String> = []
        for variant in 0..<Self.variants {
            let value = form.sample(variant, name)
            let result = try again(value)
            compare(result, value, name, &seen)
        }
        let lost = Set(form.paths(name)).subtracting(seen).subtracting(Self.defaults).sorted()
        #expect(lost.isEmpty, "read, and never written: \(lost)")
        #expect(seen.count > 5)
    }

    @Test func `a change is written as it is read`() throws {
        for root in Self.roots {
            let form = try Form(kept: root.name)
            for variant in 0..<20 {
                let value = form.sample(variant, root.name)
                let read = Self.change(root.name, of: value)
                let written = Self.change(root.name, of: try root.again(value))
                #expect(try Self.written(Change.self, read) == written)
            }
        }
        let deletion: Value = ["delete": ["_0": ["key": "command.x", "section": "app"]]]
        #expect(try Self.written(Change.self, deletion) == deletion)
    }

    private static func change(_ root: String, of value: Value) -> Value {
        let content: Value = ["_0": value]
        return root == "line" ? ["append": content] : ["put": ["_0": [root: content]]]
    }

    /// Whole, with a part of their fields, and with one that is something else.
    @Test(arguments: ["app", "request"])
    func `apps and requests are read by hand as Codable reads them`(name: String) throws {
        let form = try Form(kept: name)
        for variant in 0..<Self.variants {
            var random = SeededRandom(seed: UInt64(variant))
            let whole = form.sample(variant, name)
            var values = [whole.thinned(by: 4, &random), whole.thinned(by: 40, &random)]
            for wrong in [Value.null, .integer(-1), .integer(1 << 40), .string("x"), [:], []] {
                values.append(whole.replacingOne(by: wrong, &random))
            }
            try #require(Self.read(name, whole).byHand != nil, "\(whole)")
            for value in [whole] + values {
                let read = Self.read(name, value)
                guard let byHand = read.byHand else { continue }
                #expect(byHand == read.byCodable, "\(value)")
            }
        }
    }

    private static func read(
        _ name: String,
        _ value: Value
    ) -> (byHand: Record?, byCodable: Record?) {
        let decoder = ValueDecoder()
        return name == "app"
            ? (
                AppRecord(fields: value).map(Record.app),
                (try? decoder.decode(AppRecord.self, from: value)).map(Record.app)
            )
            : (
                RequestRecord(fields: value).map(Record.request),
                (try? decoder.decode(RequestRecord.self, from: value)).map(Record.request)
            )
    }

    /// `result` may lack what has its default, and holds nothing else. `seen`: what it has in any
    /// variant.
    private func compare(
        _ result: Value,
        _ value: Value,
        _ path: String,
        _ seen: inout Set<String>
    ) {
        switch (result, value) {
        case (.map(let mine), .map(let given)):
            for entry in mine.entries {
                let inner = "\(path).\(entry.key)"
                guard let there = given[entry.key] else {
                    Issue.record("\(inner) is written, and was not there")
                    continue
                }
                seen.insert(inner)
                compare(entry.value, there, inner, &seen)
            }
        case (.list(let mine), .list(let given)):
            #expect(mine.count == given.count, "\(path)")
            for (left, right) in zip(mine, given) { compare(left, right, path + "[]", &seen) }
        case _: #expect(result == value, "\(path)")
        }
    }
}

extension Value {
    /// Without one in `many` of its fields, here and in the maps below.
    fileprivate func thinned(by many: UInt64, _ random: inout SeededRandom) -> Value {
        guard case .map(let map) = self else { return self }
        var kept: [(String, Value)] = []
        for entry in map.entries where random.next() % many != 0 {
            kept.append((entry.key, entry.value.thinned(by: many, &random)))
        }
        return .map(ValueMap(kept))
    }

    /// With another value of one of its fields, here or in a map below.
    fileprivate func replacingOne(by other: Value, _ random: inout SeededRandom) -> Value {
        guard case .map(var map) = self, !map.isEmpty else { return other }
        let entry = map.entries[Int(random.next() % UInt64(map.count))]
        let isDeep = random.next() % 2 == 0
        let value = isDeep ? entry.value.replacingOne(by: other, &random) : other
        map.set(entry.key, to: value)
        return .map(map)
    }
}

/// The form of a record, as `shapes/VERSION.txt` has it.
private final class Form {
    private var fields: [String: Form] = [:]
    private var cases: [String: Form] = [:]
    private var element: Form?
    private var leaf = ""

    private init() {}

    /// That of one record of the newest version.
    convenience init(kept name: String) throws {
        self.init()
        let text = try Files.text("\(StateFixture.root)/shapes/\(StoreMigrations.newest).txt")
        for line in text.split(separator: "\n") where line.hasPrefix(name + ".") {
            let parts = line.split(separator: ":", maxSplits: 1)
            let way = parts[0].dropFirst(name.count)
            place(way).leaf = String(parts[1].dropFirst())
        }
    }

    /// The place that a path such as `.wake?.stop?` or `[].cases|one._0` leads to.
    private func place(_ way: Substring) -> Form {
        guard let first = way.first else { return self }
        let rest = way.dropFirst()
        if first == "?" { return place(rest) }
        if first == "[" {
            let inner = element ?? Form()
            element = inner
            return inner.place(rest.dropFirst())
        }
        let end = rest.firstIndex { ".|?[".contains($0) } ?? rest.endIndex
        let name = String(rest[..<end])
        let known = first == "|" ? cases[name] : fields[name]
        let inner = known ?? Form()
        if first == "|" { cases[name] = inner } else { fields[name] = inner }
        return inner.place(rest[end...])
    }

    /// Bytes, which the form does not tell from a list of numbers.
    private static func isBytes(_ path: String) -> Bool {
        path.hasSuffix(".body") || path == "transfer.transfer.upload.sent.sha256"
    }

    /// `path`: where it is.
    func sample(_ variant: Int, _ path: String) -> Value {
        if Self.isBytes(path) { return .bytes([1, UInt8(variant % 200)]) }
        if let element {
            return .list((0...1).map { element.sample(variant + $0, path + "[]") })
        }
        if !cases.isEmpty {
            let names = cases.keys.sorted()
            let name = names[choice(variant, path, of: names.count)]
            return .map(ValueMap([(name, cases[name]?.sample(variant, "\(path).\(name)") ?? [:])]))
        }
        if !fields.isEmpty {
            return .map(ValueMap(fields.map { ($0, $1.sample(variant, "\(path).\($0)")) }))
        }
        switch leaf {
        case "nothing": return [:]
        case "map": return ["key": .integer(Int64(variant))]
        case "Bool": return .bool(choice(variant, path, of: 2) == 0)
        case "Double": return .double(0.5 + Double(variant))
        // What a digest is read from as well.
        case "String": return .string("00000000000000\(10 + variant % 90)")
        // The second of a pair is not below the first; counts that are large are halved.
        case _ where leaf.contains("Int"): return .integer(Int64(1 + min(variant, 8)))
        case _:
            let words = leaf.split(separator: " ").map(String.init)
            let word = words[choice(variant, path, of: words.count)]
            return Int64(word).map { .integer($0) } ?? .string(word)
        }
    }

    /// Each place chooses by itself.
    private func choice(_ variant: Int, _ path: String, of count: Int) -> Int {
        let place = path.utf8.reduce(UInt64(variant)) { $0 &* 31 &+ UInt64($1) }
        var random = SeededRandom(seed: place)
        return Int(random.next() % UInt64(count))
    }

    /// Of all fields and cases.
    func paths(_ path: String) -> [String] {
        var found = element?.paths(path + "[]") ?? []
        for (name, inner) in fields.merging(cases, uniquingKeysWith: { $1 }) {
            found.append("\(path).\(name)")
            found += inner.paths("\(path).\(name)")
        }
        return found
    }
}
