import DeviceCore
import Simulator
import Testing
import Vocabulary

/// Only a machine that its own alarm has woken is sent back to sleep.
struct OwnWakeTests {
    /// A device whose app has asked for work in an hour. Nobody uses it.
    private static func waiting() throws -> (stage: Stage, app: LaunchID, alarm: Interval) {
        let stage = Stage([Stage.app()])
        let app = stage.open()
        stage.submit("clean", .processing, after: .hours(1), from: app)
        stage.leave()
        stage.report(.idle, 1)
        stage.pass(.minutes(10))
        let alarms = stage.notes.effects.compactMap { effect -> BootTime? in
            if case .arm(let timers) = effect { timers.alarm } else { nil }
        }
        let alarm = try #require(alarms.last)
        return (stage, app, alarm - stage.now.boot)
    }

    /// The work that is due begins after the pause that follows a sleep, and ends.
    private static func work(_ stage: Stage, _ app: LaunchID) {
        stage.pass(.seconds(20))
        let delivery = stage.accept(app)
        stage.say(app, .completed(delivery, .succeeded))
        #expect(stage.results == [.succeeded])
    }

    @Test func `after the work of its own wake it is sent to sleep`() throws {
        let (stage, app, alarm) = try Self.waiting()
        stage.world.fallAsleep()
        stage.pass(alarm + .milliseconds(1))
        #expect(stage.world.alarmWakes == 1)
        Self.work(stage, app)
        #expect(stage.has(.sleepAgain))
        #expect(stage.violation == nil)
    }

    @Test func `somebody who wakes it moments before the alarm is not overlooked`() throws {
        let (stage, app, alarm) = try Self.waiting()
        stage.world.fallAsleep()
        stage.pass(alarm - .seconds(4))
        stage.world.wakeUp()
        Self.work(stage, app)
        #expect(stage.world.alarmWakes == 0)
        #expect(!stage.has(.sleepAgain))
        #expect(stage.violation == nil)
    }

    @Test func `whoever comes at the moment that its work ends is not overlooked`() throws {
        let (stage, app, alarm) = try Self.waiting()
        stage.world.fallAsleep()
        stage.pass(alarm + .seconds(20))
        let delivery = stage.accept(app)
        stage.simulated.feed([
            .app(app, .completed(delivery, .succeeded)), .used(AppID("app")),
        ])
        #expect(stage.results == [.succeeded])
        #expect(!stage.has(.sleepAgain))
    }

    /// The end of the work cannot be stored. Somebody may come meanwhile who is not heard of.
    @Test(arguments: [false, true])
    func `a daemon that could store nothing does not send it to sleep`(sleeps: Bool) throws {
        let (stage, app, alarm) = try Self.waiting()
        stage.world.fallAsleep()
        stage.pass(alarm + .seconds(20))
        let delivery = stage.accept(app)
        stage.world.storeTrouble = 1
        stage.say(app, .completed(delivery, .succeeded))
        if sleeps {
            stage.world.fallAsleep()
            stage.pass(.seconds(10))
            stage.world.wakeUp()
        }
        stage.world.storeTrouble = nil
        stage.pass(.seconds(20))
        #expect(stage.results == [.succeeded])
        #expect(!stage.has(.sleepAgain))
        #expect(stage.violation == nil)
    }

    @Test func `a wake of its own counts no more when somebody wakes it next`() throws {
        let (stage, app, alarm) = try Self.waiting()
        stage.world.fallAsleep()
        stage.pass(alarm + .milliseconds(1))
        stage.world.fallAsleep()
        stage.pass(.seconds(5))
        stage.world.wakeUp()
        Self.work(stage, app)
        #expect(!stage.has(.sleepAgain))
        #expect(stage.violation == nil)
        // The oracle knows it by itself.
        let port = stage.simulated.driver.port
        port.perform(.sleepAgain)
        #expect(stage.violation != nil)
    }
}
