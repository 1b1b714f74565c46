import CommandTable
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
    var height: Int?
    var isColored = false
    var now = Moment(
        boot: BootTime(nanoseconds: 0) + .hours(5),
        awake: AwakeTime(nanoseconds: 0) + .hours(5),
        wall: LocalTime(day: 20_515, timeOfDay: .hours(12)).wall(utcOffset: 3600),
        utcOffset: 3600
    )
    /// With a daemon that goes away.
    var patience = Patience()

    /// Runs the program with these arguments. Without a `control` no daemon runs.
    func run(_ arguments: [String], _ control: (any Control)? = nil) -> Outcome {
        record { console in
            OffstageProgram.main(arguments, console, patience: patience) { _ throws(Failure) in
                guard let control else {
                    throw Failure(.notRunning, "the daemon is not running")
                }
                return control
            }
        }
    }

    /// What a program prints here, and its exit status.
    func record(_ program: (Console) -> Int32) -> Outcome {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        let console = Console(
            width: width,
            height: height,
            isColored: isColored,
            now: now,
            output: { output += $0 },
            errors: { errors += $0 }
        )
        let status = program(console)
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
