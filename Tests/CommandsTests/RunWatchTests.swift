import AppProtocol
import CommandTable
import Commands
import DeviceCore
import Testing
import Vocabulary

/// What `offstage run --wait` takes for the end of the run. The answers are those of a real device.
struct RunWatchTests {
    /// Runs what it is asked to run. Whenever it is asked for the tasks, the next thing happens.
    private final class Stage: Control {
        let core: CoreControl
        var steps: [(CoreControl) -> Void] = []
        /// The states of the tasks that it has told.
        private(set) var told: [WorkState] = []
        /// After the steps nobody is there any more.
        var goesAway = false

        init(_ core: CoreControl) { self.core = core }

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            switch call.method {
            case Control1.Run.name: return try run()
            case Control1.Tasks.name:
                guard !steps.isEmpty || !goesAway else {
                    throw Failure(.notRunning, "nobody listens", fix: "Start it.", loss: .absent)
                }
                if !steps.isEmpty { steps.removeFirst()(core) }
                let tasks = core.device.taskList(of: RunWatchTests.app, at: core.now) ?? []
                told += tasks.compactMap(\.state.known)
            default: break
            }
            return try core.send(call)
        }

        private func run() throws(Failure) -> [Value] {
            let line = Int64(core.history.count)
            let request = UserRequest.run(RunWatchTests.app, identifier: nil)
            core.send(.user(request, reply: ReplyToken(7)))
            guard case .requested(var task) = core.answer else {
                throw Failure(.failed, "\(core.answer as Any)")
            }
            task.line = line
            do throws(ValueError) {
                return try task.sent
            } catch {
                throw Failure(.failed, "\(error)")
            }
        }
    }

    private static let app = AppID("two")
    private var terminal = TestTerminal()
    private let stage: Stage

    /// It has a program of its own, a refresh and a backup, and neither is due.
    init() {
        let core = CoreControl(at: terminal.now)
        stage = Stage(core)
        core.send(.condition(.power, .hand, .value(1)))
        core.send(.condition(.idle, .hand, .value(0)))
        var settings = Settings()
        (settings.wakingFrom, settings.wakingUntil) = (.hours(1), .hours(2))
        core.send(.settings(settings))
        core.pass(.minutes(2))
    }

    private func install(_ change: (inout AppManifest) -> Void) {
        var manifest = AppManifest(id: Self.app, name: "Two", exec: ["two"])
        change(&manifest)
        stage.core.send(.manifests([.present(manifest)]))
    }

    private static func exits(_ launch: LaunchID, _ exit: Exit) -> (CoreControl) -> Void {
        { core in core.send(.process(launch, .exited(exit, nil))) }
    }

    private func hasStarted() {
        let core = stage.core
        core.send(.process(core.lastLaunch, .started(ProcessID(pid: 77, startTime: 1))))
    }

    @Test func `one that is only frozen has not ended`() throws {
        install {
            $0.modes = [.processing]
            $0.processingCommand = ["tidy"]
            $0.processingNeeds = Needs(power: true)
            $0.whenInterrupted = .freeze
        }
        var launch = LaunchID(0)
        func power(_ value: Int) -> (CoreControl) -> Void {
            { core in
                core.send(.condition(.idle, .hand, .value(value)))
                core.send(.condition(.power, .hand, .value(value)))
            }
        }
        stage.steps = [
            { [self] core in
                hasStarted()
                launch = core.lastLaunch
            },
            power(0), { _ in }, power(1), { core in Self.exits(launch, .status(0))(core) },
        ]
        let outcome = terminal.run("run --wait two", stage)
        #expect(stage.told.contains(.interrupted) && stage.steps.isEmpty)
        let ends = stage.core.history.compactMap(\.report.outcome?.known)
        #expect(ends == [.interrupted, .completed])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.hasPrefix("two: completed: exit status 0"), "\(outcome)")
        let said = outcome.errors.split(separator: "\n")
        #expect(said.count == 1, "\(said)")
        #expect(said.first?.contains("frozen in mid-run") == true, "\(said)")
        #expect(said.first?.hasSuffix("The run goes on then; this waits for its end.") == true)
    }

    private func installRefresh() {
        install {
            $0.modes = [.fetch]
            $0.refreshCommand = ["refresh"]
        }
    }

    @Test func `the end of another process of its app is not its end`() {
        installRefresh()
        var (refresh, main) = (LaunchID(0), LaunchID(0))
        stage.steps = [
            { [self] core in
                hasStarted()
                refresh = core.lastLaunch
            },
            { [self] core in
                core.send(.user(.open(Self.app, attach: nil), reply: ReplyToken(1)))
                hasStarted()
                main = core.lastLaunch
            },
            { core in Self.exits(main, .signal(9, outOfMemory: false))(core) },
            { core in Self.exits(refresh, .status(0))(core) },
        ]
        let outcome = terminal.run("run --wait two", stage)
        #expect(refresh != main)
        #expect(stage.core.history.contains { $0.report.what.known == .ended })
        #expect(outcome.status == 0 && stage.steps.isEmpty, "\(outcome)")
        #expect(outcome.output.hasPrefix("two: new data: exit status 0"), "\(outcome)")
    }

    @Test func `an earlier run is not taken for it`() {
        installRefresh()
        let run = { (core: CoreControl) in Self.exits(core.lastLaunch, .status(0))(core) }
        stage.steps = [{ [self] _ in hasStarted() }, run]
        #expect(terminal.run("run --wait two", stage).status == 0)
        stage.steps = [
            { [self] _ in hasStarted() }, { core in Self.exits(core.lastLaunch, .status(1))(core) },
        ]
        #expect(terminal.run("run --wait two", stage).status == 1)
        #expect(stage.steps.isEmpty)
    }

    @Test func `why it ended is said once`() {
        installRefresh()
        stage.steps = [
            { [self] _ in hasStarted() },
            { core in Self.exits(core.lastLaunch, .signal(9, outOfMemory: false))(core) },
        ]
        let outcome = terminal.run("run --wait two", stage)
        #expect(outcome.status == 1)
        let words = "the run of two has not succeeded: ended by SIGKILL\n"
        #expect(outcome.errors.contains(words), "\(outcome)")
    }

    @Test func `what was not begun yet is waited for`() {
        installRefresh()
        // The next daemon begins it after a pause.
        stage.steps = [
            { core in
                let failure = StartFailure(.processes, reason: "no process is left")
                core.send(.process(core.lastLaunch, .notStarted(failure)))
            },
            { core in core.pass(.minutes(1)) },
            { [self] _ in hasStarted() },
            { core in Self.exits(core.lastLaunch, .status(0))(core) },
        ]
        let outcome = terminal.run("run --wait two", stage)
        #expect(stage.told.contains(.waiting), "\(stage.told)")
        #expect(outcome.status == 0 && stage.steps.isEmpty, "\(outcome)")
        #expect(outcome.errors.hasSuffix("The run begins then; this waits for its end.\n"))
    }

    @Test func `who gives up says that it may go on, and what shows its end`() {
        var terminal = terminal
        terminal.patience = Patience(limit: .milliseconds(20))
        installRefresh()
        stage.steps = [{ [self] _ in hasStarted() }]
        stage.goesAway = true
        let outcome = terminal.run("run --wait two", stage)
        #expect(outcome.status == 4)
        let words = """
            offstage: nobody listens; how the run of two ends is not seen, but it may go on
            Start it. Then "offstage history two" shows how it ended.

            """
        #expect(outcome.errors == words)
    }
}
