package import Vocabulary

/// Why a program was not started, and whose affair that is.
package struct StartFailure: Error, Hashable, Sendable, Codable {
    package var cause: Cause
    package var reason: String

    package enum Cause: String, Hashable, Sendable, Codable {
        /// The program itself cannot be run: the app's failure.
        case program
        /// The state directory did not take a file that the start needs.
        case storage
        /// The machine has no process, memory or descriptor left.
        case processes
        /// The kernel's directories that hold the apps are gone, and cannot be made again.
        case groups

        /// Completes "NAME waits: …".
        var sentence: String {
            switch self {
            case .program: "its program cannot be run"
            case .storage: "a file that the start needs could not be written"
            case .processes: "the machine cannot start another process"
            case .groups: "the kernel's directories for its processes are gone"
            }
        }

        package var fix: String { fix(in: "its manifest") }

        func fix(in manifest: String) -> String {
            switch self {
            case .program: "fix Exec= in \(manifest)"
            case .storage: "free some space, or repair the state directory"
            case .processes: "end some programs"
            case .groups: "restart the daemon"
            }
        }
    }

    package init(_ cause: Cause, reason: String) { (self.cause, self.reason) = (cause, reason) }
}

/// No program is started for a while, since the machine could not start the last one.
package struct StartBlock: Hashable, Sendable, Codable {
    package private(set) var failure: StartFailure
    package private(set) var since: WallTime
    /// How many tries in a row have failed.
    private var tries: Int64 = 1
    /// When the next try may be made.
    package private(set) var until: BootTime

    /// Doubled with each try.
    static let firstWait = Interval.seconds(1)
    static let longestWait = Interval.minutes(1)

    init(_ failure: StartFailure, at now: Moment) {
        (self.failure, since) = (failure, now.wall)
        until = now.boot + Self.firstWait
    }

    /// Nothing has been tried for long after it could have been: nothing waits behind it.
    package func isOver(at now: BootTime) -> Bool { now >= until + Self.longestWait }

    /// A try failed. Those that were made together are one.
    mutating func failed(_ failure: StartFailure, at now: Moment) {
        guard now.boot >= until else { return }
        guard !isOver(at: now.boot) else {
            self = StartBlock(failure, at: now)
            return
        }
        self.failure = failure
        tries = min(tries + 1, 32)
        var wait = Self.firstWait
        for _ in 1..<tries where wait < Self.longestWait { wait = wait * 2 }
        until = now.boot + min(wait, Self.longestWait)
    }

    /// Until when it holds back work for want of this.
    func end(_ cause: StartFailure.Cause) -> BootTime? { failure.cause == cause ? until : nil }
}

extension Device {
    mutating func blockStarts(_ failure: StartFailure, _ transition: inout Transition) {
        guard failure.cause != .program else { return }
        if startBlock == nil {
            startBlock = StartBlock(failure, at: transition.now)
        } else {
            startBlock?.failed(failure, at: transition.now)
        }
    }

    /// A program was started: so can others be.
    mutating func unblockStarts() {
        guard startBlock != nil else { return }
        startBlock = nil
        touch(heldBy: GateSet(.storage, .processes))
    }
}
