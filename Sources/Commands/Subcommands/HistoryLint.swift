import AppProtocol
import CommandTable
import DeviceCore
import Linux
import Vocabulary

/// What an app does wrong with its background work, by what the daemon has seen of it.
///
/// Of what happened before its program was last built nothing is said.
struct HistoryLint {
    private let manifest: AppManifest
    private let now: Moment
    private let built: WallTime

    init(_ manifest: AppManifest, at now: Moment) {
        (self.manifest, self.now) = (manifest, now)
        built = Self.built(manifest)
    }

    /// Nothing where no daemon runs, or it does not know the app.
    func check(_ invocation: Invocation) throws(Failure) -> [Diagnostic] {
        let call = Control1.History { ($0.app, $0.limit) = (manifest.id.name, 1000) }
        do throws(Failure) {
            return check(try invocation.ask(call).map(\.report))
        } catch {
            guard [.notRunning, .notFound].contains(error.code) else { throw error }
            return []
        }
    }

    /// Of its program, or of the script that an interpreter is started with.
    private static func built(_ manifest: AppManifest) -> WallTime {
        let searchPath = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        let words = manifest.exec ?? []
        let program = words.first.flatMap { Files.executable($0, searchPath: searchPath) }
        let files = [program].compactMap(\.self) + words.dropFirst().filter { $0.hasPrefix("/") }
        let times = files.compactMap { Files.status($0) }.filter { $0.kind == .file }
            .map { WallTime(nanoseconds: $0.modified) }
        return times.max() ?? .distantPast
    }

    // MARK: The history

    private struct Mistake: Equatable {
        /// The task that it is about.
        var subject: String?
        /// Goes on after the subject.
        var summary: String
        var fix: String
    }

    /// `history`: its lines, the newest first.
    private func check(_ history: [Report.HistoryLine]) -> [Diagnostic] {
        var found: [(mistake: Mistake, count: Int, last: WallTime)] = []
        for line in history {
            guard let at = line.at.wall, at + .seconds(1) > built,
                let mistake = mistake(line)
            else { continue }
            if let index = found.firstIndex(where: { $0.mistake == mistake }) {
                found[index].count += 1
            } else {
                found.append((mistake, 1, at))
            }
        }
        return found.map { mistake, count, last in
            let times = count == 1 ? "" : "\(count) times, last "
            return Diagnostic(
                .warning,
                value: mistake.subject,
                reason: "\(mistake.summary) (\(times)\(Times.stamp(last, at: now)))",
                fix: mistake.fix
            )
        }
    }

    private func mistake(_ line: Report.HistoryLine) -> Mistake? {
        let told = line.mistake?.known
        let neverCompleted = line.stop?.known == .neverCompleted
        switch line.what.known {
        case .run: return mistake(ofRun: line.task, told, neverCompleted)
        case .ended where neverCompleted:
            return Mistake(
                summary: "The app was terminated because it held a background task too long",
                fix: "End each background task, in its expiration handler too."
            )
        case .note: return told.flatMap { mistake(ofNote: $0, line.subject ?? "") }
        case .ended, .dropped, .transfer, .opened, .left, .closed, .seen, nil: return nil
        }
    }

    private func mistake(
        ofRun task: String?,
        _ told: AppMistake?,
        _ neverCompleted: Bool
    ) -> Mistake? {
        if told == .noHandler {
            return Mistake(
                subject: task,
                summary: "was launched, and no handler was registered for it",
                fix: "Register one before launching ends: in "
                    + "application(_:didFinishLaunchingWithOptions:), or by FinishedLaunching."
            )
        }
        if told == .noExpirationHandler {
            return Mistake(
                subject: task,
                summary: "had no expiration handler when its time was over",
                fix: "Set the task's expirationHandler; in it, stop and complete the task."
            )
        }
        guard neverCompleted else { return nil }
        return Mistake(
            subject: task,
            summary: "was never completed, and the app ended for it",
            fix: "Complete it on every way through its handler, when it expires too: "
                + "setTaskCompleted(success:), or Complete."
        )
    }

    private func mistake(ofNote told: AppMistake, _ subject: String) -> Mistake? {
        switch told {
        case .finishedTwice:
            return Mistake(
                summary: "Handlers were registered after launching had ended, and are not called",
                fix: "Register all of them once, before launching ends."
            )
        case .registeredLate:
            return Mistake(
                subject: subject,
                summary: "had its handler registered after launching had ended, and is not called",
                fix: "Register it in application(_:didFinishLaunchingWithOptions:)."
            )
        case .registeredTwice:
            return Mistake(
                subject: subject,
                summary: "had a second handler registered, which is not called",
                fix: "Register one handler, once in each launch."
            )
        case .completedTwice:
            return Mistake(
                summary: "A task was completed twice, or after its time",
                fix: "Complete each task once, and stop the work when it expires."
            )
        case .completedAgain:
            return Mistake(
                subject: subject,
                summary: "was completed a second time",
                fix: "Complete it once: after its expiration handler has, the work must not."
            )
        case .letGo:
            return Mistake(
                subject: subject,
                summary: "was released without being completed, and counts as a failure",
                fix: "Keep the task, or the completion handler, until it is completed."
            )
        case .notPermitted: return notPermitted(subject, "was submitted")
        case .registeredUnpermitted: return notPermitted(subject, "had a handler registered")
        // They end a run, whose line says so.
        case .noHandler, .noExpirationHandler: return nil
        }
    }

    /// Nil: it was added to the manifest since.
    private func notPermitted(_ subject: String, _ verb: String) -> Mistake? {
        if let mode = BackgroundMode(rawValue: subject) {
            guard !manifest.modes.contains(mode) else { return nil }
            return Mistake(
                subject: subject,
                summary: verb + ", and is not a mode in the manifest",
                fix: "Add \(subject); to BackgroundModes=."
            )
        }
        guard !manifest.permits(identifier: subject) else { return nil }
        return Mistake(
            subject: subject,
            summary: verb + ", and is not permitted",
            fix: "Add \(subject); to PermittedTaskIdentifiers=."
        )
    }
}
