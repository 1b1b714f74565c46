internal import Linux

/// Who runs a program now.
enum RunningProgram {
    /// The processes that run the file at `path`, as their program or as the script that begins
    /// with `line`; those of which we may know it. The file itself is not opened: who watches it
    /// would hear of that.
    static func processes(of path: String, _ line: FirstLine?) -> [Int32] {
        let file = Files.resolved(path) ?? path
        // By each look: another version of it may be there.
        let interpreter = line?.program
        return ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }.filter { pid in
            guard let program = Files.linkTarget("/proc/\(pid)/exe") else { return false }
            if program == file { return true }
            return program == interpreter && script(of: pid, is: file)
        }
    }

    /// Whether a process runs the script at `path` as the kernel starts one: its program is the
    /// interpreter that the first line names, and it was given what that line gives, then the
    /// script, before anything else. No option of the interpreter's comes between, since an option
    /// can be a program itself.
    ///
    /// A process can change what is read here of its arguments, and where it is; so it is what its
    /// user says it is, no more.
    static func isScript(_ path: String, of pid: Int32) -> Bool {
        guard let file = Files.resolved(path), let line = FirstLine(of: file),
            let program = line.program, let given = line.given,
            Files.linkTarget("/proc/\(pid)/exe") == program
        else { return false }
        let words = arguments(of: pid).dropFirst()
        guard words.starts(with: given), let script = words.dropFirst(given.count).first else {
            return false
        }
        return resolved(script, of: pid) == file
    }

    /// By which the kernel starts a script.
    struct FirstLine {
        /// What stands behind `#!`: a program, and what it is given.
        private let words: [String]

        /// Nil: it is no script.
        init?(of path: String) {
            let file = Files.resolved(path) ?? path
            guard
                let start = try? FileDescriptor(opening: file, [.reading, .nonBlocking])
                    .read(at: 0, count: 256), start.starts(with: "#!".utf8)
            else { return nil }
            let line = String(decoding: start.dropFirst(2).prefix { $0 != 10 }, as: UTF8.self)
            words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard !words.isEmpty else { return nil }
        }

        private var isEnv: Bool { Files.name(of: words[0]) == "env" }
        private var rest: ArraySlice<String> { words.dropFirst() }
        /// Of `env`: the program behind its options and variables.
        private var started: Int? { rest.firstIndex { !$0.hasPrefix("-") && !$0.contains("=") } }

        /// The interpreter's file; nil: it is not there.
        var program: String? {
            guard isEnv else { return Files.resolved(words[0]) }
            let path = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
            return started.flatMap { Files.executable(words[$0], searchPath: path) }
                .flatMap { Files.resolved($0) }
        }

        /// What the interpreter is given before the script; nil: more than is looked into here.
        var given: [String]? {
            // The kernel gives all that follows as one word.
            guard isEnv else { return rest.isEmpty ? [] : [rest.joined(separator: " ")] }
            guard let started else { return nil }
            let isPlain = started == 1 ? rest.count == 1 : started == 2 && words[1] == "-S"
            return isPlain ? Array(words[(started + 1)...]) : nil
        }
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
