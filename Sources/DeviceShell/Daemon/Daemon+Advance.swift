internal import DeviceCore
internal import Linux
internal import Vocabulary

/// `offstage simulate advance` and `sleep`, for daemons with `--virtual-clock`.
extension Daemon {
    func advance(
        by span: Interval,
        asleep: Bool,
        patience: Interval,
        isWanted: @escaping () -> Bool,
        answer: @escaping (Result<Report.Advance, Refusal>) -> Void
    ) {
        guard clock.isVirtual else {
            return answer(
                .failure(
                    Refusal(
                        .notPermitted,
                        reason: "this daemon runs on the machine's own clock",
                        fix: "start one with --virtual-clock"
                    )
                )
            )
        }
        guard advance == nil else {
            return answer(
                .failure(
                    Refusal(
                        .held,
                        reason: "the clock is being advanced already",
                        fix: "wait until that is done"
                    )
                )
            )
        }
        guard span <= DaemonClock.limit - clock.ahead else {
            return answer(
                .failure(
                    Refusal(
                        .invalid,
                        reason: "the clock would be more than 100 years ahead",
                        value: "\(span)",
                        fix: "delete the state directory to begin anew"
                    )
                )
            )
        }
        do throws(LinuxError) {
            advance = try Advance(
                self,
                by: span,
                asleep: asleep,
                patience: patience,
                isWanted: isWanted,
                answer: answer
            )
        } catch {
            answer(
                .failure(Refusal(.held, reason: "the clock cannot be moved on: \(error)"))
            )
        }
    }

    func endAdvance() { advance = nil }
}
