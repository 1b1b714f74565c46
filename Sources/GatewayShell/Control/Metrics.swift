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

    private typealias Row<Counters> = (
        name: String, help: String, path: any KeyPath<Counters, UInt64> & Sendable
    )

    private static let pushes: [Row<GatewayCounters>] = [
        ("pushes_accepted_total", "Pushes that were accepted.", \.accepted),
        ("pushes_delivered_total", "Pushes that a device acknowledged.", \.delivered),
        ("pushes_stored_total", "Pushes that were stored.", \.stored),
        ("pushes_replaced_total", "Stored pushes that were replaced by a newer one.", \.replaced),
        ("pushes_throttled_total", "Silent pushes that were held back.", \.throttled),
        ("pushes_expired_total", "Pushes that expired undelivered.", \.expired),
        ("pushes_dropped_total", "Pushes that could not be stored.", \.dropped),
        ("broadcasts_accepted_total", "Broadcasts that were accepted.", \.broadcasts),
        ("broadcasts_sent_total", "Broadcasts sent, counted per device.", \.broadcastsSent),
    ]

    private static let senders: [Row<ProviderServer.Counters>] = [
        ("provider_connections_total", "Connections from providers.", \.connections),
        ("provider_refused_total", "Connections refused.", \.refusedConnections),
        ("provider_handshakes_failed_total", "TLS handshakes.", \.failedHandshakes),
        ("provider_protocol_errors_total", "Broken connections.", \.protocolErrors),
        ("provider_floods_total", "Connections closed as attacks.", \.floods),
        ("provider_slow_requests_total", "Requests that took too long.", \.slowRequests),
        ("provider_displaced_total", "Connections closed to make room.", \.displaced),
        ("provider_over_address_total", "Connections over the limit of an address.", \.overAddress),
        ("provider_bad_headers_total", "Malformed PROXY headers.", \.badHeaders),
        ("provider_turned_away_total", "Requests refused for lack of memory.", \.turnedAway),
    ]

    private static let links: [Row<LinkCounters>] = [
        ("link_connections_total", "Connections from devices.", \.accepted),
        ("link_welcomed_total", "Devices that authenticated.", \.welcomed),
        ("link_sent_away_total", "Devices told to reconnect later.", \.sentAway),
        ("link_refused_total", "Devices that violated the link protocol.", \.refused),
        ("link_too_slow_total", "Devices that sent or read nothing in time.", \.tooSlow),
        ("link_failed_total", "Connections that failed.", \.failed),
        (
            "link_unaccepted_total", "Connections not accepted for lack of descriptors.",
            \.unaccepted
        ),
        ("link_displaced_total", "Connections closed to make room.", \.displaced),
        ("link_over_address_total", "Connections over the limit of an address.", \.overAddress),
        ("link_bad_headers_total", "Malformed PROXY headers.", \.badHeaders),
        ("link_unenrolled_total", "New devices without the enrolment secret.", \.unenrolled),
        ("link_too_busy_total", "Devices that sent too many frames.", \.tooBusy),
        ("link_ended_total", "Connections of devices that were closed.", \.ended),
    ]

    private static func figures<Counters>(
        _ counters: Counters,
        _ rows: [Row<Counters>]
    ) -> [Figure] {
        rows.map { row in
            Figure(
                name: row.name,
                help: row.help,
                isCounter: true,
                label: nil,
                value: counters[keyPath: row.path]
            )
        }
    }

    init(
        _ node: GatewayNode,
        _ providers: ProviderServer,
        _ devices: LinkServer,
        _ certificate: CertificateTime
    ) {
        let server = providers.counters
        var figures =
            Self.figures(node.driver.gateway.counters, Self.pushes)
            + Self.figures(server, Self.senders) + Self.figures(devices.counters, Self.links)
        func add(_ name: String, _ help: String, _ value: UInt64, isCounter: Bool) {
            figures.append(
                Figure(name: name, help: help, isCounter: isCounter, label: nil, value: value)
            )
        }
        let checks = providers.authority.checks
        add(
            "signatures_checked_total",
            "Provider tokens whose signature was verified.",
            checks,
            isCounter: true
        )
        let expired = node.driver.expiredDevices
        add("devices_expired_total", "Devices removed after device-age.", expired, isCounter: true)
        let failures = node.driver.failures
        add(
            "store_failures_total",
            "Failed writes and reads of the store.",
            failures,
            isCounter: true
        )
        for (name, help, count) in [
            ("provider_connections", "Connections from providers now.", providers.connectionCount),
            ("devices_connected", "Devices connected now.", node.driver.gateway.connectedCount),
            ("devices_in_line", "Devices waiting for a handshake now.", devices.lineCount),
            ("requests_waiting", "Unanswered requests now.", providers.waitingCount),
            ("channels", "Broadcast channels now.", node.driver.gateway.channelCount),
            (
                "certificate_days_left", "Whole days until the certificate expires.",
                certificate.daysLeft(at: node.now.wall)
            ),
        ] {
            add(name, help, UInt64(count), isCounter: false)
        }
        for (index, reason) in Reason.allCases.enumerated() where server.refused[index] > 0 {
            figures.append(
                Figure(
                    name: "requests_refused_total",
                    help: "Requests refused, by reason.",
                    isCounter: true,
                    label: reason.rawValue,
                    value: server.refused[index]
                )
            )
        }
        for reason in WebPushReason.allCases {
            guard let count = server.refusedWebPushes[reason] else { continue }
            figures.append(
                Figure(
                    name: "web_pushes_refused_total",
                    help: "Web pushes refused, by reason.",
                    isCounter: true,
                    label: reason.rawValue,
                    value: count
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
        var byReason: [String: [(String, Value)]] = [
            "requests_refused_total": [], "web_pushes_refused_total": [],
        ]
        for figure in figures {
            let value = Value.integer(Int64(clamping: figure.value))
            if let label = figure.label {
                byReason[figure.name, default: []].append((label, value))
            } else {
                fields.append((figure.name, value))
            }
        }
        for name in byReason.keys.sorted() {
            fields.append((name, .map(ValueMap(byReason[name] ?? []))))
        }
        return .map(ValueMap(fields))
    }
}
