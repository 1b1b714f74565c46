import Testing
import Vocabulary

@testable import DeviceCore

struct UseTests {
    /// Days of use by a person who opens the first app at eight and the second right after it.
    struct Person {
        var device = DeviceUse()
        var news = AppUse()
        var mail = AppUse()

        mutating func live(days: Range<Int64>, utcOffset: Int32 = 0) {
            for day in days {
                let eight = LocalTime(day: day, timeOfDay: .hours(8)).wall(utcOffset: utcOffset)
                func after(_ minutes: Int64) -> UseTime {
                    UseTime(eight + .minutes(minutes), utcOffset: utcOffset)
                }
                news.opened(on: &device, at: after(0))
                news.left(at: after(2))
                mail.opened(on: &device, at: after(2))
                mail.left(at: after(6))
                device.left(at: after(7))
            }
        }

        func chance(_ app: AppUse, day: Int64, hour: Int64, minute: Int64 = 0) -> Double {
            let time = LocalTime(day: day, timeOfDay: .hours(hour) + .minutes(minute))
            let wall = time.wall(utcOffset: 0)
            return PredictionContext(device, at: UseTime(wall, utcOffset: 0)).chance(of: app)
        }
    }

    @Test func whatIsDoneEveryMorningIsLikelyTheNextMorning() {
        var person = Person()
        person.live(days: 20_500..<20_521)
        let morning = person.chance(person.news, day: 20_521, hour: 7, minute: 45)
        #expect(morning > 2 * person.chance(person.news, day: 20_521, hour: 15))
        #expect(morning > 2 * person.chance(person.news, day: 20_521, hour: 3))
    }

    @Test func anAppThatWasNeverOpenedHasASmallChance() {
        var person = Person()
        person.live(days: 20_500..<20_510)
        #expect(person.chance(AppUse(), day: 20_510, hour: 8) < 0.2)
        let unknown = PredictionContext(DeviceUse(), at: UseTime(.distantPast, utcOffset: 0))
        #expect(unknown.chance(of: AppUse()) < 0.2)
    }

    @Test func sessionsLessThanFiveMinutesApartAreOne() {
        var device = DeviceUse()
        var app = AppUse()
        func at(_ minutes: Int64) -> UseTime {
            UseTime(WallTime(nanoseconds: 0) + .hours(10) + .minutes(minutes), utcOffset: 0)
        }
        for minute in [Int64(0), 4, 8, 14] {
            app.opened(on: &device, at: at(minute))
            app.left(at: at(minute + 1))
            device.left(at: at(minute + 1))
        }
        #expect(app.openCount(within: 3600, of: at(20)) == 2)
    }

    @Test func daysWithoutUseDoNotCount() {
        var one = Person()
        one.live(days: 20_500..<20_507)
        let before = one.device.days.count
        one.live(days: 20_600..<20_601)
        #expect(one.device.days.count == before + 1)
    }

    @Test func travelBackOverMidnightBeginsNoDayTwice() {
        var device = DeviceUse()
        let midnight = LocalTime(day: 20_500, timeOfDay: .zero).wall(utcOffset: 0)
        device.used(at: UseTime(midnight - .hours(5), utcOffset: 0))
        device.used(at: UseTime(midnight + .minutes(20), utcOffset: 0))
        for minutes: Int64 in [25, 80] {
            device.used(at: UseTime(midnight + .minutes(minutes), utcOffset: -3600))
            #expect(device.days.count == 2)
        }
        device.used(at: UseTime(midnight + .hours(25), utcOffset: -3600))
        #expect(device.days.count == 3)
    }

    /// A time that lies ahead is asked about as if nothing were used until it comes; then asking
    /// changes nothing, so what is used later may depend on nothing but what was used.
    @Test func askingAboutMidnightNeedsNoNewDay() {
        var person = Person()
        person.live(days: 20_500..<20_520)
        var started = person
        started.device.used(
            at: UseTime(
                LocalTime(day: 20_520, timeOfDay: .minutes(1)).wall(utcOffset: 0),
                utcOffset: 0
            )
        )
        let time = UseTime(
            LocalTime(day: 20_520, timeOfDay: .hours(7)).wall(utcOffset: 0),
            utcOffset: 0
        )
        let ahead = PredictionContext(person.device, at: time).features(of: person.news)
        let begun = PredictionContext(started.device, at: time).features(of: started.news)
        for name in [UseFeatures.Name.near30, .kind30, .around90, .weekday90, .mean] {
            #expect(abs(ahead[name] - begun[name]) <= 1)
        }
    }

    @Test func noClockAndNoZoneBreaksIt() throws {
        for seed in 0..<200 {
            var random = SeededRandom(seed: UInt64(seed))
            var device = DeviceUse()
            var apps = [AppUse](repeating: AppUse(), count: 3)
            var wall = LocalTime(day: 20_000, timeOfDay: .hours(9)).wall(utcOffset: 0)
            var offset: Int32 = 0
            for _ in 0..<300 {
                wall = wall + .seconds(random.within(0...7200))
                if random.chance(1, in: 20) { offset = Int32(random.within(-14...14)) * 3600 }
                if random.chance(1, in: 30) {
                    wall = wall + .days(random.within(-400...400))
                }
                if random.chance(1, in: 200) {
                    wall = WallTime(nanoseconds: random.within(.min ... .max))
                }
                let now = UseTime(wall, utcOffset: offset)
                let app = random.below(3)
                switch random.below(4) {
                case 0: device.used(at: now)
                case 1: device.left(at: now)
                case 2: apps[app].opened(on: &device, at: now)
                default: apps[app].left(at: now)
                }
                let asked = UseTime(wall + .hours(random.within(-30...50)), utcOffset: offset)
                let context = PredictionContext(device, at: asked)
                for app in apps {
                    // The chance is one whatever goes into it; shares of days are not.
                    #expect((0...1).contains(context.habit(of: app)))
                    _ = context.chance(of: app)
                }
            }
        }
    }

    @Test func whatIsKeptIsSmallAndComesBackAsItWas() throws {
        var device = DeviceUse()
        var apps = [AppUse](repeating: AppUse(), count: 80)
        var random = SeededRandom(seed: 1)
        var wall = LocalTime(day: 20_000, timeOfDay: .zero).wall(utcOffset: 0)
        for _ in 0..<20_000 {
            wall = wall + .seconds(random.within(60...900))
            let app = random.chance(9, in: 10) ? 0 : random.below(80)
            apps[app].opened(on: &device, at: UseTime(wall, utcOffset: 0))
            wall = wall + .seconds(30)
            apps[app].left(at: UseTime(wall, utcOffset: 0))
        }
        for app in apps {
            let bytes = try ValueEncoder().bytes(app)
            #expect(bytes.count <= 4096)
            #expect(try ValueDecoder().decode(AppUse.self, from: bytes) == app)
        }
        device.leftUnseen()
        let bytes = try ValueEncoder().bytes(device)
        #expect(bytes.count <= 5120)
        #expect(try ValueDecoder().decode(DeviceUse.self, from: bytes) == device)
    }

    @Test func allThatIsKeptOfAnAppIsAtMostEightKilobytes() throws {
        var device = DeviceUse()
        var app = RefreshMemory()
        var random = SeededRandom(seed: 1)
        for day in Int64(20_000)..<20_100 {
            let midnight = LocalTime(day: day, timeOfDay: .zero).wall(utcOffset: 0)
            for minute in stride(from: Int64(0), to: 1440, by: 10) {
                app.opened(on: &device, at: UseTime(midnight + .minutes(minute), utcOffset: 0))
                app.left(at: UseTime(midnight + .minutes(minute + 3), utcOffset: 0))
                app.ended(.newData, after: .milliseconds(Int64(random.below(90_000))), .seconds(1))
                app.spend(on: day)
            }
            app.gains.finish(counts: true)
            let levels = (0..<48).map { _ in UInt8(63 - random.below(8)) }
            app.gains.keep(levels, of: day + 1)
        }
        #expect(app.gains.days == GainHistory.dayCount)
        let bytes = try ValueEncoder().bytes(app)
        #expect(bytes.count <= 8192)
        #expect(try ValueDecoder().decode(RefreshMemory.self, from: bytes) == app)
    }

    @Test(arguments: [0, 1, 96, 97, 288])
    func aGridComesBackAsItWas(marked: Int) throws {
        var grid = DayGrid()
        for bin in 0..<marked { grid.mark(287 - bin) }
        grid.pass(days: 63)
        let value = try ValueEncoder().encode(grid)
        #expect(value.listValue?.count == (marked > 96 ? 288 : 2 * marked))
        #expect(try ValueDecoder().decode(DayGrid.self, from: value) == grid)
        grid.pass(days: 1)
        #expect(try ValueEncoder().encode(grid) == .list([]))
    }

    @Test(arguments: [[1], [288, 1], [-1, 1], [Int64](repeating: 0, count: 194)])
    func whatIsNoGridIsRefused(numbers: [Int64]) {
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(DayGrid.self, from: .list(numbers.map { .integer($0) }))
        }
    }

    @Test func aRecordOfAnotherShapeIsRefusedOrFilledUp() throws {
        var device = DeviceUse()
        var app = AppUse()
        app.opened(on: &device, at: UseTime(WallTime(nanoseconds: 0), utcOffset: 0))
        let whole = try ValueEncoder().encode(device)
        guard case .map(var fields) = whole else {
            Issue.record("\(whole)")
            return
        }
        fields["openCounts"] = .list([])
        let without = try ValueDecoder().decode(DeviceUse.self, from: .map(fields))
        #expect(without.openCounts[0] == 0)
        guard case .map(var days) = fields["days"] else {
            Issue.record("\(fields)")
            return
        }
        days["weekdays"] = .list([.integer(1)])
        fields["days"] = .map(days)
        #expect(try !ValueDecoder().decode(DeviceUse.self, from: .map(fields)).isValid)
        fields = ValueMap()
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(DeviceUse.self, from: .map(fields))
        }
    }
}
