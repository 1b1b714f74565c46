/// Pressure stall information: how long tasks had to wait for a resource.
package struct Pressure: Equatable, Sendable {
    /// Shares in per cent over 10, 60 and 300 s, and the sum in microseconds.
    package struct Line: Equatable, Sendable {
        package var average10: Double
        package var average60: Double
        package var average300: Double
        package var totalMicroseconds: Int64

        init?(_ fields: ArraySlice<Substring>) {
            var values: [Substring: Substring] = [:]
            for field in fields {
                let parts = field.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { values[parts[0]] = parts[1] }
            }
            guard let ten = values["avg10"].flatMap({ Double($0) }),
                let sixty = values["avg60"].flatMap({ Double($0) }),
                let rest = values["avg300"].flatMap({ Double($0) }),
                let total = values["total"].flatMap({ Int64($0) })
            else { return nil }
            (average10, average60, average300, totalMicroseconds) = (ten, sixty, rest, total)
        }
    }

    package enum Resource: String, Sendable { case cpu, memory, io }

    /// At least one task waited.
    package var some: Line
    /// All waited; absent for the processor on older kernels.
    package var full: Line?

    /// `/proc/pressure/…`. Throws `noEntry` or `notSupported` where the kernel has none.
    package init(of resource: Resource) throws(LinuxError) {
        try self.init(readingFrom: Self.path(of: resource))
    }

    /// Any file of that form, such as `memory.pressure` of a cgroup.
    package init(readingFrom path: String) throws(LinuxError) {
        guard let pressure = Pressure(try Files.text(path, limit: 4096)) else {
            throw LinuxError("read", path, .invalid)
        }
        self = pressure
    }

    package init?(_ text: String) {
        var some: Line?
        var full: Line?
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.first == "some" { some = Line(fields.dropFirst()) }
            if fields.first == "full" { full = Line(fields.dropFirst()) }
        }
        guard let some else { return nil }
        (self.some, self.full) = (some, full)
    }

    package static func path(of resource: Resource) -> String {
        "/proc/pressure/\(resource.rawValue)"
    }
}

/// Tells when tasks waited longer than a threshold. Poll the descriptor for `.priority`.
package struct PressureTrigger: ~Copyable {
    package let descriptor: FileDescriptor

    /// `stall` of each `window`, both in microseconds. An ordinary user's window must be a
    /// multiple of 2 s (`invalid` otherwise).
    package init(
        path: String,
        full: Bool = false,
        stall: Int,
        window: Int
    ) throws(LinuxError) {
        let file = try FileDescriptor(opening: path, [.both, .nonBlocking])
        let text = Array("\(full ? "full" : "some") \(stall) \(window)\0".utf8)
        do {
            _ = try file.write(text.span)
        } catch {
            throw LinuxError(error.operation, path, error.errno)
        }
        descriptor = file
    }
}
