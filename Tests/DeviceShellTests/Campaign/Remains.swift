import DeviceShell
import Linux
import TestKit

/// What there is of a daemon on the machine; after its end, what it has left behind.
struct Remains {
    let scratch: ScratchDirectory

    /// Processes that know its socket, or are its own; how each was called.
    var processes: [(identity: ProcessIdentity, commandLine: String)] {
        ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }.compactMap { pid in
            guard pid != CurrentProcess.pid, let identity = ProcessIdentity(of: pid),
                identity.isAlive
            else { return nil }
            func text(_ name: String) -> String {
                (try? Files.text("/proc/\(pid)/\(name)", limit: 1 << 20)) ?? ""
            }
            let commandLine = text("cmdline").replacing("\0", with: " ")
            guard
                text("environ").contains("OFFSTAGE_SOCKET=\(scratch.path)/")
                    || commandLine.contains(scratch.path + "/")
            else { return nil }
            return (identity, "process \(pid): \(commandLine)")
        }
    }

    var keepers: [(identity: ProcessIdentity, commandLine: String)] {
        processes.filter { $0.commandLine.contains("--keeper") }
    }

    /// Directories of its launches, in all hierarchies.
    var groups: [String] {
        let name = ControlProbe.name(forState: scratch("state"))
        let roots = ((try? Mounts())?.entries ?? []).filter { $0.type.hasPrefix("cgroup") }
        return roots.flatMap { Self.directories(below: $0.path, around: name) }
    }

    private static func directories(below path: String, around name: String) -> [String] {
        let names = ((try? Files.list(path)) ?? []).filter {
            Files.status(path + "/" + $0, followLinks: false)?.kind == .directory
        }
        return names.flatMap { entry in
            let inner = path + "/" + entry
            let isOurs = inner.contains("/\(name)")
            return directories(below: inner, around: name) + (isOurs ? [inner] : [])
        }
    }

    var markers: [String] { files.filter { Files.name(of: $0).hasPrefix("launch-") } }

    /// Halves of files that were being replaced.
    var temporaryFiles: [String] { files.filter { $0.hasSuffix(".new") } }

    var sockets: [String] {
        files.filter {
            Files.status($0, followLinks: false)?.kind == .socket && !$0.hasSuffix("/notify")
        }
    }

    private var files: [String] {
        func below(_ path: String) -> [String] {
            ((try? Files.list(path)) ?? []).flatMap { name -> [String] in
                let inner = path + "/" + name
                let isDirectory = Files.status(inner, followLinks: false)?.kind == .directory
                return isDirectory ? below(inner) : [inner]
            }
        }
        return below(scratch.path)
    }

    /// Ends and removes what is left, so that the next finds the machine as it was.
    func clear() {
        let left = processes.map(\.identity)
        for process in left { try? PidFD(of: process).send(Signal.kill) }
        try? Wait.untilGone(left)
        for group in groups { try? Files.removeDirectory(group) }
    }
}
