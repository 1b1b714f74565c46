import GatewayCore
import Vocabulary

extension PlantedGatewayBug {
    static let figures: [Self] = counted + told

    /// The log says so of a push that there was not.
    private static func logs(
        _ description: String,
        raises kind: WorldProblem.Kind,
        _ event: LogEvent
    ) -> Self {
        writes(description, raises: kind) {
            $0.log.add(PushNumber(1), event, at: WallTime(nanoseconds: 1))
        }
    }

    // MARK: What is counted

    private static let counted: [Self] = [
        hears("pushes are taken twice", raises: .acceptedCount) {
            if case .push = $0 { [$0, $0] } else { [$0] }
        },
        hears("broadcasts are taken twice", raises: .broadcastCount) {
            if case .broadcast = $0 { [$0, $0] } else { [$0] }
        },
        acts("broadcasts go out twice", raises: .broadcastsSentCount) {
            if case .broadcast = $0 { [$0, $0] } else { [$0] }
        },
        acts("broadcasts do not go out", raises: .broadcastsSentCount) {
            if case .broadcast = $0 { [] } else { [$0] }
        },
        writes("the log is not written", raises: .storedCount) { $0.log = LogBatch() },
        logs("pushes are logged as stored", raises: .storedCount, .stored(.away)),
        logs("pushes are logged as replaced", raises: .replacedCount, .replaced(by: PushNumber(2))),
        logs("pushes are logged as held back", raises: .throttledCount, .stored(.lowPower)),
        logs("pushes are logged as expired", raises: .expiredCount, .expired),
        logs("pushes are logged as dropped", raises: .droppedCount, .dropped(.tooMany)),
        logs("pushes are logged as delivered", raises: .deliveredCount, .delivered),
        hears("batches that failed are taken for kept ones", raises: .failureCount) {
            guard case .written(let number, _?) = $0 else { return [$0] }
            return [.written(number, problem: nil)]
        },
        hears("what could not be read is heard of twice", raises: .failureCount) {
            if case .answered(_, .failed) = $0 { [$0, $0] } else { [$0] }
        },
        Self(
            "devices that are gone are removed twice",
            raises: .goneCount,
            GatewayBug(
                action: {
                    guard case .write(var batch) = $0 else { return [$0] }
                    batch.changes += batch.changes.filter {
                        if case .removeDevice = $0 { true } else { false }
                    }
                    return [.write(batch)]
                },
                // The operator removes none: those are taken for gone.
                event: {
                    guard case .removeDevice(let device, _) = $0 else { return [$0] }
                    let question = StoreQuestion.unseen(since: WallTime(nanoseconds: 0), limit: 1)
                    return [.answered(question, .devices([device]))]
                }
            )
        ),
        changes("channels are not written", raises: .channelCount) {
            if case .channel = $0 { [] } else { [$0] }
        },
    ]

    // MARK: What somebody is told, and when

    private static let told: [Self] = [
        answers("another reason is told than is counted", raises: .refusalCounts) { _, answer in
            guard case .refused(.unregistered, _) = answer else { return answer }
            return .refused(.badDeviceToken)
        },
        acts("changes of channels that failed are told as done", raises: .refusalCounts) {
            guard case .done(let operation, .notKept) = $0 else { return [$0] }
            return [.done(operation, nil)]
        },
        answers("another reason is told of Web Push", raises: .webPushRefusalCounts) { _, answer in
            guard case .refused(.unregistered, _) = answer else { return answer }
            return .refused(.payloadTooLarge)
        },
        answers("pushes of a key are refused that were taken", raises: .keyCounts) { _, answer in
            if case .accepted = answer { .refused(.serviceUnavailable) } else { answer }
        },
        Self(
            "time passes twice as fast",
            raises: .deliveryTimes,
            GatewayBug(clock: {
                var now = $0
                now.boot = BootTime(nanoseconds: now.boot.nanoseconds * 2)
                return now
            })
        ),
        Self(
            "acceptances are timed wrongly",
            raises: .acceptanceTimes,
            GatewayBug(span: { $0 + .milliseconds(1) })
        ),
    ]
}
