package import Vocabulary

/// What `Control1.Submit` takes, validated.
package struct SubmitOptions: Equatable, Sendable {
    package enum Kind: String, CaseIterable, Sendable { case refresh, processing }

    package var kind: Kind
    package var command: [String]
    package var id: String?
    package var after: Interval?
    package var every: Interval?
    package var needs: Needs
    package var directory: String?
    package var environment: [EnvironmentVariable]
    package var token: String?

    /// `ofAnApp`: one asks for work of its own, by the identifier alone; its manifest names the
    /// program.
    package init(_ options: ValueMap, ofAnApp: Bool = false) throws(OptionError) {
        var reader = OptionReader(options)
        guard let kind = try reader.text("kind").flatMap({ Kind(rawValue: $0) }) else {
            throw OptionError(
                reason: "the kind is missing or not one of them",
                value: options["kind"].map { $0.json() } ?? "",
                fix: "refresh or processing"
            )
        }
        self.kind = kind
        command = try reader.texts("command") ?? []
        if ofAnApp, !command.isEmpty {
            throw OptionError(
                reason: "an app asks for work of its own, not for a command",
                value: command[0],
                fix: "give its id, and name the command in the manifest"
            )
        }
        guard ofAnApp || command.first?.isEmpty == false else {
            throw OptionError(
                reason: "there is no command to run",
                value: "",
                fix: "give command, a list"
            )
        }
        guard command.reduce(0, { $0 + $1.utf8.count + 1 }) <= 128 << 10 else {
            throw OptionError(
                reason: "the command is too long",
                value: command.first ?? "",
                fix: "at most 128 KB"
            )
        }
        id = try reader.text("id")
        after = try reader.interval("after")
        every = try reader.interval("every")
        if let every, every < .minutes(1) {
            throw OptionError(
                reason: "every is too short",
                value: "\(every)",
                fix: "at least a minute"
            )
        }
        needs = Needs(
            power: try reader.flag("power"),
            network: try reader.flag("network"),
            unmetered: try reader.flag("unmetered"),
            unlocked: try reader.flag("unlocked")
        )
        directory = try reader.text("directory")
        if let directory, !directory.hasPrefix("/") {
            throw OptionError(
                reason: "the directory is not an absolute path",
                value: directory,
                fix: "begin it with /"
            )
        }
        environment = try Self.variables(try reader.texts("environment") ?? [])
        if ofAnApp, let ignored = directory ?? environment.first?.name {
            throw OptionError(
                reason: "directory and environment are for a command",
                value: ignored,
                fix: "name them in the manifest: Path= and Environment="
            )
        }
        token = try reader.token("token")
        try reader.finish()
    }

    private static func variables(
        _ texts: [String]
    ) throws(OptionError) -> [EnvironmentVariable] {
        var variables: [EnvironmentVariable] = []
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw OptionError(
                    reason: "an environment variable is not NAME=value",
                    value: text,
                    fix: "write NAME=value"
                )
            }
            let name = String(text[..<equals])
            guard !EnvironmentVariable.isOurs(name) else {
                throw OptionError(
                    reason: "this environment variable is one that Offstage sets itself",
                    value: name,
                    fix: "choose a name that does not begin with \(EnvironmentVariable.ownPrefix)"
                )
            }
            let value = String(text[text.index(after: equals)...])
            variables.append(EnvironmentVariable(name: name, value: value))
        }
        return variables
    }
}
