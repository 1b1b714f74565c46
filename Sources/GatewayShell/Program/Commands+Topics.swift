import CommandTable
import GatewayCore
import Linux
import Vocabulary

extension GatewayProgram {
    static let topics = Subcommand(
        "topics",
        "list apps, and set which team and which key may push to them",
        forms: ["", "add TOPIC... --team=TEAM", "set KEY TOPIC...", "any KEY", "remove TOPIC"],
        operands: 0...100,
        options: [OptionRow("team", "the team that the apps belong to", argument: "ID")],
        details: [
            "A key may push to its team's apps. While there is only one team, it may also push "
                + "to apps that have no team; once there are several, only keys that name such "
                + "an app may. \"add\" assigns apps to a team, also apps that no device has "
                + "registered yet.",
            "\"set\" restricts one key to some apps, and \"any\" ends that.",
            "An app is known once a device has registered it. \"remove\" revokes all its tokens "
                + "and forgets the app and its team until a device registers it again; \"apps\" "
                + "in gateway.conf restricts which apps may be registered.",
        ],
        examples: [
            Example(
                "topics add org.example.Chat --team=TEAM000002",
                "Only keys of that team may push to the app."
            ),
            Example("topics set CHAT000001 org.example.Chat", "Restrict the key to that app."),
            Example("topics remove org.example.Chta", "Remove an app that a device made up."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let operands = invocation.operands
        try invocation.paths.checkExists()
        let isAdding = operands.first == "add" && operands.count > 1
        // A word that is none is told as such.
        let isKnown = ["set", "any", "remove", nil].contains(operands.first)
        if invocation.options.has("team"), isKnown {
            throw Failure(
                .usage,
                "--team goes with add",
                fix: "Such as topics add org.example.Chat --team=TEAM000001."
            )
        }
        switch operands.first {
        case nil: try listTopics(invocation)
        case "add" where isAdding: try addTopics(Array(operands.dropFirst()), invocation)
        case "set" where operands.count > 2:
            var file = try KeysFile(changing: invocation.paths.keys, invocation.console)
            try file.setTopics(
                try KeysFile.topics(Array(operands.dropFirst(2))),
                of: operands[1]
            )
            try file.write()
        case "any" where operands.count == 2:
            var file = try KeysFile(changing: invocation.paths.keys, invocation.console)
            try file.setTopics(nil, of: operands[1])
            try file.write()
        case "remove" where operands.count == 2:
            try removeTopic(try KeysFile.topics([operands[1]])[0], invocation)
        case .some: throw misuse(of: "topics", operands)
        }
    }

    private static func listTopics(_ invocation: GatewayInvocation) throws(Failure) {
        let known = try failing { try invocation.store().apps() }.map(\.1)
        let owners = try KeysFile(invocation.paths.keys).owners()
        let topics = known + owners.keys.filter { !known.contains($0) }.sorted()
        let report = Value.list(
            topics.map { topic in
                .map([
                    "topic": .string(topic), "team": owners[topic].map { .string($0) } ?? .null,
                    "isKnown": .bool(known.contains(topic)),
                ])
            }
        )
        invocation.show(report) { _ in
            var table = Table("TOPIC", "TEAM", "DEVICES")
            for topic in topics {
                table.add(topic, owners[topic] ?? "-", known.contains(topic) ? "yes" : "none yet")
            }
            table.print(invocation.console)
        }
    }

    private static func addTopics(
        _ list: [String],
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        guard let text = invocation.options["team"] else {
            throw Failure(
                .usage,
                "--team is missing",
                fix: "Usage: offstage-gateway topics add TOPIC... --team=TEAM"
            )
        }
        let team = try KeysFile.word(text, "--team")
        var file = try KeysFile(changing: invocation.paths.keys, invocation.console)
        let hadOneTeam = try file.hasOneTeam()
        let moved = try file.give(try KeysFile.topics(list), to: team)
        try file.write()
        let hasKey = try file.keys().contains { $0.key.team == team }
        let report = Value.map([
            "team": .string(team), "hasKey": .bool(hasKey),
            "moved": .list(
                moved.map { .map(["topic": .string($0.topic), "team": .string($0.before)]) }
            ),
        ])
        invocation.show(report) { _ in
            for (topic, before) in moved {
                invocation.console.print("\(topic) was an app of team \(before)")
            }
            guard !hasKey else { return }
            invocation.console.print(
                "team \(team) has no key yet: offstage-gateway keys add ID --team=\(team)"
            )
        }
        if hadOneTeam { try tellOfTeams(file, invocation) }
    }

    private static func removeTopic(
        _ topic: String,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        var file = try KeysFile(changing: invocation.paths.keys, invocation.console)
        let hadTeam = try file.release(topic)
        let known = try? invocation.store().apps()
        // An app that only its team names is no business of a gateway that runs.
        if !hadTeam || known?.contains(where: { $0.1 == topic }) ?? true {
            _ = try ControlClient.ask("DELETE", "/topics/\(topic)", invocation.paths)
        }
        if hadTeam { try file.write() }
    }

    /// There was one team: says which apps were closed if there are several now.
    static func tellOfTeams(
        _ file: KeysFile,
        _ invocation: GatewayInvocation
    ) throws(Failure) {
        guard try !file.hasOneTeam() else { return }
        let owners = try file.owners()
        let known = (try? invocation.store().apps().map(\.1)) ?? []
        let closed = known.filter { owners[$0] == nil }
        guard !closed.isEmpty else { return }
        invocation.console.printError(
            "there are several teams now, and only keys that name them can push to apps "
                + "without a team: " + closed.joined(separator: ", ")
                + "; give them to one with: offstage-gateway topics add TOPIC... --team=TEAM"
        )
    }
}
