import AppProtocol
import CommandTable
import Linux
import SystemBus
import Vocabulary

/// A command that runs while a background task is held for it: of the daemon that is there, and of
/// the next one, should it be started again meanwhile.
struct HeldCommand {
    private let name: String
    private let words: [String]
    private let invocation: Invocation

    /// The task, as a daemon counts it.
    private struct Held {
        let daemon: DaemonControl
        let task: Int64
    }

    init(_ name: String, _ words: [String], _ invocation: Invocation) {
        (self.name, self.words, self.invocation) = (name, words, invocation)
    }

    /// Ends this process with the command's status; returns only by throwing.
    func run() throws(Failure) {
        let held = try invocation.asking(call, look: nil) { (control) throws(Failure) in
            try begin(Invocation.daemon(control))
        }
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
            hold(held, process)
            exit = try process.wait(block: true)
        } catch {
            throw Failure(.failed, error.explanation(starting: words[0], in: nil).printable)
        }
        switch exit {
        case .exited(let status): CurrentProcess.exit(status)
        case .signalled(let signal): CurrentProcess.exit(128 + signal)
        case .unknown, .none: CurrentProcess.exit(1)
        }
    }

    /// It is this process's own: begun again, it is the same task.
    private var call: App1.BeginTask {
        App1.BeginTask {
            ($0.name, $0.expires, $0.isActivity, $0.token) = (name, true, true, "command")
        }
    }

    private func begin(_ daemon: DaemonControl) throws(Failure) -> Held {
        Held(daemon: daemon, task: try daemon.call(call).number(of: name))
    }

    /// Until the command has ended.
    private func hold(_ first: Held, _ process: borrowing PidFD) {
        var held = first
        while true {
            do throws(BusError) {
                try serve(held.daemon.bus, process)
                // One that is gone, or answers late since its disk is full, sees the end of this
                // process.
                try? held.daemon.endTask(held.task, timeout: .seconds(1))
                return
            } catch {
                guard let again = beginAgain(process, at: held.daemon.path) else { return }
                held = again
            }
        }
    }

    /// The daemon's word that time is out becomes SIGTERM.
    private func serve(_ bus: Bus, _ process: borrowing PidFD) throws(BusError) {
        let identity = ProcessIdentity(of: process.pid)
        let object = try bus.export(AppObject1.interface, at: AppObject1.path) { call in
            try? call.answer()
            let told = try? AppObject1.row(call.method.name)?.call(call.arguments)
            guard case .expireTask = told, let identity else { return }
            // It may have ended just now.
            try? PidFD(of: identity).send(Signal.terminate)
        }
        try bus.work(untilReadable: process.descriptor.number)
        withExtendedLifetime(object) {}
    }

    // MARK: A daemon that has gone

    /// A socket is bound before it listens, and a daemon may take a while to read its store.
    private static let pauses: [Int32] = [10, 50, 200, 500, 1000, 3000, 10_000]

    /// The same of the next daemon. Nil: the command has ended before, or it goes on without: there
    /// is no time to be had any more, as SIGTERM tells it.
    private func beginAgain(_ process: borrowing PidFD, at socket: String) -> Held? {
        guard let watch = try? Inotify() else { return nil }
        let directory = Files.directory(of: socket)
        var pauses = Self.pauses[...]
        while true {
            // Before the look that follows, so that nothing is missed in between. The directory
            // goes with a daemon that systemd stops, and comes with the next one.
            for path in [directory, Files.directory(of: directory)] {
                _ = try? watch.add(path, [.created, .movedTo])
            }
            do throws(Failure) {
                return try begin(invocation.daemon())
            } catch  where error.code != .notRunning {
                if let identity = ProcessIdentity(of: process.pid) {
                    try? PidFD(of: identity).send(Signal.terminate)
                }
                return nil
            } catch {}
            guard
                let ready = try? Poll.wait(
                    for: [
                        (process.descriptor.number, .readable),
                        (watch.descriptor.number, .readable),
                    ],
                    milliseconds: pauses.popFirst()
                ),
                ready[0].isEmpty
            else { return nil }
            if !ready[1].isEmpty {
                _ = try? watch.events()
                pauses = Self.pauses[...]
            }
        }
    }
}
