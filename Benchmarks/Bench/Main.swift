import Linux
import TestKit
import Vocabulary

/// `make bench [ONLY=group]`: measures, prints a line per figure and writes `.build/bench/*.json`.
@main
enum Main {
    static let groups: [(name: String, run: @Sendable () throws -> [Figure])] = [
        ("footprint", { try FootprintGroup().run() }),
        ("apps", { try AppsGroup().run() }),
        ("gateway", { try PushFigures().run() + IdleDevices().run() }),
        ("freshness", { try FreshnessGroup().run() }),
    ]

    static func main() throws {
        let only = CommandLine.arguments.dropFirst().first
        if let only, !groups.contains(where: { $0.name == only }) {
            print(
                "there is no group \(only); there is " + groups.map(\.name).joined(separator: ", ")
            )
            throw Unknown()
        }
        // Children of the daemons under measurement come to us.
        _ = Orphans.areOurs
        try CurrentProcess.block(signals: [Signal.child, Signal.pipe])
        for group in groups where only == nil || only == group.name {
            print("== \(group.name)")
            let figures = try group.run()
            for figure in figures { print(figure.line) }
            let directory = ".build/bench"
            try Files.makeDirectory(directory, permissions: 0o755, parents: true)
            let json = Value.list(figures.map(\.value)).json(pretty: true)
            try Files.replace(
                "\(directory)/\(group.name).json",
                with: json + "\n",
                permissions: 0o644
            )
        }
    }

    struct Unknown: Error {}
}
