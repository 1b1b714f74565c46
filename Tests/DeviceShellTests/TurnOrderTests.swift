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
        inbox.putEndsFirst()
        return inbox
    }

    @Test func `what an app has said before its end is heard before it`() {
        let completed = Event.app(one, .completed(DeliveryID(1), .succeeded))
        let other = Event.app(two, .completed(DeliveryID(2), .succeeded))
        let exited = Event.process(one, .exited(.status(0), nil))
        let gone = Event.app(one, .disconnected)
        let inbox = ordered([other, .timer, completed, other, low, exited, gone])
        #expect(inbox.map(\.event) == [other, completed, exited, gone, .timer, other, low])
        // No time is before the one that was heard last.
        #expect(zip(inbox, inbox.dropFirst()).allSatisfy { $0.moment.boot <= $1.moment.boot })
    }

    @Test func `what interrupts nobody, or comes when nobody ends, stays where it is`() {
        let exited = Event.process(one, .exited(.status(1), nil))
        let kept: [[Event]] = [
            [.app(two, .disconnected), exited, .timer],
            [.timer, .app(one, .disconnected), low, .process(one, .machineOutOfMemory)],
            [.storageRecovered, .app(two, .disconnected), exited],
        ]
        for events in kept { #expect(ordered(events).map(\.event) == events) }
    }
}
