#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// --- system calls by name ---------------------------------------------------------------------

#define CALL(name) {#name, SYS_##name}

// Those of every machine; then those that only older machines have, and those that the headers we
// are built with may not know.
static const struct {
    const char *name;
    int number;
} calls[] = {
    CALL(accept), CALL(accept4), CALL(acct), CALL(add_key), CALL(bind), CALL(bpf), CALL(brk),
    CALL(chroot), CALL(clock_getres), CALL(clock_gettime), CALL(clock_nanosleep), CALL(clone),
    CALL(clone3), CALL(close), CALL(connect), CALL(delete_module), CALL(dup), CALL(epoll_create1),
    CALL(epoll_ctl), CALL(epoll_pwait), CALL(epoll_pwait2), CALL(eventfd2), CALL(execve),
    CALL(execveat), CALL(exit), CALL(exit_group), CALL(faccessat), CALL(faccessat2),
    CALL(fadvise64), CALL(fallocate), CALL(fcntl), CALL(fdatasync), CALL(finit_module),
    CALL(fstat), CALL(fstatfs), CALL(fsync), CALL(ftruncate), CALL(futex), CALL(getcpu),
    CALL(getdents64), CALL(getegid), CALL(geteuid), CALL(getgid), CALL(getpeername), CALL(getpid),
    CALL(getppid), CALL(getrandom), CALL(getsockname), CALL(getsockopt), CALL(gettid),
    CALL(gettimeofday), CALL(getuid), CALL(init_module), CALL(io_uring_enter),
    CALL(io_uring_register), CALL(io_uring_setup), CALL(ioctl), CALL(kexec_load), CALL(keyctl),
    CALL(landlock_restrict_self), CALL(lseek), CALL(madvise), CALL(membarrier), CALL(mmap),
    CALL(mount), CALL(move_mount), CALL(mprotect), CALL(mremap), CALL(munmap), CALL(nanosleep),
    CALL(newfstatat), CALL(open_by_handle_at), CALL(open_tree), CALL(openat), CALL(perf_event_open),
    CALL(personality), CALL(pidfd_getfd), CALL(pipe2), CALL(pivot_root), CALL(pkey_mprotect),
    CALL(ppoll), CALL(prctl), CALL(pread64), CALL(preadv), CALL(prlimit64), CALL(process_vm_readv),
    CALL(process_vm_writev), CALL(pselect6), CALL(ptrace), CALL(pwrite64), CALL(pwritev),
    CALL(read), CALL(readv), CALL(reboot), CALL(recvfrom), CALL(recvmmsg), CALL(recvmsg),
    CALL(request_key), CALL(restart_syscall), CALL(rt_sigaction), CALL(rt_sigprocmask),
    CALL(rt_sigreturn), CALL(rt_sigtimedwait), CALL(sched_getaffinity), CALL(sched_yield),
    CALL(seccomp), CALL(sendmmsg), CALL(sendmsg), CALL(sendto), CALL(set_robust_list),
    CALL(setfsgid), CALL(setfsuid), CALL(setgid), CALL(setgroups), CALL(setns), CALL(setregid),
    CALL(setresgid), CALL(setresuid), CALL(setreuid), CALL(setsockopt), CALL(setuid),
    CALL(shutdown), CALL(sigaltstack), CALL(signalfd4), CALL(socket), CALL(socketpair),
    CALL(statx), CALL(swapoff), CALL(swapon), CALL(syncfs), CALL(sysinfo), CALL(tgkill),
    CALL(timerfd_create), CALL(timerfd_gettime), CALL(timerfd_settime), CALL(umount2), CALL(uname),
    CALL(unshare), CALL(userfaultfd), CALL(waitid), CALL(write), CALL(writev),
#ifdef SYS_access
    CALL(access), CALL(arch_prctl), CALL(epoll_wait), CALL(fork), CALL(lstat), CALL(open),
    CALL(poll), CALL(select), CALL(stat), CALL(time), CALL(vfork),
#endif
#ifdef SYS_kexec_file_load
    CALL(kexec_file_load),
#endif
#ifdef SYS_rseq
    CALL(rseq),
#endif
#ifdef SYS_futex_wait
    CALL(futex_wait), CALL(futex_wake),
#endif
};

int clinux_call_number(const char *name) {
    for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
        if (strcmp(calls[index].name, name) == 0) return calls[index].number;
    }
    return -1;
}

// --- the filter of system calls ---------------------------------------------------------------

_Static_assert(sizeof(struct clinux_filter_step) == sizeof(struct sock_filter), "one layout");

uint32_t clinux_filter_machine(void) {
#if defined(__x86_64__)
    return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    return AUDIT_ARCH_AARCH64;
#else
    return 0;
#endif
}

int clinux_can_filter_calls(void) {
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return clinux_filter_machine() != 0
        && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int clinux_filter_calls(const struct clinux_filter_step *steps, size_t count) {
    struct sock_fprog program = {
        .len = (unsigned short)count, .filter = (struct sock_filter *)(uintptr_t)steps};
    if (count > BPF_MAXINSNS) {
        errno = E2BIG;
        return -1;
    }
    // For all threads, or for none: then it returns the number of one that cannot.
    long result = syscall(
        SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (result > 0) errno = ESRCH;
    return result == 0 ? 0 : -1;
}

// --- Landlock ---------------------------------------------------------------------------------

// As the kernel's headers have them; those of Debian 12 know less than newer kernels.
enum {
    LANDLOCK_CREATE_RULESET = 444,
    LANDLOCK_ADD_RULE = 445,
    LANDLOCK_RESTRICT_SELF = 446,
    LANDLOCK_VERSION = 1,
    LANDLOCK_PATH_BENEATH = 1,
};

struct ruleset {
    uint64_t files, network, scoped;
};

struct __attribute__((packed)) path_beneath {
    uint64_t allowed;
    int32_t parent;
};

int clinux_landlock_version(void) {
    return (int)syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);
}

int clinux_landlock_create(uint64_t files, uint64_t network, uint64_t scoped) {
    struct ruleset ruleset = {files, network, scoped};
    // A kernel knows only what it has fields for; zeros after them are let through.
    return (int)syscall(LANDLOCK_CREATE_RULESET, &ruleset, sizeof ruleset, 0);
}

int clinux_landlock_allow(int ruleset, int parent, uint64_t allowed) {
    struct path_beneath rule = {allowed, parent};
    return (int)syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0);
}

int clinux_landlock_restrict(int ruleset) {
    return (int)syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0);
}

// --- privileges -------------------------------------------------------------------------------

int clinux_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int clinux_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return -1;
    return (int)syscall(SYS_capset, &header, none);
}

int clinux_set_thread_stack(size_t bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, bytes);
    if (error == 0) error = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    errno = error;
    return error == 0 ? 0 : -1;
}
