import Linux
import TestKit
import Testing
import Vocabulary

/// Several clients, commands of all kinds, and a daemon that is killed, ended, stopped, doubled and
/// given no room at random moments. Judged by what clients were told, what the commands wrote, the
/// history, and what is left on the machine. `CampaignSettings` says what the environment may ask.
struct CampaignTests {
    @Test(arguments: CampaignSettings.stages)
    func `nothing acknowledged is lost, doubled or undone, whatever happens to the daemon`(
        stage: Stage
    ) async throws {
        var left = CampaignSettings.rounds(of: stage)
        var seed = CampaignSettings.seed
        while left > 0 {
            let rounds = min(left, CampaignSettings.roundsOfAnAct)
            let title =
                "OFFSTAGE_STAGES=\(stage.name) OFFSTAGE_SEED=\(seed) OFFSTAGE_ROUNDS=\(rounds)"
            print("campaign: \(title)")
            // Stages wait more than they work: side by side.
            let outcome = try await ServingThread.value { [seed] in
                try Act(stage, seed: seed, rounds: rounds)
            }
            print("campaign: \(title): \(outcome)")
            judge(outcome, title)
            left -= rounds
            seed &+= 1
        }
    }

    private func judge(_ act: Act, _ title: String) {
        func expect(_ findings: [String], _ what: String, _ line: Int = #line) {
            let first = findings.prefix(3).joined(separator: "\n")
            let place = SourceLocation(
                fileID: #fileID,
                filePath: #filePath,
                line: line,
                column: 9
            )
            let count = findings.count
            #expect(count == 0, "\(title): \(what):\n\(first)", sourceLocation: place)
        }
        let record = act.record
        // Of a few rounds chance decides how many runs they see.
        let least = act.rounds < CampaignSettings.roundsOfAnAct ? 0 : record.entries.count / 8
        expect(record.runs.count > least ? [] : ["\(act)"], "there was no load")
        expect(act.mishaps, "the daemon")
        expect(record.odd, "lines that no command writes")
        expect(record.unanswered, "never answered")
        expect(record.lost, "acknowledged, and never ran")
        expect(record.repeated, "ran again though it was done")
        expect(record.forgotten, "did not come back")
        expect(record.ranThoughRefused, "was refused, and ran")
        expect(record.ranAfterCancel, "began after its cancel")
        expect(record.ranAfterReplacement, "began after it was replaced")
        expect(record.ranTooEarly, "began before its time")
        expect(record.ranAgainstHold, "began against a condition")
        expect(record.movedAgainstHold, "went on against a condition")
        expect(record.ranWithoutManifest, "began without its manifest")
        expect(record.doubled, "two of one name at once")
        expect(record.crowded, "more than slots")
        expect(record.unlined, "a start without a line")
        expect(record.startless, "a line without a start")
        expect(record.userInitiatedWithoutLine, "a run that was wanted without a line")
        expect(record.notStarted, "was not started")
        expect(act.left.keepers, "a keeper stays")
        expect(act.left.processes, "processes left")
        expect(act.left.markers, "markers left")
        expect(act.left.temporaryFiles, "temporary files left")
        expect(act.left.groups, "cgroups left")
        expect(act.left.sockets, "sockets left")
    }
}

/// What came of one state directory.
struct Act: Sendable, CustomStringConvertible {
    /// By name.
    struct Left: Sendable {
        var keepers: [String] = []
        var processes: [String] = []
        var markers: [String] = []
        var temporaryFiles: [String] = []
        var groups: [String] = []
        var sockets: [String] = []
    }

    let record: CampaignRecord
    private(set) var mishaps: [String]
    private(set) var left = Left()
    let description: String

    /// How often the daemon was to end.
    let rounds: Int

    init(_ stage: Stage, seed: UInt64, rounds: Int) throws {
        self.rounds = rounds
        let start = Clocks.boot()
        let campaign = try Campaign(stage, seed: seed)
        let remains = Remains(scratch: campaign.bench.daemon.scratch)
        defer { remains.clear() }
        var mishaps: [String] = []
        do {
            try campaign.run(rounds: rounds)
        } catch {
            mishaps.append("it did not come to its end: \(error)")
            // What is known by then is judged all the same.
            if (try? campaign.bench.answers()) != true { try campaign.bench.restart() }
        }
        record = try campaign.record()
        let played = Clocks.boot() - start
        let end = try campaign.bench.stop()
        if end != .exited(0) { mishaps.append("its last end was \(end as Any)") }
        self.mishaps = campaign.mishaps + mishaps
        let ends = campaign.ends.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        description =
            "\(record.runs.count) runs, \(record.entries.count) answers, "
            + "\(ends.joined(separator: ", ")), \(played)"
        for (identity, commandLine) in remains.keepers {
            do { try Wait.untilGone(identity) } catch { left.keepers.append(commandLine) }
        }
        left.processes = remains.processes.map(\.commandLine)
        left.markers = remains.markers
        left.temporaryFiles = remains.temporaryFiles
        left.groups = remains.groups
        left.sockets = remains.sockets
    }
}
