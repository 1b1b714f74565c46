import CommandTable
import Linux
import TLS
import Vocabulary

/// Until when the certificate that is served is good.
struct CertificateTime {
    private let path: String
    private let validity: ClosedRange<Int64>?

    private static let day: Int64 = 86_400
    /// From then on each start says so.
    private static let warningDays = 14

    init(_ paths: GatewayPaths) throws(Failure) {
        path = paths.certificate
        validity = try failing { try Certificate(pem: try Files.text(paths.certificate)) }.validity
    }

    /// Seconds since 1970; 0: it cannot be read.
    var end: UInt64 { UInt64(clamping: validity?.upperBound ?? 0) }

    /// Whole days; 0 when it has expired.
    func daysLeft(at wall: WallTime) -> Int {
        guard let end = validity?.upperBound else { return 0 }
        return Int(clamping: max(0, end - wall.nanoseconds / 1_000_000_000) / Self.day)
    }

    /// Why nobody takes it; nil: they do.
    func problem(at wall: WallTime) -> String? {
        guard let validity else { return "\(path): the validity of the certificate cannot be read" }
        let now = wall.nanoseconds / 1_000_000_000
        if now > validity.upperBound { return "\(path): the certificate has expired" }
        return now < validity.lowerBound ? "\(path): the certificate is not valid yet" : nil
    }

    func warn(at wall: WallTime) {
        let left = daysLeft(at: wall)
        if let problem = problem(at: wall) {
            GatewayLog.write("\(problem): providers and devices will refuse it")
        } else if left <= Self.warningDays {
            GatewayLog.write("\(path): the certificate expires in \(left) days")
        }
    }
}
