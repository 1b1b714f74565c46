internal import Linux

/// Who runs a program now.
enum RunningProgram {
    /// The processes that run the file at `path`, as their program or as the script of
    /// `interpreter`; those of which we may know it. The file itself is not opened: who watches it
    /// would hear of that.
    static func processes(of path: String, interpreter: String?) -> [Int32] {
        let file = Files.resolved(path) ?? path
        return ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }.filter { pid in
            guard let program = Files.linkTarget("/proc/\(pid)/exe") else { return false }
            if program == file { return true }
            return program == interpreter && script(of: pid, is: file)
        }
    }

    /// Which program runs the script at `path`, as its first line says; nil: it is no script.
    static func interpreter(of path: String) -> String? {
        firstLine(of: Files.resolved(path) ?? path)?.program
    }

    /// Whether a process runs the script at `path` as the kernel starts one: its program is the
    /// interpreter that the first line names, and it was given what that line gives, then the
    /// script, before anything else. No option of the interpreter's comes between, since an option
    /// can be a program itself.
    ///
    /// A process can change what is read here of its arguments, and where it is; so it is what its
    /// user says it is, no more.
    static func isScript(_ path: String, of pid: Int32) -> Bool {
        guard let file = Files.resolved(path), let line = firstLine(of: file),
            let program = line.program, let given = line.given,
            Files.linkTarget("/proc/\(pid)/exe") == program
        else { return false }
        let words = arguments(of: pid).dropFirst()
        guard words.starts(with: given), let script = words.dropFirst(given.count).first else {
            return false
        }
        return resolved(script, of: pid) == file
    }

    private struct FirstLine {
        /// The interpreter's file; nil: it is not there.
        var program: String?
        /// What it is given before the script; nil: more than is looked into here.
        var given: [String]?
    }

    /// Nil: it is no script.
    private static func firstLine(of file: String) -> FirstLine? {
        guard
            let start = try? FileDescriptor(opening: file, [.reading, .nonBlocking])
                .read(at: 0, count: 256), start.starts(with: "#!".utf8)
        else { return nil }
        let line = String(decoding: start.dropFirst(2).prefix { $0 != 10 }, as: UTF8.self)
        let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let first = words.first else { return nil }
        let rest = Array(words.dropFirst())
        guard Files.name(of: first) == "env" else {
            // The kernel gives all that follows as one word.
            let given = rest.isEmpty ? [] : [rest.joined(separator: " ")]
            return FirstLine(program: Files.resolved(first), given: given)
        }
        guard let index = rest.firstIndex(where: { !$0.hasPrefix("-") && !$0.contains("=") })
        else { return nil }
        let searchPath = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        let program = Files.executable(rest[index], searchPath: searchPath)
            .flatMap { Files.resolved($0) }
        let isPlain = index == 0 ? rest.count == 1 : index == 1 && rest[0] == "-S"
        return FirstLine(program: program, given: isPlain ? Array(rest[(index + 1)...]) : nil)
    }

    private static func arguments(of pid: Int32) -> [String] {
        guard
            let text = try? FileDescriptor(opening: "/proc/\(pid)/cmdline", .reading)
                .read(at: 0, count: 16_384)
        else { return [] }
        return text.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// A path as the process means it, unless it has gone elsewhere.
    private static func resolved(_ path: String, of pid: Int32) -> String? {
        Files.resolved(path.hasPrefix("/") ? path : "/proc/\(pid)/cwd/" + path)
    }

    /// An interpreter gets its script after its own name and at most a few options.
    private static func script(of pid: Int32, is file: String) -> Bool {
        arguments(of: pid).prefix(4).dropFirst().contains { resolved($0, of: pid) == file }
    }
}
