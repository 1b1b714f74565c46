/// What holds for a transfer of which nothing else is said.
package enum UsualTimeout {
    /// Without a byte for so long it is tried again.
    package static let request = Interval.seconds(60)
    /// After so long in all it fails.
    package static let resource = Interval.days(7)
}
