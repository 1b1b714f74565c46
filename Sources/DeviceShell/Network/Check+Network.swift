internal import DeviceCore
internal import Vocabulary
internal import Wire

/// What `offstage doctor` says of the process that fetches.
extension Check {
    /// `problem`: why there is none, or was none when it was wanted last.
    static func network(
        _ program: String,
        isThere: Bool,
        isRunning: Bool,
        problem: String?
    ) -> Check {
        let name = "network process"
        guard isThere else {
            return Check(
                name,
                ok: false,
                "\(program) is not there, or no program",
                lost: "transfers wait",
                fix: "as root: apt install offstage, or make install"
            )
        }
        guard let problem else {
            let found = isRunning ? "runs" : "starts when there is something to fetch"
            return Check(name, ok: true, "\(program) \(found)")
        }
        return Check(
            name,
            ok: false,
            "\(program) does not start: \(problem)",
            lost: "transfers wait",
            fix: "it is tried again with the next transfer; or: "
                + "systemctl --user restart offstaged.service"
        )
    }

    static func sandbox(lacking part: SandboxPart) -> Check {
        let (found, lost, fix): (String, String, String) =
            switch part {
            case .privileges:
                (
                    "it could gain privileges (no_new_privs is refused)",
                    "a program with the set-user-id bit would not be held back",
                    "Linux 3.5 or later"
                )
            case .user:
                (
                    "it runs as root, and could not become another user",
                    "what root owns is kept from it by the rest of its sandbox only",
                    "run offstaged as an ordinary user, or with CAP_SETUID and CAP_SETGID"
                )
            case .files:
                (
                    "it is not kept from files (no Landlock)",
                    "a server that finds a fault in libcurl could read the user's files",
                    "Linux 5.13 or later, with landlock in the kernel's list lsm="
                )
            case .calls:
                (
                    "its system calls are not filtered (no seccomp)",
                    "a server that finds a fault in libcurl could start programs",
                    "a kernel with CONFIG_SECCOMP_FILTER"
                )
            }
        return Check("network sandbox", ok: false, found, lost: lost, fix: fix)
    }
}
