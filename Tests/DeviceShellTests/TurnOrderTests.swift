import DeviceCore
@testable import DeviceShell
import Testing
import Vocabulary

/// In which order the device hears of what one turn of the loop has brought.
struct TurnOrderTests {
    private let one = LaunchID(1)
    private let two = LaunchID(2)
    private let low = Event.condition(.power, .kernel, .value(0))

    private func moment(_ second: Int) -> Moment {
        let time = Interval.seconds(Int64(second))
        return Moment(
            boot: BootTime(nanoseconds: 0) + time,
            awake: AwakeTime(nanoseconds: 0) + time,
            wall: WallTime(nanoseconds: 0) + time,
            utcOffset: 0
        )
    }

    /// One a second.
    private func ordered(_ events: [Event]) -> [TimedEvent] {
        var inbox = events.enumerated().map { TimedEvent($1, at: moment($0)) }
        inbox.putEndsFirst(before: nil, since: nil)
        return inbox
    }

    @Test func `what an app has said before its end is heard before it`() {
        let completed = Event.app(one, .completed(DeliveryID(1), .succeeded))
        let other = Event.app(two, .completed(DeliveryID(2), .succeeded))
        let exited = Event.process(one, .exited(.status(0), nil))
        let gone = Event.app(one, .disconnected)
        let inbox = ordered([other, .timer, completed, other, low, exited, gone])
        #expect(inbox.map(\.event) == [completed, exited, gone, other, .timer, other, low])
        // No time is before the one that was heard last.
        #expect(zip(inbox, inbox.dropFirst()).allSatisfy { $0.moment.boot <= $1.moment.boot })
    }

    @Test func `what opens a turn stays first, and all stays where it is when nobody ends`() {
        let exited = Event.process(one, .exited(.status(1), nil))
        let kept: [[Event]] = [
            [.stopping, exited, .timer], [.sleep(.ended), exited, .app(two, .disconnected)],
            [.timer, .app(one, .disconnected), low, .process(one, .machineOutOfMemory)],
        ]
        for events in kept { #expect(ordered(events).map(\.event) == events) }
    }

    /// The event before an end may be the end of another: nothing may be due by that either.
    @Test func `nothing is due yet when an end is heard that came too late`() {
        let ends = [one, two].map { Event.process($0, .exited(.status(0), nil)) }
        func heard(due: Int, last: Moment) -> [Moment] {
            var inbox = [ends[0], .timer, ends[1]].map { TimedEvent($0, at: moment(60)) }
            inbox.putEndsFirst(before: moment(due).boot, since: last)
            return inbox.map(\.moment)
        }
        let early = heard(due: 50, last: moment(40))
        #expect(early[0] == early[1] && early[2] == moment(60))
        #expect(early[0].boot < moment(50).boot && early[0].boot > moment(49).boot)
        #expect(moment(60).boot - early[0].boot == moment(60).awake - early[0].awake)
        #expect(moment(60).boot - early[0].boot == moment(60).wall - early[0].wall)
        // It comes in time, or the machine has slept, or its clock was set back.
        #expect(heard(due: 61, last: moment(40))[0] == moment(60))
        var last = moment(40)
        last.awake = moment(60).awake
        #expect(heard(due: 50, last: last)[0] == moment(60))
        last = moment(40)
        last.wall = moment(100).wall
        #expect(heard(due: 50, last: last)[0] == moment(60))
        #expect(heard(due: 30, last: moment(40))[0] == moment(40))
        // What is said counts as well as an end.
        let completed = Event.app(one, .completed(DeliveryID(1), .succeeded))
        var inbox = [.timer, low, completed].map { TimedEvent($0, at: moment(60)) }
        inbox.putEndsFirst(before: moment(50).boot, since: moment(40))
        #expect(inbox.map(\.event) == [completed, .timer, low])
    }
}
