internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The kernel's pressure stall information as the condition `memory`: no polling while all is
/// well; under pressure a look every few seconds until it is over.
@safe
final class MemoryPressure {
    private let report: (Reading) -> Void
    private let loop: EventLoop
    private let warning: PressureTrigger
    private let critical: PressureTrigger
    private var sources: [TriggerSource] = []
    private var calm: TimerSource?
    private var level = 0

    /// It is over when the kernel has reported none for so long.
    var calmAfter = Settings().memoryCalm

    /// `path`: a pressure file of the kernel.
    init(
        _ loop: EventLoop,
        _ path: String,
        report: @escaping (Reading) -> Void
    ) throws(LinuxError) {
        (self.loop, self.report) = (loop, report)
        // Without privilege the window must be a multiple of 2 s. Some tasks stalled for a tenth of
        // it: warning; all of them at once: critical.
        warning = try PressureTrigger(path: path, stall: 200_000, window: 2_000_000)
        critical = try PressureTrigger(path: path, full: true, stall: 200_000, window: 2_000_000)
        sources = [
            try TriggerSource(loop, warning.descriptor.number) {
                [unowned self] in rose(to: 1)
            },
            try TriggerSource(loop, critical.descriptor.number) {
                [unowned self] in rose(to: 2)
            },
        ]
        calm = try TimerSource(loop) { [unowned self] in fell() }
    }

    private func rose(to new: Int) {
        // The trigger speaks once a window for as long as it lasts.
        try? calm?.arm(at: Clocks.boot() + calmAfter)
        guard new > level else { return }
        level = new
        report(.value(new))
    }

    private func fell() {
        level = 0
        report(.value(0))
    }
}
