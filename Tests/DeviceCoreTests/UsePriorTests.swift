import Testing
import Vocabulary

@testable import DeviceCore

/// The features and the probabilities of the daemon against those that the prior was fitted with:
/// Benchmarks/Prior/sample.py computes the numbers from the same made-up log.
struct UsePriorTests {
    enum App: Int, Sendable { case a, b, c }

    struct Row: Sendable {
        var day: Int64
        var bin: Int
        var app: App
        var chance: Double
        var features: [Int32]

        init(_ day: Int64, _ bin: Int, _ app: App, _ chance: Double, _ features: [Int32]) {
            (self.day, self.bin, self.app) = (day, bin, app)
            (self.chance, self.features) = (chance, features)
        }
    }

    /// 18 days from Monday, 2024-01-01, the first weekend without any use.
    struct Sample {
        private(set) var device = DeviceUse()
        private(set) var apps = [AppUse](repeating: AppUse(), count: 3)

        static func time(day: Int64, _ timeOfDay: Interval) -> UseTime {
            let local = LocalTime(day: 19_723 + day, timeOfDay: timeOfDay)
            return UseTime(local.wall(utcOffset: 3600), utcOffset: 3600)
        }

        /// Everything that begins up to then.
        init(until end: UseTime) {
            for day in Int64(0)..<18 where day != 5 && day != 6 {
                use(.a, day, minute: 480 + day * 7 % 20, seconds: 180, end)
                use(.b, day, minute: 490 + day * 7 % 20, seconds: 240, end)
                if day % 3 != 0 { use(.a, day, minute: 780 + day * 11 % 50, seconds: 60, end) }
                if day % 2 == 0 { use(.c, day, minute: 1200 + day * 13 % 60, seconds: 600, end) }
                if day % 4 != 1 { use(.b, day, minute: 1350 + day * 5 % 40, seconds: 30, end) }
                if day % 6 == 2 { use(.a, day, minute: 1430, seconds: 60, end) }
            }
        }

        private mutating func use(
            _ app: App,
            _ day: Int64,
            minute: Int64,
            seconds: Int64,
            _ end: UseTime
        ) {
            let begins = Self.time(day: day, .minutes(minute))
            guard begins.wall <= end.wall else { return }
            apps[app.rawValue].opened(on: &device, at: begins)
            let ends = Self.time(day: day, .minutes(minute) + .seconds(seconds))
            guard ends.wall <= end.wall else { return }
            apps[app.rawValue].left(at: ends)
            device.left(at: ends)
        }
    }

    @Test func featuresAndChancesAreThoseThatThePriorWasFittedWith() {
        for row in Self.rows {
            let now = Sample.time(day: row.day, .minutes(Int64(row.bin) * 5))
            let sample = Sample(until: now)
            let context = PredictionContext(sample.device, at: now)
            let app = sample.apps[row.app.rawValue]
            let features = context.features(of: app)
            for name in UseFeatures.Name.allCases {
                #expect(
                    features[name] == row.features[name.rawValue],
                    "day \(row.day), bin \(row.bin), app \(row.app): \(name)"
                )
            }
            #expect(abs(context.chance(of: app) - row.chance) < 1e-6)
        }
    }

    static let rows: [Row] = [
        Row(
            11,
            1,
            .a,
            0.020061802,
            [
                358, 80, 14725, 9817, 2600, 17041, 15410, 358, 16394, 2709, 341, 18200,
                9, 20, 2547, 5983, 5070, 39240, 14100, 2, 2, 0, 455, 1, 0,
            ]
        ),
        Row(
            11,
            1,
            .b,
            0.012821214,
            [
                334, 74, 1002, 668, 2423, 235, 126, 334, 34396, 2709, 341, 18200,
                3937, 8003, 207, 5983, 5070, 5070, 14100, 2, 0, 0, 427, 1, 0,
            ]
        ),
        Row(
            11,
            1,
            .c,
            0.002582161,
            [
                105, 23, 315, 210, 763, 74, 39, 105, 2709, 2709, 341, 18200,
                9, 20, 98, 5983, 5070, 13500, 14100, 1, 1, 0, 158, 1, 0,
            ]
        ),
        Row(
            14,
            36,
            .a,
            0.000952638,
            [
                296, 62, 869, 453, 2481, 199, 102, 296, 2347, 2347, 277, 3912,
                6, 6, 1652, 7173, 47760, 47760, 47820, 2, 0, 0, 440, 36, 0,
            ]
        ),
        Row(
            14,
            36,
            .b,
            0.000794338,
            [
                280, 59, 842, 438, 2352, 193, 99, 280, 2347, 2347, 277, 3912,
                31583, 3443, 2047, 7173, 47760, 66900, 47820, 1, 1, 0, 418, 36, 0,
            ]
        ),
        Row(
            14,
            36,
            .c,
            0.000513634,
            [
                77, 16, 232, 121, 648, 53, 27, 77, 2347, 2347, 277, 3912,
                6, 6, 11, 7173, 47760, 108840, 47820, 0, 4, 0, 137, 36, 0,
            ]
        ),
        Row(
            17,
            36,
            .a,
            0.000713142,
            [
                276, 50, 807, 420, 2549, 183, 81, 276, 2135, 2135, 216, 3559,
                4, 10, 2088, 5490, 16170, 48780, 23520, 2, 2, 0, 453, 36, 0,
            ]
        ),
        Row(
            17,
            36,
            .b,
            0.001048469,
            [
                269, 49, 807, 420, 2477, 183, 81, 269, 2135, 2135, 216, 3559,
                2803, 6598, 40, 5490, 16170, 16170, 23520, 2, 0, 0, 441, 36, 0,
            ]
        ),
        Row(
            17,
            36,
            .c,
            0.000781842,
            [
                79, 14, 239, 124, 736, 54, 24, 79, 2135, 2135, 216, 3559,
                4, 10, 34, 5490, 16170, 22920, 23520, 1, 1, 0, 150, 36, 0,
            ]
        ),
        Row(
            17,
            97,
            .a,
            0.269806315,
            [
                46167, 51851, 59223, 62249, 2549, 64099, 64896, 276, 60552, 60552, 65030, 61976,
                4, 10, 4709, 6934, 34470, 67080, 41820, 2, 2, 0, 453, 97, 0,
            ]
        ),
        Row(
            17,
            97,
            .b,
            0.439747346,
            [
                58685, 64275, 59224, 62249, 2477, 64099, 64896, 269, 60552, 60552, 65030, 61976,
                2803, 6598, 5854, 6934, 34470, 34470, 41820, 2, 0, 0, 441, 97, 0,
            ]
        ),
        Row(
            17,
            97,
            .c,
            0.006034269,
            [
                79, 14, 239, 124, 736, 54, 24, 79, 2135, 60552, 65030, 61976,
                4, 10, 17, 6934, 34470, 41220, 41820, 1, 1, 0, 150, 97, 0,
            ]
        ),
        Row(
            17,
            164,
            .a,
            0.156781494,
            [
                8211, 4974, 34409, 34980, 2549, 34964, 39258, 276, 41578, 10070, 4834, 37161,
                3, 4, 291, 16892, 120, 120, 180, 2, 0, 1, 453, 164, 0,
            ]
        ),
        Row(
            17,
            164,
            .b,
            0.079943479,
            [
                269, 49, 807, 420, 2477, 183, 81, 269, 2135, 10070, 4834, 37161,
                31707, 2766, 40, 16892, 120, 18420, 180, 2, 1, 1, 441, 164, 0,
            ]
        ),
        Row(
            17,
            164,
            .c,
            0.035678551,
            [
                79, 14, 239, 124, 736, 54, 24, 79, 2135, 10070, 4834, 37161,
                3, 4, 9, 16892, 120, 61320, 180, 1, 4, 1, 150, 164, 0,
            ]
        ),
        Row(
            17,
            264,
            .a,
            0.019851703,
            [
                276, 50, 807, 420, 2549, 183, 81, 276, 13369, 2135, 216, 35953,
                3, 4, 1886, 7208, 30120, 30120, 30180, 2, 0, 0, 453, 264, 0,
            ]
        ),
        Row(
            17,
            264,
            .b,
            0.044514430,
            [
                269, 49, 33201, 48698, 2477, 32767, 38399, 32662, 49738, 2135, 216, 35953,
                31707, 2766, 6070, 7208, 30120, 48420, 30180, 2, 1, 0, 441, 264, 0,
            ]
        ),
        Row(
            17,
            264,
            .c,
            0.010015991,
            [
                79, 14, 239, 124, 736, 54, 24, 79, 33634, 2135, 216, 35953,
                3, 4, 9, 7208, 30120, 91320, 30180, 0, 4, 0, 150, 264, 0,
            ]
        ),
        Row(
            17,
            287,
            .a,
            0.028578021,
            [
                276, 50, 12041, 6269, 2549, 11359, 14703, 276, 13369, 2135, 216, 14793,
                3, 4, 1886, 7208, 37020, 37020, 37080, 2, 0, 0, 453, 287, 0,
            ]
        ),
        Row(
            17,
            287,
            .b,
            0.014584059,
            [
                269, 49, 807, 420, 2477, 183, 81, 269, 49738, 2135, 216, 14793,
                31707, 2766, 6070, 7208, 37020, 55320, 37080, 1, 1, 0, 441, 287, 0,
            ]
        ),
        Row(
            17,
            287,
            .c,
            0.004887562,
            [
                79, 14, 239, 124, 736, 54, 24, 79, 2135, 2135, 216, 14793,
                3, 4, 9, 7208, 37020, 98220, 37080, 0, 4, 0, 150, 287, 0,
            ]
        ),
    ]
}
