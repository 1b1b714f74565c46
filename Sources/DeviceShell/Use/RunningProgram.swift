internal import Linux

/// Who runs a program now.
enum RunningProgram {
    /// The processes that run the file at `path`, as their program or as the script of its
    /// interpreter; those of which we may know it.
    static func processes(of path: String) -> [Int32] {
        let file = Files.resolved(path) ?? path
        let interpreter = interpreter(of: file)
        return ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }.filter { pid in
            guard let program = Files.linkTarget("/proc/\(pid)/exe") else { return false }
            if program == file { return true }
            return program == interpreter && script(of: pid, is: file)
        }
    }

    /// What the first line of a script names; nil: it is none.
    private static func interpreter(of file: String) -> String? {
        guard
            let start = try? FileDescriptor(opening: file, [.reading, .nonBlocking])
                .read(at: 0, count: 256), start.starts(with: "#!".utf8)
        else { return nil }
        let line = String(decoding: start.dropFirst(2).prefix { $0 != 10 }, as: UTF8.self)
        let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let first = words.first else { return nil }
        guard Files.name(of: first) == "env",
            let name = words.dropFirst().first(where: { !$0.hasPrefix("-") && !$0.contains("=") })
        else { return Files.resolved(first) }
        let searchPath = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        return Files.executable(name, searchPath: searchPath).flatMap { Files.resolved($0) }
    }

    /// An interpreter gets its script after its own name and at most a few options.
    private static func script(of pid: Int32, is file: String) -> Bool {
        guard
            let text = try? FileDescriptor(opening: "/proc/\(pid)/cmdline", .reading)
                .read(at: 0, count: 16_384)
        else { return false }
        let words = text.split(separator: 0, maxSplits: 4).prefix(4).dropFirst()
        return words.contains { word in
            let path = String(decoding: word, as: UTF8.self)
            return Files.resolved(path.hasPrefix("/") ? path : "/proc/\(pid)/cwd/" + path) == file
        }
    }
}
