internal import CLinux
internal import Glibc

/// What a process can give up, for good.
extension CurrentProcess {
    /// No program that it executes has more rights than it has.
    package static func refuseNewPrivileges() throws(LinuxError) {
        try check(clinux_set_no_new_privileges(), "prctl", "PR_SET_NO_NEW_PRIVS")
    }

    /// The user and the group to whom no file should belong, without further groups.
    package static func becomeNobody() throws(LinuxError) {
        let nobody: UInt32 = 65_534
        try check(clinux_become(nobody, nobody), "setresuid", "nobody")
    }

    /// Nobody but root may trace it or read its memory, and it leaves no core dump. A change of the
    /// user undoes that.
    package static func hideMemory() throws(LinuxError) {
        try check(clinux_set_undumpable(), "prctl", "PR_SET_DUMPABLE")
    }

    /// Of the calling thread: call before the first other one.
    package static func dropCapabilities() throws(LinuxError) {
        try check(clinux_drop_capabilities(), "capset")
    }

    /// Of threads that libraries start. The usual 8 MB count against a limit of our memory.
    package static func setThreadStack(_ bytes: Int) throws(LinuxError) {
        try check(clinux_set_thread_stack(bytes), "pthread_setattr_default_np")
    }

    /// A library that others will look for by this name; it stays. Of one that is not there nothing
    /// is said.
    package static func loadLibrary(_ name: String) { _ = unsafe dlopen(name, RTLD_NOW) }
}
