import Linux
import TestKit

/// A real X server without a screen (Xvfb), and somebody who uses it (xdotool).
final class TestScreen {
    private let scratch: ScratchDirectory
    private var process: PidFD?
    /// As in `DISPLAY`.
    private(set) var display = ""

    static let isInstalled = ["Xvfb", "xdotool", "xauth"].allSatisfy {
        Files.executable($0, searchPath: CurrentProcess.environment("PATH") ?? "/usr/bin") != nil
    }

    /// `cookie`: what it asks of clients; nil: nothing.
    init(_ scratch: ScratchDirectory, cookie: String? = nil) throws {
        self.scratch = scratch
        var options: [String] = []
        if let cookie {
            // A file that the server reads; its entry is for any display.
            let file = scratch("server-cookie")
            let entry = Command("xauth", "-f", file, "add", ":0", ".", cookie)
            guard try entry.run().succeeded else { throw DidNotHappen(description: "a cookie") }
            options = ["-auth", file]
        }
        try start(["-displayfd", "1"] + options)
        let text = try Wait.until(file: scratch("xvfb.log")) { Self.number(in: $0) != nil }
        display = ":" + (Self.number(in: text) ?? "")
    }

    deinit { try? end() }

    private static func number(in log: String) -> String? {
        // Whole lines: the rest of the last one may be on its way.
        log.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .first { !$0.isEmpty && $0.allSatisfy(\.isNumber) }.map(String.init)
    }

    private func start(_ options: [String]) throws {
        // Its own screen saver is off (`-s 0`), as desktops have it.
        let words = ["Xvfb"] + options + ["-nolisten", "tcp", "-s", "0"]
        process = try Command(words).start(logging: scratch("xvfb.log"))
    }

    /// Begins again, after `end`, as the same display.
    func start() throws { try start([display]) }

    /// It takes its socket along.
    func end() throws {
        guard let process = process.take() else { return }
        try? process.send(Signal.proceed)
        try process.send(Signal.terminate)
        _ = try process.wait(block: true)
    }

    /// It stands still, and answers nobody.
    func stop() throws { try process?.send(Signal.stop) }

    /// The user moves the mouse.
    func move() throws {
        var command = Command("xdotool", "mousemove_relative", "--", "3", "2")
        command.environment = Command.cleanEnvironment(["DISPLAY": display])
        let outcome = try command.run()
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
    }
}
