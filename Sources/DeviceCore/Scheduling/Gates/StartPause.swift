import Vocabulary

extension GateTable.Definition {
    /// A device that has just booted or woken, and a daemon that has just started, have better to
    /// do.
    static let startPause = Self(
        title: "pause after boot, resume and start",
        kind: .saving,
        check: {
            let end = end($0)
            return $0.now.boot >= end ? .open : .held(.boot(end))
        },
        words: {
            let end = end($0)
            return GateWords(
                value: "just started or woken",
                needed: "\(max(.zero, end - $0.now.boot)) more",
                since: nil,
                sentence: "the device has just started or woken up"
            )
        }
    )

    private static func end(_ context: GateContext) -> BootTime {
        let device = context.device
        let settings = context.settings
        return max(
            BootTime(nanoseconds: 0) + settings.pauseAfterBoot,
            device.startedAt + settings.pauseAfterStart,
            device.resumedAt.map { $0 + settings.pauseAfterResume } ?? .distantPast
        )
    }
}
