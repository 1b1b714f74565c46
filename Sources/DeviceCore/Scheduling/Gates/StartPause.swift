import Vocabulary

extension GateTable.Definition {
    /// A device that has just booted or woken, and a daemon that has just started, have better to
    /// do.
    static let startPause = Self(
        title: "pause after boot, resume and start",
        kind: .pause,
        check: {
            let (boot, start, resume) = pauses($0)
            let end = max(boot, start, resume)
            return $0.now.boot >= end ? .open : .held(.boot(end))
        },
        explain: {
            let (boot, start, resume) = pauses($0)
            let end = max(boot, start, resume)
            // The one that ends last.
            let text: (value: String, sentence: String) =
                switch end {
                case boot: ("just booted", "the device has just booted")
                case start: ("just started", "Offstage has just started")
                default: ("just woken up", "the device has just woken up")
                }
            return GateExplanation(
                value: text.value,
                needed: "\(max(.zero, end - $0.now.boot)) more",
                since: nil,
                sentence: text.sentence
            )
        }
    )

    /// The ends of the pauses after boot, start and resume.
    private static func pauses(
        _ context: borrowing GateContext
    ) -> (boot: BootTime, start: BootTime, resume: BootTime) {
        let settings = context.settings
        return (
            BootTime(nanoseconds: 0) + settings.pauseAfterBoot,
            context.device.startedAt + settings.pauseAfterStart,
            context.device.resumedAt.map { $0 + settings.pauseAfterResume } ?? .distantPast
        )
    }
}
