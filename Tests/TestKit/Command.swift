package import Linux

/// A program that a test runs, with what it prints.
package struct Command: Sendable {
    package var arguments: [String]
    package var environment: [String] = Command.cleanEnvironment()
    package var directory: String?
    package var input: String = ""
    /// Runs as this user; nil is whoever runs the tests.
    package var user: User?
    /// False: it is scheduled as one of the caller's programs. The kernel's autogroups divide the
    /// processor among sessions before they look at priorities.
    package var newSession = true
    /// Descriptors that become 3, 4, ….
    package var passed: [Int32] = []
    /// It is killed after printing nothing for this long; -1 is for ever, for a compiler.
    package var silenceLimitMilliseconds = Wait.limitMilliseconds

    /// The first argument is searched in `PATH`.
    package init(_ arguments: String...) { self.arguments = arguments }
    package init(_ arguments: [String]) { self.arguments = arguments }

    package struct Outcome: Equatable, Sendable {
        package var status: ProcessExit
        package var output: String
        package var errors: String

        package init(status: ProcessExit, output: String, errors: String) {
            (self.status, self.output, self.errors) = (status, output, errors)
        }

        package var succeeded: Bool { status == .exited(0) }
    }

    /// Whether a program is in `PATH`.
    package static func exists(_ program: String) -> Bool {
        let search = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        return Files.executable(program, searchPath: search) != nil
    }

    /// Runs to the end.
    package func run() throws -> Outcome {
        var input = try Pipe()
        var output = try Pipe()
        var errors = try Pipe()
        var program = try program()
        program.input = input.reading?.number
        program.output = output.writing?.number
        program.error = errors.writing?.number
        let process = try program.start()
        input.reading = nil
        output.writing = nil
        errors.writing = nil
        try input.writing?.writeAll(self.input)
        input.writing = nil
        var texts: [[UInt8]] = [[], []]
        var ended = [false, false]
        let ends = [output.reading?.number ?? -1, errors.reading?.number ?? -1]
        while ended.contains(false) {
            let open = [0, 1].filter { !ended[$0] }
            let ready = try Poll.wait(
                for: open.map { (ends[$0], .readable) },
                milliseconds: silenceLimitMilliseconds
            )
            guard ready.contains(where: { !$0.isEmpty }) else {
                try process.send(Signal.kill)
                _ = try process.wait(block: true)
                throw DidNotHappen(description: "end of \(arguments)")
            }
            for (index, events) in zip(open, ready) where !events.isEmpty {
                let more =
                    index == 0
                    ? try output.reading?.read(upTo: 65_536)
                    : try errors.reading?.read(upTo: 65_536)
                ended[index] = more?.isEmpty ?? true
                texts[index] += more ?? []
            }
        }
        try Wait.until(readable: process.descriptor.number, "end of \(arguments)")
        return Outcome(
            status: try process.wait(block: true) ?? .unknown,
            output: String(decoding: texts[0], as: UTF8.self),
            errors: String(decoding: texts[1], as: UTF8.self)
        )
    }

    /// Starts it and returns; what it prints goes to a file, if one is named.
    package func start(logging path: String? = nil) throws -> PidFD {
        var program = try program()
        guard let path else { return try program.start() }
        let log = try FileDescriptor(opening: path, [.writing, .create, .append])
        (program.output, program.error) = (log.number, log.number)
        return try program.start()
    }

    private func program() throws -> Program {
        let search = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        guard let path = Files.executable(arguments[0], searchPath: search) else {
            throw DidNotHappen(description: "\(arguments[0]) is not installed")
        }
        var program = Program(path, arguments: arguments, environment: environment)
        program.directory = directory
        program.passed = passed
        program.newSession = newSession
        program.user = user.map { ($0.user, $0.group) }
        return program
    }

    /// `PATH`, `HOME` and a plain locale, and what is added.
    package static func cleanEnvironment(_ more: [String: String] = [:]) -> [String] {
        var entries = ["PATH": CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"]
        entries["HOME"] = CurrentProcess.environment("HOME") ?? "/"
        entries["LC_ALL"] = "C.UTF-8"
        entries.merge(more) { $1 }
        return entries.map { "\($0.key)=\($0.value)" }.sorted()
    }
}

extension Command {
    /// Whether the tests run as root, so that they can show what an ordinary user may do.
    package static var runsAsRoot: Bool { CurrentProcess.user == 0 }

    /// A user without rights of its own.
    package static let ordinaryUser = User.named("nobody")
}
