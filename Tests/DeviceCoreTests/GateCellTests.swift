import Testing
import Vocabulary

@testable import DeviceCore

/// No cell of the gate table is marked for nothing: in each the gate can hold that trigger's work.
struct GateCellTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        let gate: Gate
        let trigger: Trigger
        let mark: GateCell
        var testDescription: String { "\(gate.name), \(trigger)" }
    }

    static let cells: [Cell] = GateTable.rows.flatMap { row in
        zip(Trigger.allCases, row.cells).compactMap { trigger, mark -> Cell? in
            mark == .no ? nil : Cell(gate: row.gate, trigger: trigger, mark: mark)
        }
    }

    @Test(arguments: cells)
    func `what is marked can hold`(_ cell: Cell) throws {
        let scenario = try #require(GateTests.scenarios.first { $0.gate == cell.gate.name })
        let close = Self.closing(cell) ?? scenario.close
        var bench = Bench()
        try close(&bench)
        let (app, work) = try Self.work(cell, bench)
        #expect(work.trigger == cell.trigger)
        let holds = bench.device.holds(on: work, of: app, at: bench.now)
        #expect(holds.gates.contains(cell.gate))
        #expect(holds.next > bench.now.boot)
    }

    /// Where the gate's own scenario closes it for other triggers only.
    private static func closing(_ cell: Cell) -> (@Sendable (inout Bench) throws -> Void)? {
        switch (cell.gate, cell.trigger) {
        case (.thermal, .transfer), (.thermal, .sessionEvents):
            return {
                $0.set(.thermal, 3)
                $0.install(.refreshing("app"))
            }
        case (.quiet, .processing):
            return {
                $0.install(.processing("app") { $0.processingInterval = .hours(1) })
                let launch = try #require($0.spawn(of: "app"))
                $0.started(launch)
                $0.exited(launch)
                $0.advance(.minutes(20))
            }
        // Its process is being ended.
        case (.stillRunning, .sessionEvents):
            return {
                let launch: LaunchID
                ($0, launch) = try Bench.withApp()
                $0.ask(.leave(AppID("app")))
                let usage = Usage(cpu: .seconds(1), memory: 1 << 40)
                $0.send(.process(launch, .measured(usage)))
            }
        case (.betterMoment, .discretionaryTransfer):
            return {
                $0.set(.power, 0)
                var order = Self.order
                order.isDiscretionary = true
                $0.ask(.transfer(.enqueue([order], token: nil)))
            }
        default: return nil
        }
    }

    private static let order = TransferOrder(url: "http://example.org/a", directory: "/home/user")

    /// What the device would ask the gates about, if what waits in the scenario were work of that
    /// trigger.
    private static func work(_ cell: Cell, _ bench: Bench) throws -> (app: Int, work: Work) {
        let (apps, transfers) = (bench.device.apps, bench.device.transfers)
        if var transfer = transfers.all().first(where: { !$0.isRunning && !$0.isEnded }) {
            transfer.order.isDiscretionary = cell.trigger == .discretionaryTransfer
            return (try #require(transfers.app(of: transfer.id)), transfer.work)
        }
        let index = try #require(
            (0..<apps.endIndex).first { apps.at($0)?.id.name.hasSuffix("app") == true }
        )
        let waiting = apps[index].requests.first { apps[index].isWaiting($0) }
        let all = Needs(power: true, network: true, unmetered: true, unlocked: true)
        let needs = cell.mark == .asked ? all : waiting?.needs ?? Needs()
        switch cell.trigger {
        case .refresh, .processing:
            var request = try #require(waiting)
            (request.trigger, request.needs) = (cell.trigger, needs)
            return (index, request.work(at: bench.now.wall))
        case .transfer, .discretionaryTransfer:
            var order = Self.order
            order.isDiscretionary = cell.trigger == .discretionaryTransfer
            (order.needs, order.earliest) = (needs, waiting?.earliest)
            let transfer = Transfer(id: TransferID(1), order: order, submittedAt: bench.now.wall)
            return (index, transfer.work)
        case .sessionEvents:
            let request = Request(
                id: RequestID(1000),
                identifier: "photos",
                trigger: .sessionEvents,
                origin: .event,
                needs: Needs(),
                submittedAt: bench.now.wall
            )
            return (index, request.work(at: bench.now.wall))
        }
    }
}
