package import AppProtocol
package import Vocabulary

/// The background tasks of one program: time that it has asked for and not given back. The program
/// knows each task by a number of its own. The daemon's number comes later, and each daemon gives
/// another. Pure: the owner makes the calls and runs the program's handlers.
package struct HeldTasks: Sendable {
    private struct Held: Sendable {
        let task: Int
        /// As the daemon counts it; nil until it has answered; 0: there is no time.
        var number: Int64?
        /// CLOCK_MONOTONIC, seconds.
        var deadline: Double?
        /// It was given back before the daemon had answered.
        var hasEnded = false
        /// With what it was begun, if it is an activity: that goes with a connection, and is begun
        /// again on the next.
        var activity: App1.BeginTask?
    }

    /// In the order in which they were begun.
    private var held: [Held] = []
    private var last = 0

    package init() {}

    /// What an answer of the daemon's comes to.
    package enum Answered: Equatable, Sendable {
        /// There is time from now on.
        case hasTime
        /// There is none: for the program it is as if it had expired, and still to be given back.
        case noTime
        /// It was given back before. The daemon gave it this number, and waits for its end.
        case tellEnd(Int64)
        /// Nobody waits for it.
        case nothing
    }

    package var isEmpty: Bool { held.isEmpty }

    private func index(of task: Int) -> Int? { held.firstIndex { $0.task == task } }

    // MARK: Begin

    /// The number by which the program knows it.
    package mutating func begin(_ call: App1.BeginTask) -> Int {
        last += 1
        held.append(Held(task: last, activity: call.isActivity ? call : nil))
        return last
    }

    package mutating func began(
        _ task: Int,
        _ answer: Result<BegunTask, CallError>
    ) -> Answered {
        guard let begun = try? answer.get(), begun.task != 0 else { return noTime(task) }
        guard let index = index(of: task) else { return .nothing }
        guard !held[index].hasEnded else {
            held.remove(at: index)
            return .tellEnd(begun.task)
        }
        (held[index].number, held[index].deadline) = (begun.task, begun.deadline)
        return .hasTime
    }

    /// It was given up, and answered all the same: the daemon must not wait for its end.
    package static func answeredLate(_ begun: BegunTask) -> Answered {
        begun.task == 0 ? .nothing : .tellEnd(begun.task)
    }

    private mutating func noTime(_ task: Int) -> Answered {
        guard let index = index(of: task) else { return .nothing }
        guard !held[index].hasEnded else {
            held.remove(at: index)
            return .nothing
        }
        held[index].number = 0
        return .noTime
    }

    // MARK: Begin again

    /// To be begun again after the connection was lost: the activities that have time, in the order
    /// in which they were begun.
    package var activities: [(task: Int, number: Int64, call: App1.BeginTask)] {
        held.compactMap { known in
            guard let call = known.activity, let number = known.number, number != 0 else {
                return nil
            }
            return (known.task, number, call)
        }
    }

    /// `before`: the number that it had.
    package mutating func begunAgain(
        _ task: Int,
        before: Int64,
        _ answer: Result<BegunTask, CallError>
    ) -> Answered {
        // Lost again, it is asked again.
        if case .failure(let error) = answer, error.reason == .unreachable { return .nothing }
        guard let begun = try? answer.get(), begun.task != 0 else { return noTime(task) }
        guard let index = index(of: task) else {
            // It has ended meanwhile, which was said of the number that it had.
            return begun.task == before ? .nothing : .tellEnd(begun.task)
        }
        held[index].number = begun.task
        if let deadline = begun.deadline { held[index].deadline = deadline }
        return .nothing
    }

    // MARK: End

    package enum Ended: Equatable, Sendable {
        /// There is no such task, or it was given back already.
        case unknown
        case tell(Int64)
        /// The daemon is told when it answers, or need not be.
        case quietly
    }

    package mutating func end(_ task: Int) -> Ended {
        guard let index = index(of: task), !held[index].hasEnded else { return .unknown }
        guard let number = held[index].number else {
            held[index].hasEnded = true
            return .quietly
        }
        held.remove(at: index)
        return number == 0 ? .quietly : .tell(number)
    }

    /// The time of the daemon's task is nearly out. The program's number; nil: there is none.
    package mutating func expire(_ number: Int64, deadline: Double?) -> Int? {
        guard let index = held.firstIndex(where: { $0.number == number }) else { return nil }
        if let deadline { held[index].deadline = deadline }
        return held[index].task
    }

    // MARK: Time

    /// The user is there: nothing counts down.
    package mutating func forgetDeadlines() {
        for index in held.indices { held[index].deadline = nil }
    }

    /// Of each that goes on; `usual`: of those that have none of their own.
    package func deadlines(usual: Double?) -> [Double] {
        held.compactMap { $0.hasEnded ? nil : $0.deadline ?? usual }
    }
}
