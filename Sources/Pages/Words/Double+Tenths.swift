extension Double {
    /// With one digit after the point.
    package var tenths: String {
        let tenths = Int64((self * 10).rounded())
        return (tenths < 0 ? "-" : "") + "\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
