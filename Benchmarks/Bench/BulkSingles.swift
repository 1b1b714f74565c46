import DeviceCore
import TestKit
import Vocabulary

/// The same with 10,000 downloads of the user's from as many hosts, each an event of its own.
extension BulkTurn {
    private static let downloads = 10_000

    mutating func singleFigures() throws -> [Figure] {
        try turn([.condition(.network, .kernel, .value(0))])
        let orders = (1...Self.downloads).map { number in
            TransferOrder(url: "https://host\(number).example/file", directory: "/home/downloads")
        }
        let asked = try each(orders.map { .enqueue([$0], token: nil) })
        let ids = driver.device.transferIDs
        guard ids.count >= Self.downloads else {
            throw DidNotHappen(description: "\(ids.count) of 10,000 downloads")
        }
        let singles = ids.suffix(Self.downloads).map { [$0] }
        return [
            Self.figure("asked for", asked),
            Self.figure(
                "moved to the front",
                try each(singles.map { .move($0, TransferMove(place: .first)) })
            ),
            Self.figure("paused", try each(singles.map { .pause($0) })),
            Self.figure("resumed", try each(singles.map { .resume($0) })),
            Self.figure("cancelled", try each(singles.map { .cancel($0) })),
            Self.figure("forgotten", try each(singles.map { .forget($0) })),
        ]
    }

    private mutating func each(_ requests: [TransferRequest]) throws -> Double {
        try turn(requests.map { .user(.transfer($0), reply: reply()) })
    }

    private static func figure(_ what: String, _ time: Double) -> Figure {
        Figure(
            name: "10,000 downloads, each \(what) by itself in one turn, durable",
            unit: "ms",
            ours: time,
            limit: .atMost(1000)
        )
    }
}
