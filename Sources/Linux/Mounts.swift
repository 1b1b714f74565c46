/// `/proc/mounts`: where the file systems of the kernel are.
package struct Mounts: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package var path: String
        package var type: String
        package var options: [String]
    }

    package var entries: [Entry]

    package init() throws(LinuxError) {
        self.init(try Files.text("/proc/mounts", limit: 1 << 22))
    }

    package init(_ text: String) {
        entries = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 4 else { return nil }
            return Entry(
                path: Self.unescaped(fields[1]),
                type: String(fields[2]),
                options: fields[3].split(separator: ",").map(String.init)
            )
        }
    }

    /// The cgroup v2 tree: `/sys/fs/cgroup`, or `unified` below it on hybrid machines.
    package var cgroup2: String? { entries.last { $0.type == "cgroup2" }?.path }

    /// The v1 hierarchy that has a controller, such as `freezer` or `memory`.
    package func cgroup1(_ controller: String) -> String? {
        entries.last { $0.type == "cgroup" && $0.options.contains(controller) }?.path
    }

    /// Space, tab, newline and backslash are written `\040`.
    static func unescaped(_ field: Substring) -> String {
        guard field.utf8.contains(UInt8(ascii: "\\")) else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// `/proc/PID/cgroup`: where a process is in each tree, as paths from the tree's root.
package struct CgroupMembership: Equatable, Sendable {
    /// In the v2 tree; nil where there is none.
    package var unified: String?
    /// In the v1 trees, by controller.
    package var controllers: [String: String] = [:]

    package init(of pid: Int32) throws(LinuxError) {
        self.init(try Files.text("/proc/\(pid)/cgroup", limit: 65_536))
    }

    package init(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            let path = String(fields[2])
            if fields[0] == "0", fields[1].isEmpty {
                unified = path
            } else {
                for controller in fields[1].split(separator: ",") {
                    controllers[String(controller)] = path
                }
            }
        }
    }
}
