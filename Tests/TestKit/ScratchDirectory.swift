package import Linux
import Synchronization
import Vocabulary

/// An empty directory of one test, gone with it. Its path is short enough for a socket.
package final class ScratchDirectory: Sendable {
    package let path: String

    private static let serial = Atomic<Int>(0)

    /// `owner`: nil is whoever runs the tests. `parent`: where it is made.
    package init(owner: User? = nil, in parent: String = "/tmp") {
        let number = Self.serial.add(1, ordering: .relaxed).newValue
        // The clock keeps two runs apart that were given the same process number.
        let stamp = String(UInt64(Clocks.boot().nanoseconds) & 0xff_ffff, radix: 36)
        path = "\(parent)/offstage-\(CurrentProcess.pid)-\(number)\(stamp)"
        do {
            try Files.makeDirectory(path, permissions: 0o700)
            if let owner { try Files.setOwner(path, user: owner.user, group: owner.group) }
        } catch {
            fatalError("\(error)")
        }
    }

    deinit { try? Files.removeTree(path) }

    /// The path of an entry, which need not exist.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// The names of the entries, sorted.
    package var entries: [String] { (try? Files.list(path)) ?? [] }

    package func write(_ bytes: [UInt8], to name: String) {
        do {
            try FileDescriptor(opening: self(name), [.writing, .create, .truncate])
                .writeAll(bytes.span)
        } catch {
            fatalError("\(error)")
        }
    }

    package func write(_ text: String, to name: String) { write(Array(text.utf8), to: name) }

    /// Writes a file below it, directories included; returns its path.
    @discardableResult
    package func write(
        _ name: String,
        _ text: String,
        permissions: UInt32 = 0o644
    ) throws -> String {
        let path = self(name)
        try Files.makeDirectory(Files.directory(of: path), permissions: 0o755, parents: true)
        try Files.replace(path, with: text, permissions: permissions)
        if permissions & 0o111 == 0 {
            try Files.setPermissions(path, permissions)
        } else {
            // Copied by a process of one thread: a program that another test starts just now could
            // hold our descriptor for a moment, and running the file would fail with "busy".
            try Files.rename(path, to: path + ".new")
            let mode = String(permissions, radix: 8)
            let copied = try Command("install", "-m", mode, path + ".new", path).run()
            guard copied.succeeded else { throw DidNotHappen(description: copied.errors) }
            try Files.remove(path + ".new")
        }
        return path
    }

    /// The bytes of a file; nil when it cannot be read.
    package func bytes(of name: String) -> [UInt8]? {
        try? Files.read(self(name), limit: 1 << 30)
    }

    package func read(_ name: String) throws -> String { try Files.text(self(name)) }
}
