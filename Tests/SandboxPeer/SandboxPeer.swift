import CCallFilter
import CTestKit
import Glibc
import NetworkShell

/// A process in the sandbox of the network process that tries what it is told: its exit status is
/// the errno of the refusal, or 0.
///
/// `SandboxPeer [--without PART]… ATTEMPT PATH`. With `run PROGRAM ARGUMENT…` in place of the
/// attempt there is no sandbox of our own.
@main
enum SandboxPeer {
    static func main() throws {
        var words = Array(CommandLine.arguments.dropFirst())
        while words.first == "--without" {
            try refuse(words[1])
            words.removeFirst(2)
        }
        guard words.count >= 2 else { exit(254) }
        if words[0] == "run" {
            var arguments = words.dropFirst().map { strdup($0) } + [nil]
            execv(words[1], &arguments)
            exit(253)
        }
        _ = try Sandbox()
        exit(testkit_attempt(words[0], words[1]))
    }

    private static func refuse(_ part: String) throws {
        let result =
            switch part {
            case "files": call_filter_refuse_landlock()
            case "calls": call_filter_refuse_seccomp()
            case "user": call_filter_refuse_other_users()
            default: Int32(-1)
            }
        if result != 0 { exit(252) }
    }
}
