/// What a prediction is made of, one number each; logarithms and log odds, so that weights add up.
struct UseFeatures {
    /// docs/prediction.md has the formulae.
    enum Name: Int, CaseIterable {
        /// Opened in the 30 minutes from this time of day: share of all days, of days of this kind.
        case near30, kind30
        /// Opened from 30 minutes before to 60 after it: share of all days, of this weekday.
        case around90, weekday90
        /// The share of the day that is less than 30 minutes before an open.
        case mean
        /// The device used in the 30 minutes from this time of day, share of days.
        case device30
        /// Since the last use of the device; whether that is less than 2 minutes.
        case idle, active
        /// Since the last use of the app.
        case since
        /// Opens of the app since midnight, and in 24 hours.
        case today, opens24
        /// Sessions of the device in 60 minutes.
        case sessions60
        /// The app opened within 30 minutes of an open of the last opened app.
        case following
        case sine, cosine, sine2, cosine2, weekend
        case near30Active
    }

    static let count = 19
    private var values: InlineArray<19, Double>

    init(repeating value: Double) { values = InlineArray(repeating: value) }

    subscript(name: Name) -> Double {
        get { values[name.rawValue] }
        set { values[name.rawValue] = newValue }
    }

    subscript(index: Int) -> Double { values[index] }
}
