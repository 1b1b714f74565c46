package import Vocabulary

/// What somebody is told who asks whether the gateway works.
package enum GatewayHealth: Equatable, Sendable {
    case serving
    case failing(String)
    case ending

    /// `isEnding`: it serves nobody new; what is wrong does not matter any more. Otherwise it
    /// fails if the store cannot be written or the certificate is not valid.
    package init(isEnding: Bool, storeProblem: String?, certificateProblem: String?) {
        if isEnding {
            self = .ending
        } else if let problem = storeProblem ?? certificateProblem {
            self = .failing(problem)
        } else {
            self = .serving
        }
    }

    package var word: String {
        switch self {
        case .serving: "serving"
        case .failing: "failing"
        case .ending: "ending"
        }
    }

    package var reason: String? { if case .failing(let reason) = self { reason } else { nil } }
}

/// When the certificate that is served is valid.
package struct CertificateValidity: Equatable, Sendable {
    /// Seconds since 1970; nil: it cannot be read.
    private let range: ClosedRange<Int64>?

    private static let day: Int64 = 86_400
    /// So many days before its end the operator is warned.
    private static let warningDays = 14

    package init(_ range: ClosedRange<Int64>?) { self.range = range }

    /// Seconds since 1970; 0: it cannot be read.
    package var end: UInt64 { UInt64(clamping: range?.upperBound ?? 0) }

    /// Whole days; 0 when it has expired.
    package func daysLeft(at wall: WallTime) -> Int {
        guard let end = range?.upperBound else { return 0 }
        return Int(clamping: max(0, end - wall.nanoseconds / 1_000_000_000) / Self.day)
    }

    /// Why it is not valid now; nil: it is.
    package func problem(at wall: WallTime) -> String? {
        guard let range else { return "the validity of the certificate cannot be read" }
        let now = wall.nanoseconds / 1_000_000_000
        if now > range.upperBound { return "the certificate has expired" }
        return now < range.lowerBound ? "the certificate is not valid yet" : nil
    }

    /// What the operator is told whenever it is read; nil: nothing.
    package func warning(at wall: WallTime) -> String? {
        if let problem = problem(at: wall) {
            return "\(problem): providers and devices will refuse it"
        }
        let left = daysLeft(at: wall)
        return left <= Self.warningDays ? "the certificate expires in \(left) days" : nil
    }
}
