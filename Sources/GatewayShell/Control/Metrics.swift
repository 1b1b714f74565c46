import GatewayCore
import Vocabulary

/// Figures of a running gateway: for `stats`, and for Prometheus.
struct Metrics {
    struct Figure {
        var name: String
        var help: String
        var isCounter: Bool
        var label: String?
        var value: UInt64
    }

    let figures: [Figure]

    init(_ node: GatewayNode, _ providers: ProviderServer) {
        let core = node.gateway.counters
        let server = providers.counters
        var figures: [Figure] = []
        func add(_ name: String, _ help: String, _ value: UInt64, isCounter: Bool = true) {
            figures.append(
                Figure(name: name, help: help, isCounter: isCounter, label: nil, value: value)
            )
        }
        add("pushes_accepted_total", "Pushes that were taken.", core.accepted)
        add("pushes_delivered_total", "Pushes that a device acknowledged.", core.delivered)
        add("pushes_stored_total", "Pushes that were stored.", core.stored)
        add("pushes_replaced_total", "Stored pushes that a newer one replaced.", core.replaced)
        add("pushes_throttled_total", "Silent pushes held back.", core.throttled)
        add("pushes_expired_total", "Pushes that expired undelivered.", core.expired)
        add("pushes_dropped_total", "Pushes that could not be stored.", core.dropped)
        add("provider_connections_total", "Connections of providers.", server.connections)
        add("provider_refused_total", "Connections refused.", server.refusedConnections)
        add("provider_handshakes_failed_total", "TLS handshakes.", server.failedHandshakes)
        add("provider_protocol_errors_total", "Broken connections.", server.protocolErrors)
        add("provider_floods_total", "Connections ended as attacks.", server.floods)
        add("provider_slow_requests_total", "Requests that took too long.", server.slowRequests)
        add("signatures_checked_total", "Tokens of providers.", providers.authority.checks)
        add("store_failures_total", "Writes and reads that failed.", node.failures)
        add(
            "provider_connections",
            "Connections of providers now.",
            UInt64(providers.connectionCount),
            isCounter: false
        )
        add(
            "devices_connected",
            "Devices connected now.",
            UInt64(node.gateway.connectedCount),
            isCounter: false
        )
        add(
            "requests_waiting",
            "Requests not answered yet.",
            UInt64(providers.waitingCount),
            isCounter: false
        )
        for (place, reason) in Reason.allCases.enumerated() where server.refused[place] > 0 {
            figures.append(
                Figure(
                    name: "requests_refused_total",
                    help: "Requests refused, by reason.",
                    isCounter: true,
                    label: reason.rawValue,
                    value: server.refused[place]
                )
            )
        }
        self.figures = figures
    }

    /// In the text format of Prometheus.
    var text: String {
        var text = ""
        var last = ""
        for figure in figures {
            let name = "offstage_gateway_" + figure.name
            if name != last {
                text += "# HELP \(name) \(figure.help)\n"
                text += "# TYPE \(name) \(figure.isCounter ? "counter" : "gauge")\n"
                last = name
            }
            let label = figure.label.map { "{reason=\"\($0)\"}" } ?? ""
            text += "\(name)\(label) \(figure.value)\n"
        }
        return text
    }

    var value: Value {
        var fields: [(String, Value)] = []
        var refused: [(String, Value)] = []
        for figure in figures {
            let value = Value.integer(Int64(clamping: figure.value))
            if let label = figure.label {
                refused.append((label, value))
            } else {
                fields.append((figure.name, value))
            }
        }
        fields.append(("requests_refused_total", .map(ValueMap(refused))))
        return .map(ValueMap(fields))
    }
}
