import Commands
import Vocabulary

/// What one call of `offstage` printed and returned.
struct Outcome: Equatable {
    var status: Int32
    var output: String
    var errors: String
}

/// A place to print to, and the time there: Tuesday, 2026-03-03, 12:00 in UTC+1.
struct TestTerminal {
    var width: Int?
    var isColored = false
    var now = Moment(
        boot: BootTime(nanoseconds: 0) + .hours(5),
        awake: AwakeTime(nanoseconds: 0) + .hours(5),
        wall: LocalTime(day: 20_515, timeOfDay: .hours(12)).wall(utcOffset: 3600),
        utcOffset: 3600
    )

    /// Runs the program with these arguments. Without a `control` no daemon runs.
    func run(_ arguments: [String], _ control: (any Control)? = nil) -> Outcome {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        let console = Console(
            width: width,
            isColored: isColored,
            now: now,
            output: { output += $0 },
            errors: { errors += $0 }
        )
        let program = CommandLineProgram(console: console) { _ throws(Failure) in
            guard let control else { throw Failure(.noDaemon, "the daemon is not running") }
            return control
        }
        let status = program.run(arguments)
        return Outcome(
            status: status,
            output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self)
        )
    }

    @discardableResult
    func run(_ line: String, _ control: (any Control)? = nil) -> Outcome {
        run(line.split(separator: " ").map(String.init), control)
    }
}
