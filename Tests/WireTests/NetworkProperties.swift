import Wire

/// What holds for any bytes that come from the network process, or from the daemon; shared with the
/// fuzzer.
package enum NetworkProperties {
    /// The rule that reading `bytes` broke; nil when all held. Never traps, whatever they are.
    package static func brokenRule(_ bytes: [UInt8]) -> String? {
        if let order = try? NetworkOrder(bytes) {
            guard let sent = try? order.bytes() else { return "an order that cannot be sent" }
            guard (try? NetworkOrder(sent)) == order else { return "another order is read" }
        }
        if let report = try? NetworkReport(bytes) {
            guard let sent = try? report.bytes() else { return "a report that cannot be sent" }
            guard (try? NetworkReport(sent)) == report else { return "another report is read" }
        }
        return nil
    }
}
