internal import Glibc

/// How many tasks want a processor or wait for a disk, as the kernel averages it all the time.
package struct LoadAverage: Equatable, Sendable {
    package static let usualPath = "/proc/loadavg"

    /// Over the last minute.
    package var tasks: Double

    package init?(_ text: String) {
        guard let first = text.split(separator: " ").first, let tasks = Double(first),
            tasks.isFinite, tasks >= 0
        else { return nil }
        self.tasks = tasks
    }

    /// Throws `invalid` for a file of another form.
    package init(readingFrom path: String = Self.usualPath) throws(LinuxError) {
        guard let load = LoadAverage(try Files.text(path, limit: 4096)) else {
            throw LinuxError("read", path, .invalid)
        }
        self = load
    }

    /// In per cent of all processors of the machine.
    package func percent(of processors: Int = Self.processors) -> Double {
        tasks * 100 / Double(max(processors, 1))
    }

    package static var processors: Int { Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
