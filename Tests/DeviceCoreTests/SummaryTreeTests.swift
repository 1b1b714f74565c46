import TestKit
import Testing
import Vocabulary

@testable import DeviceCore

/// The list of what apps wait for, against a plain list.
struct SummaryTreeTests {
    @Test(arguments: Array(UInt64(1)...8) + FreshSeeds.seeds(1))
    func `it finds what a look at each finds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var tree = SummaryTree<AppWait>()
        var list: [AppWait] = []
        for _ in 0..<2000 {
            if random.chance(1, in: 20) {
                list.append(.none)
                tree.makeRoom(for: list.count)
            }
            guard !list.isEmpty else { continue }
            let index: Int = random.below(list.count)
            var wait = AppWait.none
            if random.chance(2, in: 3) {
                wait.start = BootTime(nanoseconds: random.below(50))
                wait.look = BootTime(nanoseconds: random.below(50))
                wait.heldBy.insert(random.below(5))
                wait.waitsForIdle = random.chance(1, in: 2)
            }
            list[index] = wait
            tree[index] = wait
            #expect(tree[index] == wait)
            let all = list.reduce(into: AppWait.none) { $0.merge($1) }
            #expect(tree.summary == all)
            let time = BootTime(nanoseconds: random.below(50))
            let isDue: (AppWait) -> Bool = { $0.start <= time || $0.look <= time }
            #expect(tree.indices(where: isDue) == list.indices.filter { isDue(list[$0]) })
            #expect(tree.first(where: isDue) == list.firstIndex(where: isDue))
            var gates = GateSet()
            gates.insert(random.below(5))
            let held = list.indices.filter { list[$0].heldBy.overlaps(gates) }
            #expect(tree.indices { $0.heldBy.overlaps(gates) } == held)
        }
    }
}

/// The table of live launches, against a plain list.
struct LaunchTableTests {
    @Test(arguments: Array(UInt64(1)...8) + FreshSeeds.seeds(1))
    func `it keeps the order, and counts what each claims`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var table = LaunchTable()
        var list: [(launch: LaunchID, app: Int, claims: LaunchClaims)] = []
        for number in 1...1000 as ClosedRange<UInt64> {
            let claims = LaunchClaims(rawValue: UInt8(random.below(32)))
            let place: Int? = list.isEmpty ? nil : random.below(list.count)
            if random.chance(random.chance(1, in: 2) ? 2 : 1, in: 3) {
                list.append((LaunchID(number), Int(number), claims))
                table.append(LaunchID(number), app: Int(number), claims)
            } else if let place, random.chance(1, in: 2) {
                list[place].claims = claims
                table.change(list[place].launch, to: claims)
            } else if let place {
                table.remove(list.remove(at: place).launch)
            }
            #expect(table.map(\.launch) == list.map(\.launch))
            #expect(table.map(\.app) == list.map(\.app))
            #expect(table.count == list.count)
            for bit in 0..<LaunchClaims.count {
                let claim = LaunchClaims(rawValue: 1 << UInt8(bit))
                #expect(table.count(claim) == list.count { $0.claims.contains(claim) })
            }
            for entry in list { #expect(table.app(of: entry.launch) == entry.app) }
            #expect(table.app(of: LaunchID(number + 1)) == nil)
        }
        let copy = try ValueDecoder().decode(
            LaunchTable.self,
            from: ValueEncoder().encode(table)
        )
        #expect(copy == table)
    }

    @Test func `who opens an app is known until it is answered`() {
        var table = LaunchTable()
        let openers = [1, 2].map { WaitingOpener(reply: ReplyToken($0), attaches: $0 == 2) }
        let (first, second) = (LaunchID(1), LaunchID(2))
        for launch in [first, second] { table.append(launch, app: 0, []) }
        for opener in openers { table.append([opener], to: first) }
        #expect(table.hasOpeners(first) && !table.hasOpeners(second))
        table.append(table.removeOpeners(of: first), to: second)
        #expect(!table.hasOpeners(first) && table.hasOpeners(second))
        table.remove(first)
        #expect(table.flatMap(\.openers) == openers)
        #expect(table.removeOpeners(of: second) == openers && !table.hasOpeners(second))
        #expect(table.removeOpeners(of: first).isEmpty)
    }
}
