internal import CLinux

/// Which files a process may open from some point on, decided by the kernel (Landlock). What is
/// open already stays so.
package enum Landlock {
    /// Of the kernel's interface; 0: there is none, or it is turned off.
    package static var version: Int { max(0, Int(clinux_landlock_version())) }

    /// From now on the calling thread, and those that it starts, can only read files, and only
    /// these and those in these directories; it can list none, and not name sockets or processes
    /// of others where the kernel can deny that. What of them is not there is passed over. The
    /// process must have given up new privileges.
    package static func restrict(toReading paths: [String]) throws(LinuxError) {
        let version = version
        let number = try check(
            clinux_landlock_create(
                fileRights(version),
                version >= 4 ? Self.bind : 0,
                version >= 6 ? Self.abstractSocket | Self.signal : 0
            ),
            "landlock_create_ruleset"
        )
        let ruleset = FileDescriptor(owning: number)
        for path in paths {
            guard let resolved = Files.resolved(path),
                let file = try? FileDescriptor(knowing: resolved)
            else { continue }
            try check(
                clinux_landlock_allow(ruleset.number, file.number, Self.readFile),
                "landlock_add_rule",
                path
            )
        }
        try check(clinux_landlock_restrict(ruleset.number), "landlock_restrict_self")
    }

    private static let readFile: UInt64 = 1 << 2
    /// Of TCP.
    private static let bind: UInt64 = 1
    private static let abstractSocket: UInt64 = 1
    private static let signal: UInt64 = 2

    /// All that a version knows: to execute, write, read, list, remove, make and link, then to
    /// move, to truncate, and to control devices.
    private static func fileRights(_ version: Int) -> UInt64 {
        let count =
            switch version {
            case ...1: 13
            case 2: 14
            case 3, 4: 15
            default: 16
            }
        return (1 << count) - 1
    }
}
