import DeviceCore
import Simulator
import Vocabulary

/// Gates that hold for no reason.
extension PlantedBug {
    private static let rule = "what does not run has a reason"

    static let lies = liesOfAll + liesOfTransfers

    /// Each gate is named once as what holds, whatever the world is like.
    private static let liesOfAll: [PlantedBug] = Gate.allCases.map { gate in
        lie("whatever waits", about: gate).with { $0.days = 3 }
    }

    /// The reasons of transfers are judged by themselves.
    private static let liesOfTransfers: [PlantedBug] = gatesOfTransfers.map { gate in
        lie("each transfer that waits", about: gate) { $0.identifier?.contains("://") ?? false }
            .with { $0.days = 8 }
    }

    private static let gatesOfTransfers: [Gate] = [
        .startPause, .settling, .appQuota, .deviceQuota, .dataProtection,
    ]

    private static func lie(
        _ what: String,
        about gate: Gate,
        where isMeant: @escaping @Sendable (Explanation) -> Bool = { _ in true }
    ) -> PlantedBug {
        PlantedBug("\(what) is said to wait for \(gate.name)", rule).with {
            $0.explanation = {
                guard isMeant($0), !$0.holds.isEmpty else { return $0 }
                var explanation = $0
                explanation.holds[0].gate = gate.name
                return explanation
            }
            $0.notices = "(\(gate.name))"
        }
    }

    /// Gates that really hold, and for ever.
    static let held: [PlantedBug] = [
        held(by: .runSlots) { $0.runSlots = 0 },
        held(by: .appQuota) { $0.appWakesPerDay = 0 },
        held(by: .deviceQuota) { $0.deviceWakesPerDay = 0 },
        held(by: .unused) { $0.unusedLimit = .seconds(1) },
        held(by: .quiet) { $0.minimumRefreshInterval = .days(400) },
        held(by: .backOff) { ($0.backOff, $0.backOffLimit) = (.days(400), .days(400)) },
        held(by: .startPause) { $0.pauseAfterStart = .days(400) },
        held(by: .settling) { $0.settleTime = .days(400) },
        PlantedBug("dates are heard as much later ones", rule).with {
            $0.event = {
                [
                    $0.changingSubmission {
                        $0.after = $0.after.map { $0 + .days(400) }
                        $0.earliest = $0.earliest.map { $0 + .days(400) }
                    }
                ]
            }
            ($0.days, $0.notices) = (8, "(earliest)")
        },
        PlantedBug("a manifest that is there again is not heard of", rule).with {
            $0.event = {
                guard case .manifests(let changes) = $0 else { return [$0] }
                return [
                    .manifests(changes.filter { if case .present = $0 { false } else { true } })
                ]
            }
            ($0.days, $0.notices, $0.seed) = (16, "(unknown-app)", 14)
        },
        PlantedBug("the modes of a manifest that is edited are not heard", rule).with {
            $0.event = {
                guard case .manifests(let changes) = $0 else { return [$0] }
                return [
                    .manifests(
                        changes.map {
                            guard case .present(var manifest) = $0 else { return $0 }
                            manifest.modes = []
                            return .present(manifest)
                        }
                    )
                ]
            }
            ($0.days, $0.notices) = (16, "(not-permitted)")
        },
    ]

    private static func held(
        by gate: Gate,
        _ change: @escaping @Sendable (inout Settings) -> Void
    ) -> PlantedBug {
        PlantedBug("\(gate.name) holds for ever", rule).with {
            $0.event = { [$0.changingSettings(change)] }
            ($0.days, $0.notices) = (8, "(\(gate.name))")
        }
    }
}
