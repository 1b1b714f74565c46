internal import Linux
internal import Vocabulary

/// Which locks of a frozen app may block others.
package enum FrozenLocks {
    /// Paths of files that the processes hold locked, outside `own` directories, sorted, each
    /// once, at most `limit`. Locks that can block nobody are left out: those on removed files, and
    /// shared ones on the index of a SQLite database, which every reader holds.
    package static func held(
        by pids: [Int32],
        outside own: [String],
        limit: Int = 8
    ) -> [String] {
        var paths: Set<String> = []
        for pid in pids {
            for lock in FileLock.held(by: pid) where lock.kind != .lease && mayBlock(lock) {
                let path = lock.path ?? "inode \(lock.inode) of device \(lock.device)"
                if !own.contains(where: { path == $0 || path.hasPrefix($0 + "/") }) {
                    paths.insert(path)
                }
            }
        }
        return Array(paths.sorted().prefix(limit))
    }

    private static func mayBlock(_ lock: FileLock) -> Bool {
        guard let path = lock.path else { return true }
        // Devices, pipes and memory files have no path that others could open.
        if !path.hasPrefix("/") || path.hasPrefix("/dev/") || path.hasPrefix("/memfd:") {
            return false
        }
        if path.hasSuffix(" (deleted)") { return false }
        return lock.isExclusive || !path.hasSuffix("-shm")
    }

    /// What an app calls its directories: its id, and its program's name, as the kernel knows the
    /// program that runs (the one that a wrapper such as `env` executed, the script and not its
    /// interpreter) and as its file is called.
    static func names(of app: AppID?, main pid: Int32?) -> [String] {
        var names = app.map { [$0.name] } ?? []
        guard let pid else { return names }
        if let program = ProcessStatus(of: pid)?.name { names.append(program) }
        if let file = Files.linkTarget("/proc/\(pid)/exe") {
            names.append(String(file.split(separator: "/").last ?? ""))
        }
        return names
    }

    /// The directories of an app's own: `NAME` and the name of its program in each XDG base
    /// directory and in the runtime directory, and `~/.NAME`.
    package static func ownDirectories(
        names: [String],
        home: String,
        environment: (String) -> String?
    ) -> [String] {
        var bases = BaseDirectory.allCases.map {
            $0.path(home: home, environment: environment)
        }
        if let runtime = environment("XDG_RUNTIME_DIR") { bases.append(runtime) }
        return names.filter { !$0.isEmpty && !$0.contains("/") }.flatMap { name in
            bases.map { $0 + "/" + name } + [home + "/." + name]
        }
    }
}
