import Linux
package import SystemBus
package import Vocabulary

/// A message bus of the test's own (the real dbus-daemon), with the programs that it starts there.
package final class MessageBus {
    package let address: String
    private let scratch: ScratchDirectory
    private let name: String
    private var programs: [Program] = []
    private var connection: Bus?

    /// One that runs; killed when this goes.
    private final class Program {
        let name: String
        let process: PidFD

        init(_ name: String, _ process: consuming PidFD) {
            self.name = name
            self.process = process
        }

        deinit {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }
    }

    /// Listens at `name` in the directory.
    package init(_ scratch: ScratchDirectory, _ name: String) throws {
        (self.scratch, self.name) = (scratch, name)
        address = "unix:path=" + scratch(name)
        try start()
    }

    /// Begins again, after `end`.
    package func start() throws {
        try? Files.remove(scratch(name + ".log"))
        try start(
            name,
            "dbus-daemon",
            "--nofork",
            "--session",
            "--nopidfile",
            "--print-address=1",
            "--address=" + address
        )
        // Printed once it listens.
        try Wait.until(file: scratch(name + ".log")) { $0.contains("unix:") }
    }

    /// Ends the bus; programs on it end, or do not.
    package func end() { end(name) }

    // MARK: Programs

    package func start(_ name: String, _ words: String...) throws {
        try start(name, words)
    }

    private func start(_ name: String, _ words: [String]) throws {
        var command = Command(words)
        command.environment = Command.cleanEnvironment([
            "DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address,
        ])
        programs.append(Program(name, try command.start(logging: scratch(name + ".log"))))
    }

    /// Kills a program.
    package func end(_ name: String) {
        programs.removeAll { $0.name == name }
        if name == self.name { connection = nil }
    }

    /// Waits until somebody has a name.
    package func wait(forOwnerOf service: String) throws {
        let bus = try bus()
        var isThere = false
        let signal = try bus.onSignal(
            "NameOwnerChanged",
            of: Target.messageBusName,
            about: service
        ) { isThere = $0.arguments.last?.stringValue?.isEmpty == false }
        let answer = try bus.call(.messageBus("NameHasOwner"), [.string(service)], signature: "s")
            .first
        isThere = isThere || answer?.boolValue == true
        let time = Interval.milliseconds(Int64(Wait.limitMilliseconds))
        guard try bus.work(for: time, until: { isThere }) else {
            let log = (try? Files.text(scratch(service + ".log"))) ?? ""
            throw DidNotHappen(description: "\(service) on the bus; it said: \(log)")
        }
        _ = signal
    }

    /// The test's own connection.
    package func bus() throws -> Bus {
        if let connection { return connection }
        let made = try Bus.messageBus(at: address)
        connection = made
        return made
    }

    // MARK: Services that say what they are told to (python-dbusmock)

    package func mock(_ service: String, _ path: String, _ interface: String) throws {
        try start(
            service,
            "/usr/bin/python3",
            "-m",
            "dbusmock",
            "--system",
            service,
            path,
            interface
        )
        try wait(forOwnerOf: service)
    }

    /// Adds properties of one interface to an object, which is made if it is not the main one.
    package func add(
        _ path: String,
        of service: String,
        main: String,
        _ interface: String,
        _ properties: ValueMap
    ) throws {
        let target = Target(service, main, Self.mockInterface, "AddObject")
        guard path != main else {
            _ = try bus().call(
                Target(service, main, Self.mockInterface, "AddProperties"),
                [.string(interface), .map(properties)],
                signature: "sa{sv}"
            )
            return
        }
        _ = try bus().call(
            target,
            [.string(path), .string(interface), .map(properties), .list([])],
            signature: "ssa{sv}a(ssss)"
        )
    }

    /// Adds a property with the largest number there is, which services mean as "never". Only
    /// another implementation of D-Bus can send it.
    package func addNever(
        _ property: String,
        to path: String,
        of service: String,
        _ interface: String
    ) throws {
        let outcome = try Command(
            "gdbus",
            "call",
            "--address=" + address,
            "--dest=" + service,
            "--object-path=" + path,
            "--method=\(Self.mockInterface).AddProperty",
            interface,
            property,
            "<uint64 \(UInt64.max)>"
        ).run()
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
    }

    /// Changes properties, and says so to all who listen.
    package func change(
        _ path: String,
        of service: String,
        _ interface: String,
        _ properties: ValueMap
    ) throws {
        _ = try bus().call(
            Target(service, path, Self.mockInterface, "UpdateProperties"),
            [.string(interface), .map(properties)],
            signature: "sa{sv}"
        )
    }

    /// `code` is lines of Python, which set `ret`.
    package func addMethod(
        _ name: String,
        of service: String,
        at path: String,
        takes: String,
        gives: String,
        _ code: String
    ) throws {
        _ = try bus().call(
            Target(service, path, Self.mockInterface, "AddMethod"),
            [.string(""), .string(name), .string(takes), .string(gives), .string(code)],
            signature: "sssss"
        )
    }

    package func emit(
        _ member: String,
        of service: String,
        at path: String,
        _ interface: String,
        _ signature: String,
        _ arguments: [Value]
    ) throws {
        _ = try bus().call(
            Target(service, path, Self.mockInterface, "EmitSignal"),
            [.string(interface), .string(member), .string(signature), .list(arguments)],
            signature: "sssav"
        )
    }

    private static let mockInterface = "org.freedesktop.DBus.Mock"
}
