@testable import DeviceShell
import DeviceCore
import Linux
import Testing
import Vocabulary

/// Only what the kernel says of the program itself is the app's own failure.
struct StartFailureTests {
    @Test(arguments: [
        ("execve", Errno.noEntry, StartFailure.Cause.program), ("execve", .access, .program),
        ("execve", .badFormat, .program), ("chdir", .noEntry, .program),
        ("chdir", .access, .program), ("execve", .noMemory, .processes),
        ("execve", .again, .processes), ("chdir", .tooManyFilesInSystem, .processes),
        ("clone3", .again, .processes), ("clone3", .noMemory, .processes),
        ("pipe2", .tooManyFiles, .processes), ("dup2", .tooManyFiles, .processes),
        ("tasks", .noSpace, .processes), ("mkdir", .noSpace, .processes),
        ("write marker", .noSpace, .storage), ("setrlimit", .permission, .processes),
        ("mkdir", .noEntry, .groups), ("open", .noEntry, .groups), ("clone3", .noDevice, .groups),
        ("tasks", .noEntry, .groups), ("TIOCSCTTY", .noDevice, .processes),
    ])
    func `each step of a start has an owner`(
        _ operation: String,
        _ errno: Errno,
        _ cause: StartFailure.Cause
    ) {
        let spec = ProcessSpec(app: AppID("app"), arguments: ["/no/such"])
        let failure = StartFailure(starting: LinuxError(operation, "x", errno), spec)
        #expect(failure.cause == cause)
    }

    @Test(arguments: [
        (Errno.noSpace, StartFailure.Cause.storage), (.readOnly, .storage), (.access, .storage),
        (.noEntry, .storage), (.tooManyFiles, .processes), (.noMemory, .processes),
    ])
    func `a file of ours that cannot be written is no failure of the app`(
        _ errno: Errno,
        _ cause: StartFailure.Cause
    ) {
        #expect(StartFailure(writing: LinuxError("open", "/state", errno)).cause == cause)
    }
}
