package import Vocabulary

extension Control1 {
    package struct Open: AppSubject {
        package typealias Reply = OpenedApp
        package var app = ""
        package var attach: Int64?
        package var urls: [String]?
        package init() {}

        /// A process becomes an app once, and an app opens what it is given each time.
        package var repetition: Repetition {
            attach == nil && urls?.isEmpty ?? true ? .same : .twice
        }
        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("app", &app)
            try fields.option(
                "attach",
                &attach,
                in: 1...Int64(Int32.max),
                "the caller's own pid: the caller becomes the app"
            )
            try fields.option(
                "urls",
                &urls,
                "for the app to open, at most \(Self.mostURLs); it is told of them if it links "
                    + "the library"
            )
        }

        package static let mostURLs = 64
        package static let longestURL = 8192

        package func check() throws(OptionError) {
            guard urls?.count ?? 0 <= Self.mostURLs else {
                throw OptionError(
                    reason: "an app opens at most \(Self.mostURLs) URLs at once",
                    value: "\(urls?.count ?? 0)",
                    fix: "give fewer"
                )
            }
            for url in urls ?? [] { try Self.check(url) }
        }

        private static func check(_ url: String) throws(OptionError) {
            let isPlain = url.utf8.allSatisfy { (0x21...0x7e).contains($0) }
            guard isPlain, url.utf8.count <= longestURL else {
                throw OptionError(
                    reason: "a URL has at most \(longestURL) bytes, and no spaces or letters "
                        + "beyond ASCII",
                    value: String(url.prefix(80)),
                    fix: "write those with percent signs (%20)"
                )
            }
            guard hasScheme(url) else {
                throw OptionError(
                    reason: "a URL to open has no scheme",
                    value: String(url.prefix(80)),
                    fix: "write it as https://HOST/PATH, file:///PATH or SCHEME:REST"
                )
            }
        }

        /// As RFC 3986 has it: a letter, then letters, digits, "+", "-", "."; and something behind
        /// the colon.
        private static func hasScheme(_ url: String) -> Bool {
            guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")),
                let first = url.utf8.first, isLetter(first)
            else { return false }
            let isScheme = url.utf8[..<colon].allSatisfy { byte in
                isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
            }
            return isScheme && url.utf8.index(after: colon) < url.utf8.endIndex
        }

        private static func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }
    }

    package struct Leave: AppSubject {
        package var app = ""
        package init() {}
    }

    package struct Close: AppSubject {
        package var app = ""
        package init() {}
    }

    package struct Submit: ControlCall {
        package typealias Reply = RequestedTask
        package var kind: TaskKind?
        package var command: [String]?
        package var id: String?
        package var after: Interval?
        package var earliest: WallTime?
        package var every: Interval?
        package var needs = Needs()
        package var directory: String?
        /// Each as NAME=value.
        package var environment: [String]?
        package var token: String?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("kind", &kind, "refresh or processing")
            try fields.option("command", &command)
            try fields.option("id", &id)
            try fields.option("after", &after)
            try fields.option("earliest", &earliest, "in place of after")
            try fields.option("every", &every)
            try fields.needs(&needs)
            try fields.option("directory", &directory)
            try fields.option(
                "environment",
                &environment,
                "NAME=value; no name begins with \(EnvironmentVariable.ownPrefix)"
            )
            try fields.token(&token, "a repeated call with the same token gets the first answer")
        }

        package func check() throws(OptionError) {
            guard kind != nil else { throw .noKind }
            guard after == nil || earliest == nil else { throw .both("after", "earliest") }
            guard (command ?? []).reduce(0, { $0 + $1.utf8.count + 1 }) <= 128 << 10 else {
                throw OptionError(
                    reason: "the command is too long",
                    value: command?.first ?? "",
                    fix: "at most 128 KB"
                )
            }
            if let every, every < .minutes(1) {
                throw OptionError(
                    reason: "every is too short",
                    value: "\(every)",
                    fix: "at least a minute"
                )
            }
            if let directory, !directory.hasPrefix("/") {
                throw OptionError(
                    reason: "the directory is not an absolute path",
                    value: directory,
                    fix: "begin it with /"
                )
            }
            for text in environment ?? [] { _ = try EnvironmentVariable(text) }
        }

        /// `byApp`: one asks for work of its own, by the identifier alone; its manifest names the
        /// program.
        package func check(byApp: Bool) throws(OptionError) {
            guard byApp else {
                if command?.first?.isEmpty == false { return }
                throw OptionError(
                    reason: "there is no command to run",
                    value: "",
                    fix: "give command, a list"
                )
            }
            if let command, !command.isEmpty {
                throw OptionError(
                    reason: "an app asks for work of its own, not for a command",
                    value: command[0],
                    fix: "give its id, and name the command in the manifest"
                )
            }
            if let ignored = directory ?? environment?.first {
                throw OptionError(
                    reason: "directory and environment are for a command",
                    value: ignored,
                    fix: "name them in the manifest: Path= and Environment="
                )
            }
        }

        package var variables: [EnvironmentVariable] {
            (environment ?? []).compactMap { try? EnvironmentVariable($0) }
        }
    }

    package struct Run: TaskSubject {
        package typealias Reply = RequestedTask
        package var app = ""
        package var task: String?
        package init() {}
    }

    package struct Cancel: TaskSubject {
        package var app = ""
        package var task: String?
        package init() {}
    }

    package struct Pause: ControlCall {
        package var seconds: Interval?
        package var until: WallTime?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.option("seconds", &seconds)
            try fields.option("until", &until, "in place of seconds")
        }

        package func check() throws(OptionError) {
            guard seconds == nil || until == nil else { throw .both("seconds", "until") }
        }
    }

    package struct Dismiss: ControlCall {
        package var app = ""
        package var all = false
        package init() {}

        package var subject: String? { all ? nil : app }
        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("app", &app)
            try fields.option("all", &all, "of every app; the name is empty then")
        }

        /// An empty name alone is one that somebody has not filled in, and does not mean all.
        package func check() throws(OptionError) {
            guard app.isEmpty == all else {
                throw OptionError(
                    reason: all ? "both an app and all are given" : "the name of the app is empty",
                    value: app,
                    fix: "give either an app or all"
                )
            }
        }
    }

    package struct Continue: ControlCall {
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            fields.noOptions()
        }
    }

    package struct Simulate: TaskSubject {
        package var what = Simulation.launch
        package var app = ""
        package var task: String?
        package var kind: TaskKind?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("what", &what)
            try fields.argument("app", &app)
            try fields.option("task", &task)
            try fields.option(
                "kind",
                &kind,
                "refresh or processing: of the task to launch, which must not wait as the other"
            )
        }

        package func check() throws(OptionError) {
            guard let kind, what != .launch || task == nil else { return }
            throw OptionError(
                reason: "kind is for the launch of a task",
                value: kind.rawValue,
                fix: what == .launch ? "give the task as well" : "leave it out"
            )
        }
    }

    package struct Advance: ControlCall {
        package typealias Reply = Reported<Report.Advance>
        package static let usualPatience = Interval.seconds(5)
        package static let takesLong = true
        package var seconds = Interval.zero
        package var asleep = false
        package var patience: Interval?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("seconds", &seconds)
            try fields.option(
                "asleep",
                &asleep,
                "the device sleeps meanwhile, until that is over or its alarm wakes it"
            )
            try fields.option(
                "patience",
                &patience,
                "real time for which a run or a transfer may hold up the clock"
            )
        }

        package func check() throws(OptionError) {
            guard seconds > .zero else {
                throw OptionError(
                    reason: "the clock moves forward only",
                    value: "\(seconds)",
                    fix: "give more than 0 seconds"
                )
            }
        }
    }

    package struct Set: ControlCall {
        package var name = ""
        package var value = ""
        package var app: String?
        package init() {}

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("name", &name)
            try fields.argument("value", &value)
            try fields.option("app", &app)
        }
    }

    package struct Reload: ControlCall { package init() {} }
}

extension OptionError {
    static let noKind = OptionError(
        reason: "the kind is missing",
        value: "",
        fix: "refresh or processing"
    )

    /// Of which one says what the other does.
    static func both(_ one: String, _ other: String) -> OptionError {
        OptionError(
            reason: "both \(one) and \(other) are given",
            value: "",
            fix: "give either \(one) or \(other)"
        )
    }
}

extension EnvironmentVariable {
    init(_ text: String) throws(OptionError) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw OptionError(
                reason: "an environment variable is not NAME=value",
                value: text,
                fix: "write NAME=value"
            )
        }
        let name = String(text[..<equals])
        guard !Self.isOurs(name) else {
            throw OptionError(
                reason: "this environment variable is one that Offstage sets itself",
                value: name,
                fix: "choose a name that does not begin with \(Self.ownPrefix)"
            )
        }
        self.init(name: name, value: String(text[text.index(after: equals)...]))
    }
}
