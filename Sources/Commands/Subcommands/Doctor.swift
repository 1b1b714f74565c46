import Vocabulary

extension Subcommand {
    static let doctor = Subcommand(
        "doctor",
        "say what this machine can do, and what is lost where it cannot",
        details: [
            "The step of process control in force, the level at which apps are told apart, the "
                + "sensors that are there, whether work goes on after logout. The exit status is "
                + "0 whatever it finds."
        ],
        examples: [
            Example("doctor", "What works here, and what to do about the rest."),
            Example("doctor --json", "The same for a program."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        invocation.show(try invocation.ask("Doctor")) { report in
            let console = invocation.console
            for check in report.elements {
                let isGood = check.flag("ok")
                let mark = console.styled(isGood ? "good" : "lost", isGood ? .green : .yellow)
                let found = check.text("found").printable
                console.print("\(mark)  \(check.text("check").printable): \(found)")
                for (title, key) in [("What is lost", "lost"), ("What to do", "fix")] {
                    let text = check.text(key).printable
                    if text.isEmpty { continue }
                    let width = (console.width ?? 100) - 6
                    for line in "\(title): \(text)".wrapped(to: max(width, 20)) {
                        console.print("      " + line)
                    }
                }
            }
        }
    }
}
