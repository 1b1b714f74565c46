internal import EventLoop
internal import Linux

/// Processes below this one whose parent has ended: they become its children, so that they can be
/// found, and are reaped. Only for the step that has no groups to find them by.
@safe
final class Orphans {
    private let loop: EventLoop
    private var source: SignalSource?
    private let began: UInt64
    /// Started here, though the loop could not be told.
    private let isOurs: (Int32) -> Bool

    init(_ loop: EventLoop, isOurs: @escaping (Int32) -> Bool) throws(LinuxError) {
        (self.loop, self.isOurs) = (loop, isOurs)
        began = ProcessIdentity(of: CurrentProcess.pid)?.startTime ?? 0
        try CurrentProcess.setSubreaper(true)
        source = try SignalSource(loop, Signal.child) { [unowned self] _ in reap() }
    }

    /// Those that live.
    func living() -> [ProcessStatus] { children().filter { !$0.hasEnded } }

    /// The children that nobody here started; what was ours before this program began is not meant.
    private func children() -> [ProcessStatus] {
        Self.numbers().compactMap { pid in
            guard !loop.reaps(pid), !isOurs(pid), let status = ProcessStatus(of: pid),
                status.parent == CurrentProcess.pid, status.startTime >= began
            else { return nil }
            return status
        }
    }

    private func reap() {
        for child in children() where child.hasEnded {
            _ = try? PidFD(of: child.pid).wait(block: false)
        }
    }

    /// The kernel's own list, else a look at all processes.
    private static func numbers() -> [Int32] {
        let own = CurrentProcess.pid
        if let text = try? Files.text("/proc/\(own)/task/\(own)/children") {
            return text.split(separator: " ").compactMap { Int32($0) }
        }
        return ProcessTable.all().filter { $0.parent == own }.map(\.pid)
    }
}
