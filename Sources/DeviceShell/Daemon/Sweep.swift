internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Takes away what was left behind and nobody will use again. What may still be in use stays.
enum Sweep {
    /// Of commands that were asked for once so many logs are kept, the newest.
    static let commandLogs = 200

    /// Halves of files whose writers are gone (`Files.replace`); in a directory that is not ours
    /// alone, only those of a file of ours.
    static func temporaries(in directory: String, of file: String? = nil) {
        for name in (try? Files.list(directory)) ?? [] {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count > 2, parts[parts.count - 1] == "new",
                let pid = Int32(parts[parts.count - 2]), isGone(pid),
                file.map({ name == "\($0).\(pid).new" }) ?? true
            else { continue }
            try? Files.remove(directory + "/" + name)
        }
    }

    /// Cgroups in which daemons that are gone tried something; only empty ones can be taken away.
    static func trials(in directory: String) {
        for name in (try? Files.list(directory)) ?? [] where name.hasPrefix("trial-") {
            guard let pid = Int32(name.dropFirst("trial-".count)), isGone(pid) else { continue }
            try? Files.removeDirectory(directory + "/" + name)
        }
    }

    /// Logs of apps that nobody knows any more, and of too many commands.
    static func logs(in directory: String, of device: borrowing Device) {
        var commands: [(path: String, modified: Int64)] = []
        for name in (try? Files.list(directory)) ?? [] where name.hasSuffix(suffix) {
            let path = directory + "/" + name
            let app = AppID(String(name.dropLast(suffix.count)))
            guard let status = Files.status(path, followLinks: false) else { continue }
            guard let index = device.apps.index(of: app) else {
                remove(path)
                continue
            }
            let state = device.apps[index]
            if state.isTransient, state.requests.isEmpty, state.launches.isEmpty {
                commands.append((path, status.modified))
            }
        }
        commands.sort { ($0.modified, $0.path) > ($1.modified, $1.path) }
        for command in commands.dropFirst(commandLogs) { remove(command.path) }
    }

    /// Files of sessions that no transfer has: a daemon was killed before it removed them.
    static func transfers(in directory: String, of device: borrowing Device) {
        for app in (try? Files.list(directory)) ?? [] {
            let known = device.transferFileNames(of: AppID(app))
            let names = (try? Files.list("\(directory)/\(app)")) ?? []
            for name in names where isOfTransfer(name) && !known.contains(name) {
                try? Files.remove("\(directory)/\(app)/\(name)")
            }
        }
    }

    private static func isOfTransfer(_ name: String) -> Bool {
        name.hasSuffix(".download") || name.hasPrefix(".offstage-") && name.hasSuffix(".part")
    }

    private static let suffix = DaemonPaths.logSuffix

    private static func remove(_ log: String) {
        for path in [log, log + ".1"] { try? Files.remove(path) }
    }

    /// A number that somebody else has by now may be one of ours: then it stays for once. With our
    /// own we have left nothing yet; in a container each daemon may have the same.
    private static func isGone(_ pid: Int32) -> Bool {
        pid == CurrentProcess.pid || ProcessStatus(of: pid).map(\.hasEnded) ?? true
    }
}
