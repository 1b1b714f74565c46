/// What a prediction is made of: whole numbers, so that the trees of the prior compare no rounding.
/// docs/prediction.md has the formulae.
struct UseFeatures {
    enum Name: Int, CaseIterable {
        /// Opened in the 30 minutes from this time of day: share of all days, of days of this kind.
        case near30, kind30
        /// Opened from 30 minutes before to 60 after it: share of all days, of this weekday.
        case around90, weekday90
        /// The share of a day that is less than 30 minutes before an open.
        case mean
        /// As `around90`, of the very last days, and of days of this kind.
        case recent90, kind90
        /// Opened in the half hour after the next, and from 2 hours before to 3 after it.
        case next30, wide300
        /// The device used in the 30 minutes from this time of day: share of all days, of days of
        /// this kind; and from 30 minutes before to 60 after it.
        case device30, deviceKind30, device90
        /// The app opened within 30 minutes of an open of the app that was opened last, and of the
        /// one before that.
        case following, followingBefore
        /// Opens per half hour after so long without use of the app, and the share of the time
        /// after so long without use of the device that is less than half an hour before use.
        case returning, deviceReturning
        /// Since the last use of the device, of the app, and since the user got up.
        case idle, since, awake
        /// Opens in 24 hours, opens of other apps since the last one, opens of any app in 60
        /// minutes, opens a day.
        case opens24, opensSince, deviceOpens60, rate
        /// Five minutes of the day, and whether it is a weekend.
        case bin, weekend
    }

    private(set) var values: InlineArray<25, Int32>

    init() { values = InlineArray(repeating: 0) }

    subscript(name: Name) -> Int32 {
        get { values[name.rawValue] }
        set { values[name.rawValue] = newValue }
    }

    /// A share, in 1/65536.
    static func share(_ share: Double) -> Int32 { Int32(max(0, min(65_535, share * 65_536))) }

    static func seconds(_ seconds: Double) -> Int32 { Int32(max(0, min(DeviceUse.week, seconds))) }
}
