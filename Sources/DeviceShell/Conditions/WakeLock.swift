internal import Linux

/// Keeps the machine from sleeping while a grant runs (A11), by the kernel's wake locks where
/// they are and we may use them.
@safe
final class WakeLock {
    private static let take = "/sys/power/wake_lock"
    private static let give = "/sys/power/wake_unlock"
    private static let name = "offstage"

    /// Whether holding does anything on this machine.
    static var isAvailable: Bool { (try? FileDescriptor(opening: take, .writing)) != nil }

    func hold(_ hold: Bool) {
        guard Files.exists(Self.take) else { return }
        do throws(LinuxError) {
            try Files.set(hold ? Self.take : Self.give, to: Self.name)
        } catch {
            // Not permitted: `doctor` says so.
        }
    }
}
