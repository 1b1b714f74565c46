import Vocabulary

/// The log of four people who do not exist, made of their habits: the same each time.
/// Tests/Fixtures/usage/made-up/events.csv.gz holds it, for tests and for who tries `evaluate`.
struct MadeUpUsage {
    /// An app that is opened at about this time of the day.
    private struct Habit {
        var app: String
        /// Hours since midnight.
        var hour: Double
        /// Minutes before and after.
        var spread: Int
        /// In percent of the working days, and of the days of weekends.
        var (work, weekend): (Int, Int)

        init(_ app: String, _ hour: Double, spread: Int, work: Int, weekend: Int) {
            (self.app, self.hour, self.spread) = (app, hour, spread)
            (self.work, self.weekend) = (work, weekend)
        }
    }

    private static let people: [(name: String, habits: [Habit], offline: Set<Int>)] = [
        (
            "ada",
            [
                Habit("mail", 7.5, spread: 20, work: 95, weekend: 30),
                Habit("player", 8.1, spread: 15, work: 85, weekend: 10),
                Habit("chat", 12.5, spread: 30, work: 70, weekend: 60),
                Habit("mail", 14.75, spread: 90, work: 75, weekend: 15),
                Habit("maps", 17.5, spread: 25, work: 60, weekend: 35),
                Habit("editor", 20, spread: 60, work: 50, weekend: 70),
                Habit("news", 22.4, spread: 30, work: 80, weekend: 85),
            ], []
        ),
        (
            "ben",
            [
                Habit("news", 6.2, spread: 10, work: 90, weekend: 20),
                Habit("mail", 9, spread: 60, work: 90, weekend: 10),
                Habit("chat", 13, spread: 240, work: 70, weekend: 80),
                Habit("maps", 16, spread: 120, work: 25, weekend: 70),
                Habit("mail", 18.5, spread: 45, work: 80, weekend: 30),
            ], [9, 10, 21]
        ),
        (
            "cyd",
            // Up late: use goes on past midnight.
            [
                Habit("chat", 11, spread: 45, work: 90, weekend: 75),
                Habit("mail", 13.5, spread: 60, work: 80, weekend: 40),
                Habit("player", 17, spread: 120, work: 75, weekend: 85),
                Habit("maps", 19.5, spread: 60, work: 50, weekend: 60),
                Habit("news", 21, spread: 90, work: 60, weekend: 60),
                Habit("mail", 23.5, spread: 60, work: 70, weekend: 60),
                Habit("chat", 24.6, spread: 40, work: 50, weekend: 80),
            ], []
        ),
        (
            "dot",
            // Without habits in one app, and with few opens.
            [
                Habit("mail", 10, spread: 30, work: 85, weekend: 85),
                Habit("news", 15, spread: 420, work: 80, weekend: 80),
                Habit("chat", 19, spread: 45, work: 75, weekend: 40),
            ], [4]
        ),
    ]

    /// 2024-03-01, a Friday.
    private static let firstDay: Int64 = 19_783
    private static let days = 36

    private let name: String
    private var random: SeededRandom
    /// At so many milliseconds since the first midnight: kind, app, duration in tenths of seconds.
    private var lines: [(at: Int64, words: String, tenths: Int64?)] = []

    private init(_ name: String, seed: UInt64) {
        self.name = name
        random = SeededRandom(seed: seed)
    }

    static var text: String {
        var text = "user,kind,app,start,duration_s\n"
        for (index, person) in people.enumerated() {
            var usage = MadeUpUsage(person.name, seed: UInt64(index) + 1)
            for day in 0..<days where !person.offline.contains(day) {
                usage.live(through: day, person.habits)
            }
            text += usage.text
        }
        return text
    }

    private mutating func live(through day: Int, _ habits: [Habit]) {
        let isWeekend = LocalTime(day: Self.firstDay + Int64(day), timeOfDay: .zero).weekday >= 5
        for habit in habits {
            let share = isWeekend ? habit.weekend : habit.work
            guard random.chance(share, in: 100) else { continue }
            let spread = Int64(habit.spread) * 60_000
            let hours = Int64(day) * 24 * 3_600_000 + Int64(habit.hour * 3_600_000)
            use(habit.app, at: max(0, hours + random.within(-spread...spread)), habits)
        }
        if random.chance(1, in: 2) {
            let hour = Int64(day) * 24 + random.within(8...22)
            let app = habits[random.below(habits.count)].app
            add(hour * 3_600_000 + random.below(3_600_000), "notification,\(app)", nil)
        }
    }

    /// The device is taken up for this app, and perhaps for another one.
    private mutating func use(_ app: String, at start: Int64, _ habits: [Habit]) {
        switch random.below(3) {
        case 0: add(start - random.within(1_000...9_000), "screen,", nil)
        case 1: add(start - random.within(1_000...9_000), "screen,on", random.within(600...3_000))
        default: add(start - 2_500, "screen,on-unlocked", random.within(500...2_000))
        }
        if random.chance(1, in: 2) { add(start - 800, "system,launcher", 8) }
        var end = start
        var app = app
        repeat {
            // Of some uses the length is not known, and some are over at once.
            let tenths: Int64 = random.chance(1, in: 12) ? 0 : random.within(80...4_500)
            add(end, "app,\(app)", random.chance(1, in: 10) ? nil : tenths)
            end += tenths * 100 + random.within(1_500...40_000)
            app = habits[random.below(habits.count)].app
        } while random.chance(1, in: 4)
        if random.chance(1, in: 2) { add(end, "screen,off", random.within(900...9_000)) }
    }

    private mutating func add(_ at: Int64, _ words: String, _ tenths: Int64?) {
        lines.append((max(0, at), words, tenths))
    }

    private var text: String {
        // Equal times: as they came.
        lines.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map { _, line in
                let seconds = line.tenths.map { "\($0 / 10).\($0 % 10)" } ?? ""
                return "\(name),\(line.words),\(Self.time(line.at)),\(seconds)\n"
            }.joined()
    }

    private static func time(_ milliseconds: Int64) -> String {
        let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let local = LocalTime(day: firstDay + days, timeOfDay: .milliseconds(rest))
        let (year, month, day) = local.date
        func padded(_ number: some BinaryInteger, _ length: Int = 2) -> String {
            let text = "\(number)"
            return String(repeating: "0", count: max(0, length - text.count)) + text
        }
        return "\(year)-\(padded(month))-\(padded(day))T\(padded(local.hour)):"
            + "\(padded(local.minute)):\(padded(local.second)).\(padded(rest % 1000, 3))"
    }
}
