import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// `offstage daemon --background`, where no service manager starts the daemon and says when it is
/// ready: one in a session of its own, which outlives its terminal.
struct BackgroundDaemon: ~Copyable {
    private let process: PidFD
    /// What it says, after what others have said.
    private let log: String
    private let start: Int

    /// What earlier ones said is dropped beyond this.
    private static let longestLog = 1 << 18

    /// `path`: of the program; `options`: for it.
    static func begin(_ path: String, _ options: [String]) throws(Failure) -> BackgroundDaemon {
        guard let directory = Self.directory(options) else {
            throw Failure(
                .failed,
                "XDG_RUNTIME_DIR is not set to an absolute path",
                fix: "Set it to a directory of yours, for this command and for all that follow."
            )
        }
        let log = directory + "/" + DaemonSocket.logName
        do throws(LinuxError) {
            _ = try Files.makeDirectory(directory, parents: true)
            var start = Int(Files.status(log)?.size ?? 0)
            var mode: FileDescriptor.Mode = [.writing, .append, .create, .noFollow]
            if start > longestLog {
                mode.insert(.truncate)
                start = 0
            }
            let file = try FileDescriptor(opening: log, mode)
            var program = Program(
                path,
                arguments: ["offstaged"] + options,
                // The word that it is ready is for this process, not for who has started it.
                environment: CurrentProcess.environment().filter { !$0.hasPrefix("NOTIFY_SOCKET=") }
            )
            (program.output, program.error) = (file.number, file.number)
            let process = try program.start()
            try file.close()
            return BackgroundDaemon(process: process, log: log, start: start)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// Where it will listen, as it finds that itself: it does not go by `OFFSTAGE_SOCKET`, which
    /// may name another daemon.
    private static func directory(_ options: [String]) -> String? {
        var chosen: String?
        for (index, option) in options.enumerated() {
            if option == "--runtime", index + 1 < options.count { chosen = options[index + 1] }
            if option.hasPrefix("--runtime=") { chosen = String(option.dropFirst(10)) }
        }
        // An empty one it refuses, and says so in the usual place.
        if let chosen, !chosen.isEmpty { return chosen }
        let runtime = CurrentProcess.environment("XDG_RUNTIME_DIR") ?? ""
        return runtime.hasPrefix("/") ? runtime + "/offstage" : nil
    }

    /// Until it listens.
    func waitUntilReady(_ console: Console, _ patience: Patience) throws(Failure) {
        let end = Clocks.boot() + patience.limit
        while true {
            // In this order: what it said before it ended is read.
            let hasEnded = process.hasExited
            let words = said
            if words.contains(where: { $0.hasPrefix("offstaged: ready at ") }) {
                for line in words { console.print(line.printable) }
                console.print(
                    "It goes on without this terminal: \"kill \(process.pid)\" ends it, and "
                        + "\(log.printable) has what it says."
                )
                return
            }
            guard !hasEnded else {
                throw Failure(
                    .failed,
                    "the daemon has ended before it was ready",
                    fix: words.map(\.printable).joined(separator: "\n")
                )
            }
            guard Clocks.boot() < end else {
                throw Failure(
                    .failed,
                    "the daemon is not ready after \(patience.limit)",
                    fix: "It goes on: \"kill \(process.pid)\" ends it, and \(log.printable) has "
                        + "what it says."
                )
            }
            _ = Poll.ready(process.descriptor.number, for: .readable, milliseconds: 20)
        }
    }

    private var said: [String] {
        let bytes = (try? Files.read(log)) ?? []
        return String(decoding: bytes.dropFirst(start), as: UTF8.self).split(separator: "\n")
            .map(String.init)
    }
}
