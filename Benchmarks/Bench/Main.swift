import Linux
import TestKit
import Vocabulary

/// `make bench [ONLY=group[/part]]`: measures, prints a line per figure and writes
/// `.build/bench/*.json`. A part of a group is only printed.
@main
enum Main {
    typealias Part = (name: String, run: @Sendable () throws -> [Figure])

    static let groups: [(name: String, parts: [Part])] = [
        (
            "footprint",
            [
                ("daemon", { try FootprintGroup().run() }),
                ("reaction", { try ReactionFigures().run() }),
                ("launch", { try LaunchFigures.figures() }),
                ("core", { [CoreBench.event(), CoreBench.prediction()] }),
                (
                    "bulk",
                    {
                        var bulk = try BulkTurn()
                        return try bulk.figures()
                    }
                ),
                ("simulator", { SimulatorBench.figures() }),
            ]
        ),
        ("apps", [("all", { try AppsGroup().run() })]),
        (
            "gateway",
            [
                ("pushes", { try PushFigures().run() }),
                ("restart", { try RestartFigure().run() }),
                ("attacks", { try AttackFigures().run() }),
                ("idle", { try IdleDevices().run() }),
            ]
        ),
        (
            "transfers",
            [
                ("large", { try TransferFigures().large() }),
                ("small", { try TransferFigures().small() }),
                ("servers", { try TransferFigures().servers() }),
                ("uploads", { try UploadFigures().small() }),
                ("waiting", { try WaitingTransfers().run() }),
                ("kills", { try TransferKills().run() }),
            ]
        ),
        ("freshness", [("all", { try FreshnessGroup().run() })]),
        ("port", [("all", { try PortGroup().run() })]),
    ]

    static func main() throws {
        let words = (CommandLine.arguments.dropFirst().first ?? "").split(separator: "/")
        let (only, part) = (words.first, words.dropFirst().first)
        let chosen = groups.filter { isChosen($0.name, only) }
        guard chosen.contains(where: { $0.parts.contains { isChosen($0.name, part) } })
        else { refuse(words.joined(separator: "/")) }
        // Children of the daemons under measurement come to us.
        _ = Orphans.areOurs
        try CurrentProcess.block(signals: [Signal.child, Signal.pipe])
        for group in chosen {
            print("== \(group.name)")
            var figures: [Figure] = []
            for one in group.parts where isChosen(one.name, part) {
                let found = try one.run()
                for figure in found { print(figure.line) }
                figures += found
            }
            if part == nil { try write(figures, of: group.name) }
        }
    }

    private static func isChosen(_ name: String, _ wanted: Substring?) -> Bool {
        wanted.map { $0 == name } ?? true
    }

    private static func write(_ figures: [Figure], of group: String) throws {
        let directory = ".build/bench"
        try Files.makeDirectory(directory, permissions: 0o755, parents: true)
        let json = Value.list(figures.map(\.value)).json(pretty: true)
        try Files.replace("\(directory)/\(group).json", with: json + "\n", permissions: 0o644)
    }

    private static func refuse(_ word: String) -> Never {
        let names = groups.flatMap { group in
            group.parts.count == 1
                ? [group.name] : [group.name] + group.parts.map { "\(group.name)/\($0.name)" }
        }
        let errors = FileDescriptor(owning: 2)
        let known = names.joined(separator: ", ")
        try? errors.writeAll("offstage-bench: there is no group \(word); there is \(known)\n")
        _ = errors.release()
        CurrentProcess.exit(2)
    }
}
