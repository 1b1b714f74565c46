import Linux

/// A file system of its own at a path, with little room.
package struct SmallDisk {
    private let path: String
    private var filler: String { path + "/filler" }

    /// Nil: it cannot be mounted.
    package init?(at path: String, megabytes: Int = 16) {
        self.path = path
        let options = "size=\(megabytes)m,mode=700"
        let mount = Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", path)
        guard (try? mount.run())?.succeeded == true else { return nil }
    }

    package func unmount() { _ = try? Command("umount", "-l", path).run() }

    package static let isPossible: Bool = {
        let scratch = ScratchDirectory()
        guard Command.runsAsRoot, let disk = SmallDisk(at: scratch.path) else { return false }
        disk.unmount()
        return true
    }()

    /// Writes until nothing fits any more.
    package func fill() throws {
        let file = try FileDescriptor(opening: filler, [.writing, .create, .append])
        var piece = 1 << 16
        while piece > 0 {
            do {
                try file.writeAll([UInt8](repeating: 0, count: piece).span)
            } catch {
                piece /= 4
            }
        }
    }

    /// There is room again.
    package func free() { try? Files.remove(filler) }
}
