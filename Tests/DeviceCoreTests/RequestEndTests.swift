@testable import DeviceCore
import Testing
import Vocabulary

/// What becomes of a request when its run ends: each way to end × each origin.
struct RequestEndTests {
    private enum Kind: CaseIterable {
        case command, fetch, submitted, repeated, event

        var origin: Work.Origin {
            switch self {
            case .command: .command
            case .fetch: .fetch
            case .submitted, .repeated: .submitted
            case .event: .event
            }
        }

        var manifest: AppManifest {
            switch self {
            case .command: .processing("app")
            case .fetch: .linked("app")
            case .submitted, .repeated, .event: .linked("app", identifiers: ["task"])
            }
        }
    }

    private enum Fate { case waits, repeats, over }

    private static let always: [Fate] = [.waits, .waits, .waits, .waits, .waits]
    private static let usedUp: [Fate] = [.waits, .waits, .over, .repeats, .over]
    /// Of processing: what repeats is not known to be done.
    private static let failed: [Fate] = [.waits, .waits, .over, .waits, .over]

    /// By end, in the order of kinds.
    private static let table: [(end: RunEnd, fates: [Fate])] = [
        (.undone, always),
        (.lost, always),
        (.command(.retry), always),
        (.command(.expired(.powerLost)), always),
        (.command(.terminated(.userClosed)), always),
        // Of processing; a refresh has had its turn.
        (.command(.expired(.timeout)), always),
        (.command(.succeeded), usedUp),
        (.command(.failed), failed),
        (.command(.exited(status: 1)), failed),
        (.command(.terminated(.memoryLimit)), failed),
        // Whose end nobody saw may be done: what was asked for once is not run twice.
        (.command(.unknown), failed),
        (.delivery(.failed, wasReceived: false), always),
        (.delivery(.succeeded, wasReceived: true), usedUp),
        (.delivery(.expired(.powerLost), wasReceived: true), usedUp),
        (.delivery(.crashed(signal: 11), wasReceived: true), usedUp),
    ]

    /// `isReplaced`: another request of its name waits.
    private static func settle(
        _ kind: Kind,
        after end: RunEnd,
        isReplaced: Bool = false,
        _ change: (inout Request) -> Void = { _ in }
    ) throws -> (fate: Fate, isTold: Bool) {
        var bench = Bench()
        bench.install(kind.manifest)
        var request = Request(
            id: RequestID(900),
            identifier: kind == .fetch ? "fetch" : kind == .command ? "processing" : "task",
            trigger: kind == .fetch ? .refresh : .processing,
            origin: kind.origin,
            needs: Needs(),
            submittedAt: bench.now.wall
        )
        request.state = .running(LaunchID(1))
        if kind == .repeated { request.every = .hours(1) }
        change(&request)
        let id = request.id
        let index = try #require(bench.device.apps.index(of: AppID("app")))
        bench.device.apps[index].record.fetchInterval = .minimum
        bench.device.apps[index].requests = [request]
        if isReplaced {
            (request.id, request.state) = (RequestID(901), .pending)
            bench.device.apps[index].requests.append(request)
        }
        var transition = Device.Transition(now: bench.now)
        bench.device.settle(id, of: index, after: end, &transition)
        let isTold = transition.effects.contains {
            guard case .announce(let line) = $0, case .dropped = line.entry else { return false }
            return true
        }
        guard let left = bench.device.apps[index].requests.first(where: { $0.id == id }) else {
            return (.over, isTold)
        }
        #expect(left.state == .pending)
        return (left.lastEnd == nil ? .waits : .repeats, isTold)
    }

    @Test(arguments: table.indices)
    func `a request waits again, or for its next time, or is over`(_ row: Int) throws {
        let (end, fates) = Self.table[row]
        for (kind, fate) in zip(Kind.allCases, fates) {
            let settled = try Self.settle(kind, after: end)
            #expect(settled == (fate, false), "\(kind) after \(end)")
        }
    }

    @Test(arguments: table.indices)
    func `one that was cancelled meanwhile is over, which the run's line says or its own`(
        _ row: Int
    ) throws {
        let (end, fates) = Self.table[row]
        for (kind, fate) in zip(Kind.allCases, fates) {
            let settled = try Self.settle(kind, after: end) { $0.isCancelled = true }
            let hasNoLine = end == .undone || end == .lost
            let expected = kind.origin.isStanding ? (fate, false) : (Fate.over, hasNoLine)
            #expect(settled == expected, "\(kind) after \(end)")
        }
    }

    @Test(arguments: table.indices)
    func `one that another took the place of is over, and a simulated one ends with its run`(
        _ row: Int
    ) throws {
        let (end, fates) = Self.table[row]
        for (kind, fate) in zip(Kind.allCases, fates) {
            let replaced = try Self.settle(kind, after: end, isReplaced: true)
            #expect(
                replaced == (kind.origin.isStanding ? fate : .over, false),
                "\(kind) after \(end)"
            )
            let simulated = try Self.settle(kind, after: end) { $0.mode = .simulated }
            #expect(simulated == (.over, false), "\(kind) after \(end)")
        }
    }
}
