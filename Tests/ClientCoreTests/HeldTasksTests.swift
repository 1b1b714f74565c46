import AppProtocol
import ClientCore
import Testing
import Vocabulary

/// Background tasks by the program's own numbers, whatever the daemon calls them.
struct HeldTasksTests {
    private static func call(isActivity: Bool = false) -> App1.BeginTask {
        App1.BeginTask { ($0.name, $0.isActivity) = ("task", isActivity) }
    }

    private static let lost = CallError(.unreachable, "the connection is lost")
    private static let refused = CallError(.timedOut, "nobody answers")

    @Test func `a task is ended by the number that the daemon gave it, once`() {
        var tasks = HeldTasks()
        let task = tasks.begin(Self.call())
        let answered = tasks.began(task, .success(BegunTask(task: 7, deadline: 100)))
        #expect(answered == .hasTime)
        #expect(tasks.deadlines(usual: nil) == [100])
        let (first, second) = (tasks.end(task), tasks.end(task))
        #expect(first == .tell(7))
        #expect(second == .unknown)
        #expect(tasks.isEmpty)
    }

    @Test func `one that ended before the answer is ended when that comes`() {
        var tasks = HeldTasks()
        let task = tasks.begin(Self.call())
        let (first, second) = (tasks.end(task), tasks.end(task))
        #expect(first == .quietly)
        #expect(second == .unknown)
        #expect(tasks.deadlines(usual: 5) == [])
        let answered = tasks.began(task, .success(BegunTask(task: 7)))
        #expect(answered == .tellEnd(7))
        #expect(tasks.isEmpty)
    }

    @Test(arguments: [Result<BegunTask, CallError>.success(BegunTask(task: 0)), .failure(refused)])
    func `without time it is the program's to give back`(answer: Result<BegunTask, CallError>) {
        var tasks = HeldTasks()
        let (task, ended) = (tasks.begin(Self.call()), tasks.begin(Self.call()))
        _ = tasks.end(ended)
        let (first, second) = (tasks.began(task, answer), tasks.began(ended, answer))
        #expect(first == .noTime)
        #expect(second == .nothing)
        #expect(!tasks.isEmpty)
        let end = tasks.end(task)
        #expect(end == .quietly)
        #expect(tasks.isEmpty)
    }

    @Test func `what was given up and begun all the same is ended`() {
        #expect(HeldTasks.answeredLate(BegunTask(task: 7)) == .tellEnd(7))
        #expect(HeldTasks.answeredLate(BegunTask(task: 0)) == .nothing)
    }

    @Test func `activities with time are begun again, in their order`() {
        var tasks = HeldTasks()
        let plain = tasks.begin(Self.call())
        let (first, second) = (
            tasks.begin(Self.call(isActivity: true)), tasks.begin(Self.call(isActivity: true))
        )
        let waiting = tasks.begin(Self.call(isActivity: true))
        for (number, task) in [plain, first, second].enumerated() {
            _ = tasks.began(task, .success(BegunTask(task: Int64(number + 1))))
        }
        #expect(tasks.activities.map(\.task) == [first, second])
        #expect(tasks.activities.map(\.number) == [2, 3])
        // Lost again, it is asked again.
        let lost = tasks.begunAgain(first, before: 2, .failure(Self.lost))
        #expect(lost == .nothing)
        #expect(tasks.activities.map(\.task) == [first, second])
        let again = tasks.begunAgain(first, before: 2, .success(BegunTask(task: 9)))
        #expect(again == .nothing)
        let none = tasks.begunAgain(second, before: 3, .failure(Self.refused))
        #expect(none == .noTime)
        #expect(tasks.activities.map(\.number) == [9])
        let (end, late) = (tasks.end(first), tasks.end(waiting))
        #expect(end == .tell(9))
        #expect(late == .quietly)
    }

    @Test func `one that ended while it was begun again is ended by its new number`() {
        var tasks = HeldTasks()
        let task = tasks.begin(Self.call(isActivity: true))
        _ = tasks.began(task, .success(BegunTask(task: 2)))
        let end = tasks.end(task)
        #expect(end == .tell(2))
        // The daemon was told of 2; if it is the same, there is nothing left to tell.
        var copy = tasks
        let same = copy.begunAgain(task, before: 2, .success(BegunTask(task: 2)))
        #expect(same == .nothing)
        let other = tasks.begunAgain(task, before: 2, .success(BegunTask(task: 3)))
        #expect(other == .tellEnd(3))
    }

    @Test func `an expiry is told by the daemon's number`() {
        var tasks = HeldTasks()
        let task = tasks.begin(Self.call())
        let early = tasks.expire(7, deadline: nil)
        #expect(early == nil)
        _ = tasks.began(task, .success(BegunTask(task: 7)))
        #expect(tasks.deadlines(usual: 50) == [50])
        let expired = tasks.expire(7, deadline: 40)
        #expect(expired == task)
        #expect(tasks.deadlines(usual: 50) == [40])
        tasks.forgetDeadlines()
        #expect(tasks.deadlines(usual: nil) == [])
    }
}

/// When a daemon is looked for.
struct DaemonSearchTests {
    private static let error = CallError(.unreachable, "nobody listens")
    private static let start = BootTime(nanoseconds: 0)

    @Test func `after a sign it is looked for seven times, less and less often`() {
        var search = DaemonSearch()
        let before = search.failed(Self.error, isThere: false, at: Self.start)
        #expect(before == nil)
        search.sign()
        var now = Self.start
        var pauses: [Int64] = []
        while let next = search.failed(Self.error, isThere: false, at: now) {
            pauses.append((next - now).nanoseconds / 1_000_000)
            now = next
        }
        #expect(pauses == [10, 50, 200, 500, 1000, 3000, 10_000])
        #expect(search.recentFailure(at: now) == nil)
        search.sign()
        let again = search.failed(Self.error, isThere: false, at: now)
        #expect(again == now + .milliseconds(10))
    }

    @Test func `one that listens and says nothing is tried twice a minute, and not for each call`()
    {
        var search = DaemonSearch()
        search.sign()
        let next = search.failed(Self.error, isThere: true, at: Self.start)
        #expect(next == Self.start + .seconds(30))
        #expect(search.recentFailure(at: Self.start + .milliseconds(999)) == Self.error)
        #expect(search.recentFailure(at: Self.start + .seconds(1)) == nil)
        search.succeeded()
        #expect(search.recentFailure(at: Self.start) == nil)
        let after = search.failed(Self.error, isThere: false, at: Self.start)
        #expect(after == nil)
    }
}
