import GatewayCore
import Vocabulary

/// Figures of a running gateway: for `stats`, and for Prometheus.
struct Metrics {
    struct Figure {
        var name: String
        var help: String
        var content: Content

        enum Content {
            case counter(UInt64)
            case gauge(UInt64)
            /// One counter for each value of a label; there are not many.
            case counters(label: String, [(value: String, count: UInt64)])
            case times(LatencyHistogram)
        }
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
        (
            "pushes_dropped_total",
            "Pushes dropped: expiration 0, app unregistered, refused by the device, too many.",
            \.dropped
        ),
        ("broadcasts_accepted_total", "Broadcasts that were accepted.", \.broadcasts),
        ("broadcasts_sent_total", "Broadcasts sent, counted per device.", \.broadcastsSent),
    ]

    private static let senders: [Row<SenderDoorCounters>] = [
        ("provider_connections_total", "Connections from providers.", \.connections),
        ("provider_refused_total", "Connections refused.", \.refusedConnections),
        ("provider_handshakes_failed_total", "TLS handshakes that failed.", \.failedHandshakes),
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
                content: .counter(counters[keyPath: row.path])
            )
        }
    }

    init(
        _ node: GatewayNode,
        _ providers: ProviderServer,
        _ devices: LinkServer,
        _ certificate: CertificateTime,
        storeSize: UInt64
    ) {
        let gateway = node.driver.gateway
        let now = node.now.wall
        func counter(_ name: String, _ help: String, _ count: UInt64) -> Figure {
            Figure(name: name, help: help, content: .counter(count))
        }
        func gauge(_ name: String, _ help: String, _ value: UInt64) -> Figure {
            Figure(name: name, help: help, content: .gauge(value))
        }
        func count(_ name: String, _ help: String, _ value: Int) -> Figure {
            gauge(name, help, UInt64(clamping: value))
        }
        figures =
            Self.figures(gateway.counters, Self.pushes)
            + Self.figures(providers.door.counters, Self.senders)
            + Self.figures(devices.door.counters, Self.links) + [
                counter(
                    "signatures_checked_total",
                    "Provider tokens whose signature was verified.",
                    providers.authority.checks
                ),
                counter(
                    "devices_expired_total",
                    "Devices removed after device-age.",
                    node.driver.expiredDevices
                ),
                counter(
                    "store_failures_total",
                    "Failed writes and reads of the store.",
                    node.driver.failures
                ),
                gauge("store_size_bytes", "The store with its log.", storeSize),
                count(
                    "provider_connections",
                    "Connections from providers now.",
                    providers.door.count
                ),
                count("devices_connected", "Devices connected now.", gateway.connectedCount),
                count(
                    "devices_in_line",
                    "Devices waiting for a handshake now.",
                    devices.door.lineCount
                ),
                count("requests_waiting", "Unanswered requests now.", providers.waitingCount),
                count("channels", "Broadcast channels now.", gateway.channelCount),
                gauge(
                    "certificate_expiry_timestamp_seconds",
                    "When the certificate expires, in seconds since 1970.",
                    certificate.validity.end
                ),
                count(
                    "certificate_days_left",
                    "Whole days until the certificate expires.",
                    certificate.validity.daysLeft(at: now)
                ),
            ] + Self.refusals(node.driver.senders)
            + Self.keys(node.driver.senders.keys(providers.authority.keys.ids))
            + Self.times(
                accepting: node.driver.senders.acceptanceTimes,
                delivering: gateway.deliveryTimes
            )
    }

    private static func times(
        accepting: LatencyHistogram,
        delivering: LatencyHistogram
    ) -> [Figure] {
        [
            Figure(
                name: "push_acceptance_seconds",
                help: "Time from a whole request to the answer that accepts its push.",
                content: .times(accepting)
            ),
            Figure(
                name: "push_delivery_seconds",
                help: "Time from accepting a push that is sent at once to its acknowledgement.",
                content: .times(delivering)
            ),
        ]
    }

    private static func refusals(_ counters: SenderCounters) -> [Figure] {
        [
            Figure(
                name: "requests_refused_total",
                help: "Requests refused, by reason.",
                content: .counters(
                    label: "reason",
                    counters.refusals.map { ($0.reason.rawValue, $0.count) }
                )
            ),
            Figure(
                name: "web_pushes_refused_total",
                help: "Web pushes refused, by reason.",
                content: .counters(
                    label: "reason",
                    counters.webPushRefusals.map { ($0.reason.rawValue, $0.count) }
                )
            ),
        ]
    }

    private static func keys(_ keys: [SenderCounters.Key]) -> [Figure] {
        [
            Figure(
                name: "key_pushes_accepted_total",
                help: "Pushes accepted, by the key that signed their token.",
                content: .counters(label: "key", keys.map { ($0.id, $0.accepted) })
            ),
            Figure(
                name: "key_pushes_refused_total",
                help: "Pushes refused, by the key that signed their token.",
                content: .counters(label: "key", keys.map { ($0.id, $0.refused) })
            ),
        ]
    }

    var value: Value {
        .map(
            ValueMap(
                figures.map { figure in
                    switch figure.content {
                    case .counter(let count), .gauge(let count): (figure.name, Self.value(count))
                    case .counters(_, let rows):
                        (figure.name, .map(ValueMap(rows.map { ($0.value, Self.value($0.count)) })))
                    case .times(let times): (figure.name, Self.value(times))
                    }
                }
            )
        )
    }

    private static func value(_ count: UInt64) -> Value { .integer(Int64(clamping: count)) }

    private static func value(_ times: LatencyHistogram) -> Value {
        .map([
            "count": value(times.count), "sum": .double(times.sum),
            "buckets": .map(ValueMap(times.buckets.map { ($0.bound, value($0.count)) })),
        ])
    }
}

extension LatencyHistogram {
    /// As Prometheus wants them: of each bound in seconds, how many times were not longer.
    var buckets: [(bound: String, count: UInt64)] {
        var below: UInt64 = 0
        return counts.enumerated().map { index, count in
            below += count
            let bounds = Self.bounds
            let isLast = index == bounds.count
            return (isLast ? "+Inf" : "\(Double(bounds[index].nanoseconds) / 1e9)", below)
        }
    }
}
