import Linux
import Synchronization
import Vocabulary

/// A command that a client asks for.
struct Work: Hashable, Sendable {
    /// Unlike any other's.
    var token: String
    /// The identifier; what has the same takes the place of what waits.
    var name: String
    var manner: Manner
    var isProcessing = false
    var needs: Set<Hold> = []
    var after: Interval?
    /// Of a manifest: it comes back after each run.
    var isStanding = false
    /// Stands still where others are ended, and goes on later.
    var freezes = false
    /// What tells of its result; nil: its exit does.
    var probe: Probe?

    var app: String { isStanding ? name : "command." + name }
}

/// A program that tells what came of a run.
enum Probe: String, Hashable, Sendable {
    case answers
    /// It never comes to an end.
    case hangs
}

/// What keeps work back, by a word of the user's.
enum Hold: String, CaseIterable, Hashable, Sendable {
    case pause, refreshOff, locked, power, network, metered, idle
}

/// What was asked of the daemon.
enum Asked: Hashable, Sendable {
    case submit(Work)
    /// What waits or runs under a name.
    case cancel(String)
    /// What waits of an app is to run now.
    case run(app: String)
    /// For so long at most; nil: until it is released.
    case hold(Hold, Interval?)
    case release(Hold)
    /// A manifest was written, and read.
    case publish(Work)
    /// A manifest was removed, and that was seen.
    case withdraw(name: String)
    case setting(String)
}

enum Answer: Hashable, Sendable {
    case done
    /// By the name of the error.
    case refused(String)
    case none

    static let storage = Answer.refused("org.offstage.Error.Storage")
    static let notFound = Answer.refused("org.offstage.Error.NotFound")
}

/// What clients asked for and were told, in the order of the answers.
final class Ledger: Sendable {
    struct Entry: Hashable, Sendable {
        var asked: Asked
        /// When it was first sent.
        var from: BootTime
        /// When the answer had come; the distant future: it never did.
        var until: BootTime
        var answer: Answer
        /// How often it was sent.
        var attempts = 1

        /// It may have had an effect.
        var mayHold: Bool { answer == .done || answer == .none || attempts > 1 }
    }

    private let written = Mutex<[Entry]>([])

    var entries: [Entry] { written.withLock { $0 } }

    func add(_ entry: Entry) { written.withLock { $0.append(entry) } }
}
