internal import Linux

/// Keeps the machine from sleeping while a grant runs (A11), by the kernel's wake locks where
/// they are and we may use them. The kernel keeps one until its name is given back, whoever lives:
/// the keeper does so for a daemon that was killed, and the next daemon for both.
package struct WakeLock: Equatable, Sendable {
    /// Of the kernel's files `wake_lock` and `wake_unlock`.
    package let directory: String
    /// Another one for each daemon, the same after a restart.
    package let name: String

    package static let usualDirectory = "/sys/power"

    package init(name: String, directory: String = WakeLock.usualDirectory) {
        (self.name, self.directory) = (name, directory)
    }

    private var take: String { directory + "/wake_lock" }
    private var give: String { directory + "/wake_unlock" }

    /// Whether holding does anything on this machine.
    package var isAvailable: Bool { (try? FileDescriptor(opening: take, .writing)) != nil }

    package func hold(_ hold: Bool) {
        guard Files.exists(take) else { return }
        do throws(LinuxError) {
            try Files.set(hold ? take : give, to: name)
        } catch {
            // Not permitted: `doctor` says so. Or it was not held.
        }
    }
}
