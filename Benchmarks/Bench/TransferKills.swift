import Linux
import TestKit

/// What is fetched a second time after kill -9 in the middle of a large file.
struct TransferKills {
    private enum Victim: String, CaseIterable {
        case daemon, network, both

        var words: String {
            switch self {
            case .daemon: "the daemon"
            case .network: "the network process"
            case .both: "both processes"
            }
        }
    }

    func run() throws -> [Figure] {
        let web = try BenchWeb()
        try web.put(TransferFigures.largeName, bytes: TransferFigures.largeBytes)
        var figures: [Figure] = []
        for (place, parent) in [("tmpfs", BenchWeb.memory), ("disk", BenchWeb.disk)] {
            for victim in Victim.allCases {
                let again = try fetchedAgain(victim, web, in: parent)
                figures.append(
                    Figure(
                        name: "fetched again after kill -9 of \(victim.words) at 50 % of "
                            + "\(TransferFigures.largeBytes >> 20) MiB, \(place)",
                        unit: "MB",
                        ours: Double(again) / 1e6,
                        limit: .atMost(16)
                    )
                )
            }
        }
        return figures
    }

    /// Bytes that were in the file, and had to be fetched again.
    private func fetchedAgain(
        _ victim: Victim,
        _ web: BenchWeb,
        in parent: String
    ) throws -> Int64 {
        let daemon = try TransferDaemon(in: parent, trusting: web.certificate)
        let id = try daemon.enqueue([web.url(TransferFigures.largeName, secure: false)])[0]
        let part = daemon.path(".offstage-\(id).part")
        let half = Int64(TransferFigures.largeBytes / 2)
        while Files.status(part)?.size ?? 0 < half { pause(milliseconds: 1) }
        guard let network = try daemon.daemon.networkProcess() else {
            throw DidNotHappen(description: "a network process")
        }
        let process = try PidFD(of: network)
        if victim != .daemon { try process.send(Signal.stop) }
        if victim != .network { try daemon.daemon.kill() }
        if victim == .daemon { try Wait.until(readable: process.descriptor.number) }
        let size = Files.status(part)?.size ?? 0
        if victim != .daemon { try process.send(Signal.kill) }
        if victim != .network { try daemon.start() }
        try daemon.waitUntilEnded(id)
        try daemon.checkFinished([id])
        try BenchWeb.run([
            "cmp", web.path(TransferFigures.largeName), daemon.path(TransferFigures.largeName),
        ])
        return size - (try web.lastRangeStart())
    }
}
