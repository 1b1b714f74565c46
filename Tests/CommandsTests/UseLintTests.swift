import TestKit
import Testing

/// `offstage lint`, of apps whose use nothing tells of.
struct UseLintTests {
    private let scratch = ScratchDirectory()

    private func lint(_ exec: String, _ lines: String) throws -> Outcome {
        let entry = "[Desktop Entry]\nType=Application\nName=App\n\(exec)[X-Offstage]\n"
        let file = try scratch.write("app.desktop", entry + lines)
        return TestTerminal().run(["lint", file])
    }

    private static let refresh = "BackgroundModes=fetch;\nRefreshCommand=true\n"

    @Test func `a refresh that is spread over the day is said, with the line that is missing`()
        throws
    {
        let program = try scratch.write("reader", "#!/bin/sh\n", permissions: 0o755)
        for (exec, path) in [
            ("Exec=\(program) %U\n", program), ("", "/path/of/PROGRAM"),
            // Every program that the same one runs would count.
            ("Exec=\(program) /opt/app\n", "/path/of/PROGRAM"),
            ("Exec=sh -c 'exec /opt/app'\n", "/path/of/PROGRAM"),
        ] {
            let outcome = try lint(exec, Self.refresh)
            #expect(outcome.status == 0, "it is a warning")
            #expect(
                outcome.output.contains(
                    "warning: UseFrom: is missing, so refreshes do not go by when the app is used: "
                        + "they are spread over the waking hours. Write the program that its user "
                        + "starts: UseFrom=exec:\(path)\n"
                ),
                "\(outcome)"
            )
        }
    }

    @Test(arguments: [
        ("Exec=true\n", refresh + "UseFrom=exec:/bin/true\n"),
        // It tells by itself, or nothing is chosen for its use.
        ("Exec=true\n", "BackgroundModes=fetch;\n"),
        ("Exec=true\n", "BackgroundModes=processing;\nProcessingCommand=true\n"),
    ])
    func `an app whose use is known, or does not matter, lacks nothing`(
        exec: String,
        lines: String
    ) throws {
        let outcome = try lint(exec, lines)
        #expect(!outcome.output.contains("UseFrom"), "\(outcome)")
    }
}
