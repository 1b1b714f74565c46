import DeviceCore
import TestKit
import Vocabulary

/// The same with 10,000 tasks of one session, which wait for the network.
extension BulkTurn {
    private static let tasks: Int64 = 10_000
    private static let session = "photos"
    private static let app = AppID("app0")

    mutating func transferFigures() throws -> [Figure] {
        let launch = try open()
        let numbers = Array(1...Self.tasks)
        try turn([.condition(.network, .kernel, .value(0))])
        try say(.enqueue(numbers.map { Self.order($0) }, token: nil), launch)
        let ids = driver.device.transferIDs
        let toFront = TransferMove(place: .first)
        return [
            Self.figure("given another priority", try say(.prioritize(numbers, 500), launch)),
            Self.figure("moved to the front", try ask(.move(ids.reversed(), toFront))),
            Self.figure("paused", try ask(.pause(ids))),
            Self.figure("resumed", try ask(.resume(ids))),
            Self.figure("cancelled", try ask(.cancel(ids))),
            Self.figure("forgotten", try ask(.forget(ids))),
            Self.figure("the second half goes on with the first", try goOn(launch)),
        ]
    }

    private static func figure(_ what: String, _ time: Double) -> Figure {
        Figure(
            name: "10,000 tasks of one session, \(what) in one turn, durable",
            unit: "ms",
            ours: time,
            limit: .atMost(1000)
        )
    }

    /// The user is told of their ends together.
    private static func order(_ number: Int64, resume: String? = nil) -> SessionOrder {
        var order = TransferOrder(
            url: "https://host\(number % 8).example/photos/2026/\(number).jpg",
            directory: "/spool"
        )
        order.notifies = true
        let task = SessionTask(session: session, number: number)
        return SessionOrder(task: task, order: order, resume: resume)
    }

    private mutating func open() throws -> LaunchID {
        try turn([.user(.open(Self.app, attach: nil), reply: reply())])
        for case .spawn(let launch, let spec) in effects where spec.app == Self.app {
            try turn([
                .process(launch, .started(ProcessID(pid: 100, startTime: 1))),
                .app(launch, .finishedLaunching(registered: [])),
            ])
            return launch
        }
        throw DidNotHappen(description: "\(Self.app) was not started")
    }

    @discardableResult
    private mutating func say(_ request: SessionRequest, _ launch: LaunchID) throws -> Double {
        try turn([.app(launch, .session(Self.session, request, reply: reply()))])
    }

    private mutating func ask(_ request: TransferRequest) throws -> Double {
        try turn([.user(.transfer(request), reply: reply())])
    }

    // MARK: Resume data

    /// How long it takes to enqueue tasks that go on with as many others. There is room for 10,000
    /// of one app.
    private mutating func goOn(_ launch: LaunchID) throws -> Double {
        let numbers = Array(1...Self.tasks / 2)
        try say(.enqueue(numbers.map { Self.order($0) }, token: nil), launch)
        try beginAll()
        try say(.keep(numbers), launch)
        try turn([.condition(.network, .kernel, .value(0))])
        let new = zip(numbers, tokens).map { number, token in
            Self.order(Self.tasks + number, resume: token)
        }
        let time = try say(.enqueue(new, token: nil), launch)
        // None has failed for want of what it was to go on with.
        let hasFailed = effects.contains { if case .announce = $0 { true } else { false } }
        guard new.count == numbers.count, !hasFailed else {
            throw DidNotHappen(description: "\(new.count) tasks do not all go on")
        }
        return time
    }

    private var tokens: [String] {
        let device = driver.device
        return device.transferIDs.compactMap { device.transfer($0)?.kept?.token }
    }

    /// Of each some bytes come before it is paused.
    private mutating func beginAll() throws {
        let answer = ExchangeAnswer(
            status: 200,
            url: "https://host.example/",
            total: 9,
            validator: .entityTag("\"1\"")
        )
        var events = [Event.condition(.network, .kernel, .value(2))]
        while !events.isEmpty {
            try turn(events)
            events = []
            for case .transfer(let id, .begin) in effects {
                events.append(.transfer(id, .answered(answer)))
                events.append(.transfer(id, .progress(received: 6, durable: 5)))
                events.append(.user(.transfer(.pause([id])), reply: reply()))
                let end = ExchangeEnd.interrupted(.init(.stopped))
                events.append(.transfer(id, .ended(end, durable: 5)))
            }
        }
    }
}
