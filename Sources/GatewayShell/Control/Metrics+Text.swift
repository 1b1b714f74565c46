import GatewayCore

extension Metrics {
    /// In the text format of Prometheus.
    var text: String { figures.map(\.text).joined() }
}

extension Metrics.Figure {
    /// Nothing when nothing is counted.
    fileprivate var text: String {
        let name = "offstage_gateway_" + self.name
        func lines(_ kind: String, _ samples: [String]) -> String {
            samples.reduce("# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n") {
                $0 + name + $1 + "\n"
            }
        }
        switch content {
        case .counter(let count): return lines("counter", [" \(count)"])
        case .gauge(let value): return lines("gauge", [" \(value)"])
        case .counters(_, let rows) where rows.isEmpty: return ""
        case .counters(let label, let rows):
            return lines(
                "counter",
                rows.map { "{\(label)=\"\(Self.escaped($0.value))\"} \($0.count)" }
            )
        case .times(let times):
            return lines(
                "histogram",
                times.buckets.map { "_bucket{le=\"\($0.bound)\"} \($0.count)" }
                    + ["_sum \(times.sum)", "_count \(times.count)"]
            )
        }
    }

    /// The operator gives keys their names.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\", "\"": escaped += "\\\(character)"
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
