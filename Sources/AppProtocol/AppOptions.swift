package import Vocabulary

/// What `App1.Hello` takes, validated.
package struct HelloOptions: Equatable, Sendable {
    /// Of the app's object.
    package var path: String
    /// Nil: the app is new, and has not been connected before.
    package var again: Reconnection?

    /// What an app that lost its connection says.
    package struct Reconnection: Equatable, Sendable {
        /// Deliveries that it accepted and still works on.
        package var running: [Int64] = []
        /// What it completed meanwhile, with what it says of it.
        package var finished: [Finished] = []
        /// Identifiers with a handler; nil: as it said before.
        package var registered: [String]?
    }

    package struct Finished: Equatable, Sendable {
        package var delivery: Int64
        package var result: String

        package init(delivery: Int64, result: String) {
            (self.delivery, self.result) = (delivery, result)
        }
    }

    package init(_ options: ValueMap) throws(OptionError) {
        var reader = OptionReader(options)
        guard let version = try reader.number("version", in: Int64.min...Int64.max) else {
            throw OptionError(
                reason: "the version of the protocol is missing",
                value: "",
                fix: "give version \(App1.version)"
            )
        }
        guard version == App1.version else {
            throw OptionError(
                reason: "this daemon does not speak that version of the protocol",
                value: "\(version)",
                fix: "speak version \(App1.version), or install a daemon that speaks \(version)"
            )
        }
        path = try reader.text("path") ?? AppObject1.path
        guard Self.isObjectPath(path) else {
            throw OptionError(
                reason: "path is not the path of an object",
                value: path,
                fix: "write it as \(AppObject1.path)"
            )
        }
        let running = try reader.numbers("running")
        let finished = try reader.maps("finished")
        let registered = try reader.texts("registered")
        if running != nil || finished != nil || registered != nil {
            var ends: [Finished] = []
            for map in finished ?? [] { ends.append(try Finished(map)) }
            again = Reconnection(running: running ?? [], finished: ends, registered: registered)
        }
        try reader.finish()
    }

    private static func isObjectPath(_ path: String) -> Bool {
        guard path.utf8.count <= 255, path.hasPrefix("/"), path != "/" else { return path == "/" }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            .allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy {
                        switch $0 {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"),
                            UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                            true
                        case _: false
                        }
                    }
            }
    }
}

extension HelloOptions.Finished {
    fileprivate init(_ map: ValueMap) throws(OptionError) {
        var reader = OptionReader(map)
        guard let delivery = try reader.number("delivery", in: 0...Int64.max),
            let result = try reader.text("result")
        else {
            throw OptionError(
                reason: "finished does not say what, or how",
                value: Value.map(map).json(),
                fix: "give delivery and result of each"
            )
        }
        try reader.finish()
        self.init(delivery: delivery, result: result)
    }
}

/// What `App1.Submit` takes, validated.
package struct RequestOptions: Equatable, Sendable {
    package var identifier: String
    package var kind: SubmitOptions.Kind
    package var earliest: WallTime?
    package var needs: Needs
    package var token: String?

    package init(_ identifier: String, _ options: ValueMap) throws(OptionError) {
        self.identifier = try Self.checked(identifier: identifier)
        var reader = OptionReader(options)
        guard let kind = try reader.text("kind").flatMap({ SubmitOptions.Kind(rawValue: $0) })
        else {
            throw OptionError(
                reason: "the kind is missing or not one of them",
                value: options["kind"].map { $0.json() } ?? "",
                fix: "refresh or processing"
            )
        }
        self.kind = kind
        earliest = try reader.date("earliest")
        needs = Needs(
            power: try reader.flag("power"),
            network: try reader.flag("network"),
            unmetered: try reader.flag("unmetered"),
            unlocked: try reader.flag("unlocked")
        )
        token = try reader.token("token")
        try reader.finish()
    }

    /// A name that a task may have.
    package static func checked(identifier: String) throws(OptionError) -> String {
        guard !identifier.isEmpty, identifier.utf8.count <= 255, !identifier.utf8.contains(0)
        else {
            throw OptionError(
                reason: "an identifier has 1 to 255 bytes",
                value: "\(identifier.prefix(40))",
                fix: "give one of PermittedTaskIdentifiers="
            )
        }
        return identifier
    }
}

/// What `App1.BeginTask` takes, validated.
package struct TaskOptions: Equatable, Sendable {
    package var name: String
    /// `ExpireTask` is wanted.
    package var expires: Bool
    /// It ends with the connection.
    package var isActivity: Bool
    package var token: String?

    package init(_ name: String, _ options: ValueMap) throws(OptionError) {
        guard name.utf8.count <= 255, !name.utf8.contains(0) else {
            throw OptionError(
                reason: "the name of a task has up to 255 bytes",
                value: "\(name.prefix(40))",
                fix: "give a shorter one"
            )
        }
        self.name = name
        var reader = OptionReader(options)
        expires = try reader.flag("expires")
        isActivity = try reader.flag("activity")
        token = try reader.token("token")
        try reader.finish()
    }
}

extension OptionReader {
    /// Seconds since 1970. A date beyond those that there are is the nearest of them: "distant
    /// future" is a date as well.
    mutating func date(_ name: String) throws(OptionError) -> WallTime? {
        guard let value = take(name) else { return nil }
        guard let seconds = value.doubleValue, seconds.isFinite else {
            throw wrong(name, value, "a date in seconds since 1970")
        }
        let bounded = min(max(seconds, 0), 9_000_000_000)
        // Apart, so that the fraction keeps its digits.
        let whole = bounded.rounded(.down)
        let rest = ((bounded - whole) * 1e9).rounded()
        return WallTime(nanoseconds: Int64(whole) * 1_000_000_000 + Int64(rest))
    }

    mutating func numbers(_ name: String, limit: Int = 1024) throws(OptionError) -> [Int64]? {
        guard let value = take(name) else { return nil }
        guard let list = value.listValue, list.count <= limit else {
            throw wrong(name, value, "a list of at most \(limit) numbers")
        }
        var numbers: [Int64] = []
        for item in list {
            guard let number = item.integerValue, number >= 0 else {
                throw wrong(name, item, "a list of numbers")
            }
            numbers.append(number)
        }
        return numbers
    }

    mutating func maps(_ name: String, limit: Int = 1024) throws(OptionError) -> [ValueMap]? {
        guard let value = take(name) else { return nil }
        guard let list = value.listValue, list.count <= limit else {
            throw wrong(name, value, "a list of at most \(limit) maps")
        }
        var maps: [ValueMap] = []
        for item in list {
            guard let map = item.mapValue else { throw wrong(name, item, "a list of maps") }
            maps.append(map)
        }
        return maps
    }

    mutating func token(_ name: String) throws(OptionError) -> String? {
        guard let token = try text(name) else { return nil }
        guard token.utf8.count <= 64 else {
            throw OptionError(
                reason: "the token is too long",
                value: token,
                fix: "at most 64 bytes"
            )
        }
        return token
    }
}
