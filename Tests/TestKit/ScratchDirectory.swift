import Glibc

/// An empty directory of one test, gone with it. Its path is short enough for a socket.
package final class ScratchDirectory {
    package let path: String

    package init() {
        var template = Array("/tmp/offstage-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("mkdtemp: \(errno)") }
        path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    deinit { Self.remove(path) }

    /// The path of an entry, which need not exist.
    package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of the entries, sorted.
    package var entries: [String] { Self.entries(of: path) }

    package func write(_ bytes: [UInt8], to name: String) {
        let descriptor = open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
    }

    package func write(_ text: String, to name: String) { write(Array(text.utf8), to: name) }

    /// The bytes of a file; nil when it cannot be read.
    package func bytes(of name: String) -> [UInt8]? {
        let descriptor = open(self(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    private static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for entry in entries(of: path) { remove("\(path)/\(entry)") }
        rmdir(path)
    }
}
