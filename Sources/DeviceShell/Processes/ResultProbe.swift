internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// A program that is asked for a result (`NewDataFrom`, `FailedFrom`), and what it has printed so
/// far. Of that only a fingerprint is kept.
@safe
final class ResultProbe {
    let step: ProbeStep
    let process: ProcessSource
    private let timer: TimerSource
    private let output: FileDescriptor
    private var source: DescriptorSource?
    private var fingerprint = Fingerprint()
    private var count = 0

    /// `ended` is called when it has printed more than `ResultFile.limit`, or the time is over;
    /// then it is to be ended.
    init(
        _ loop: EventLoop,
        _ step: ProbeStep,
        _ process: ProcessSource,
        output: consuming FileDescriptor,
        limit: Interval,
        ended: @escaping (String) -> Void
    ) throws(LinuxError) {
        (self.step, self.process) = (step, process)
        self.output = output
        timer = try TimerSource(loop) { ended("no answer within \(limit)") }
        try timer.arm(at: Clocks.boot() + limit)
        try self.output.setNonBlocking(true)
        source = try DescriptorSource(loop, self.output.number, .readable) { [unowned self] _ in
            // One piece at a time: others want to be heard while somebody prints without end.
            if !take() { try? source?.setEnabled(false) }
            if count > Int(ResultFile.limit) {
                ended("it printed more than \(ResultFile.limit >> 20) MB")
            }
        }
    }

    /// The source goes before the descriptor that it polls.
    deinit { source = nil }

    /// What all that it printed comes to; nil: too much.
    func finish() -> Fingerprint? {
        // What it has started may print on; that is not waited for.
        while count <= Int(ResultFile.limit), take() {}
        return count > Int(ResultFile.limit) ? nil : fingerprint
    }

    /// False: there is no more, at the moment or at all.
    private func take() -> Bool {
        guard let bytes = try? output.readAvailable(upTo: 65_536), !bytes.isEmpty else {
            return false
        }
        fingerprint.combine(bytes)
        count += bytes.count
        return true
    }
}
