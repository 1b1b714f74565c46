import Linux
import Synchronization
import TestKit

/// A real X server without a screen (Xvfb), and somebody who uses it (xdotool).
final class TestScreen {
    private let scratch: ScratchDirectory
    private var process: PidFD?
    /// As in `DISPLAY`. Its own: another server may take a free one before this begins again.
    let display: String
    private static let count = Mutex(0)

    static let isInstalled = ["Xvfb", "xdotool", "xauth"].allSatisfy {
        Files.executable($0, searchPath: CurrentProcess.environment("PATH") ?? "/usr/bin") != nil
    }

    /// `cookie`: what it asks of clients; nil: nothing.
    init(_ scratch: ScratchDirectory, cookie: String? = nil) throws {
        self.scratch = scratch
        let number = Self.count.withLock { count in
            count += 1
            return 1000 + (Int(CurrentProcess.pid) * 8 + count) % 50_000
        }
        display = ":\(number)"
        var options: [String] = []
        if let cookie {
            // A file that the server reads; its entry is for any display.
            let file = scratch("server-cookie")
            let entry = Command("xauth", "-f", file, "add", ":0", ".", cookie)
            guard try entry.run().succeeded else { throw DidNotHappen(description: "a cookie") }
            options = ["-auth", file]
        }
        try start(options + ["-displayfd", "1"])
        // It says its number when it is ready.
        let line = "\(number)\n"
        _ = try Wait.until(file: scratch("xvfb.log")) {
            $0.hasPrefix(line) || $0.contains("\n" + line)
        }
    }

    deinit { try? end() }

    private func start(_ options: [String]) throws {
        // Its own screen saver is off (`-s 0`), as desktops have it.
        let words = ["Xvfb", display] + options + ["-nolisten", "tcp", "-s", "0"]
        process = try Command(words).start(logging: scratch("xvfb.log"))
    }

    /// Begins again, after `end`, as the same display.
    func start() throws { try start([]) }

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
