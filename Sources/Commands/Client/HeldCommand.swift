import AppProtocol
import Linux
import SystemBus
import Vocabulary

/// A command that runs while a background task is held for it.
struct HeldCommand {
    private let words: [String]
    private let daemon: DaemonControl
    private let task: Int64

    init(_ words: [String], _ daemon: DaemonControl, task: Int64) {
        (self.words, self.daemon, self.task) = (words, daemon, task)
    }

    /// Ends this process with the command's status; returns only by throwing.
    func run() throws(Failure) {
        let search = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        guard let path = Files.executable(words[0], searchPath: search) else {
            throw Failure(
                .notFound,
                "\(words[0].printable) is not in PATH",
                fix: "Is it installed?"
            )
        }
        var program = Program(
            path,
            arguments: words,
            environment: CurrentProcess.environment()
        )
        (program.input, program.output, program.error) = (0, 1, 2)
        program.newSession = false
        let exit: ProcessExit?
        do {
            let process = try program.start()
            try hold(process)
            exit = try process.wait(block: true)
        } catch {
            throw Failure(.failed, "\(error)")
        }
        // A daemon that is gone sees the end of this process, or has ended the task itself.
        _ = try? daemon.callApp("EndTask", [.integer(task)])
        switch exit {
        case .exited(let status): CurrentProcess.exit(status)
        case .signalled(let signal): CurrentProcess.exit(128 + signal)
        case .unknown, .none: CurrentProcess.exit(1)
        }
    }

    /// Until it has ended; the daemon's word that time is out becomes SIGTERM.
    private func hold(_ process: borrowing PidFD) throws {
        let identity = ProcessIdentity(of: process.pid)
        let object = try daemon.bus.export(AppObject1.interface, at: AppObject1.path) { call in
            try? call.answer()
            guard call.method.name == "ExpireTask", let identity else { return }
            // It may have ended just now.
            try? PidFD(of: identity).send(Signal.terminate)
        }
        do throws(BusError) {
            try daemon.bus.work(untilReadable: process.descriptor.number)
        } catch {
            // Without the daemon it goes on: nobody tells it that its time is out.
            _ = Poll.ready(process.descriptor.number, for: .readable, milliseconds: nil)
        }
        withExtendedLifetime(object) {}
    }
}
