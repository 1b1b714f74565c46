package import Linux

/// What the network process asks of the kernel once it has begun: what libcurl, OpenSSL, the C
/// library's resolver, its threads and our loop need. All else fails with `EPERM`, so that a newer
/// library that tries a newer call goes on without it. What only an attack would call ends the
/// process.
extension CallFilter {
    package static var network: CallFilter {
        var filter = CallFilter()
        filter.allowEverywhere()
        filter.allowFiles()
        filter.allowSockets()
        filter.allowMemory()
        filter.allowThreads()
        filter.killAttacks()
        return filter
    }

    private mutating func allowEverywhere() {
        add(.allow, "read", "write", "readv", "writev", "close", "lseek", "exit", "exit_group")
        add(.allow, "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2")
        add(.allow, "poll", "ppoll", "select", "pselect6", "pipe2", "eventfd2", "signalfd4")
        add(.allow, "timerfd_create", "timerfd_settime", "timerfd_gettime")
        add(.allow, "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "time")
        add(.allow, "gettimeofday", "restart_syscall", "getrandom", "uname", "sysinfo")
        add(.allow, "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid")
        add(.allow, "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack")
        // abort()
        add(.allow, "tgkill", when: .argument(0, is: UInt32(CurrentProcess.pid)))
        // Limits of its own.
        add(.allow, "prlimit64", when: .argument(0, is: 0))
        // PR_SET_NAME, PR_GET_NAME, and the name of a mapping.
        add(.allow, "prctl", when: .argument(0, is: 15, 16, 0x5356_4d41))
        // Not F_SETOWN, which has the kernel send signals. Up to F_SETFL, and F_DUPFD_CLOEXEC.
        add(.allow, "fcntl", when: .argument(1, is: 0, 1, 2, 3, 4, 1030))
        // FIONBIO, FIONREAD, TCGETS: nothing that types into a terminal.
        add(.allow, "ioctl", when: .argument(1, is: 0x5421, 0x541b, 0x5401))
    }

    /// Those that are open, and to open some for reading.
    private mutating func allowFiles() {
        add(.allow, "pread64", "pwrite64", "preadv", "pwritev", "fsync", "fdatasync", "syncfs")
        add(.allow, "ftruncate", "fallocate", "fadvise64", "fstat", "fstatfs", "dup")
        // Landlock lets this pass too: names and times, no contents.
        add(.allow, "stat", "lstat", "newfstatat", "statx")
        // O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, and what tells O_TMPFILE from O_DIRECTORY.
        let writing: UInt32 = 0o3 | 0o100 | 0o1000 | 0o20_000_000
        add(.allow, "open", when: .argument(1, isWithout: writing))
        add(.allow, "openat", when: .argument(2, isWithout: writing))
        add(.refuse(.access), "open", "openat")
    }

    /// Of the Internet; and the kernel's routes, which the resolver asks for. No sockets of the
    /// machine's other programs: over those of systemd or a message bus it could start programs. So
    /// names that only such a program knows are not found.
    private mutating func allowSockets() {
        let (unix, internet, internet6, netlink): (UInt32, UInt32, UInt32, UInt32) = (1, 2, 10, 16)
        let (stream, datagram, raw): (UInt32, UInt32, UInt32) = (1, 2, 3)
        let kind: UInt32 = 0xf
        add(
            .allow,
            "socket",
            when: .argument(0, is: internet, internet6),
            .argument(1, is: stream, datagram, mask: kind),
            // Its own choice, TCP, UDP.
            .argument(2, is: 0, 6, 17)
        )
        add(
            .allow,
            "socket",
            when: .argument(0, is: netlink),
            .argument(1, is: datagram, raw, mask: kind),
            .argument(2, is: 0)
        )
        // To wake a thread. Not of datagrams, which can be sent to any other socket.
        add(
            .allow,
            "socketpair",
            when: .argument(0, is: unix),
            .argument(1, is: stream, mask: kind)
        )
        // To bind is what the resolver does with the socket of routes. Not to listen.
        add(.allow, "connect", "bind", "shutdown", "getsockname", "getpeername", "getsockopt")
        add(.allow, "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg")
        // SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_REUSEADDR; not the programs of filters.
        add(.allow, "setsockopt", when: .argument(1, is: 1), .argument(2, is: 2, 7, 8, 9))
        // IP_TOS, IP_RECVERR, their like of IPv6, and IPV6_V6ONLY.
        add(.allow, "setsockopt", when: .argument(1, is: 0), .argument(2, is: 1, 11))
        add(.allow, "setsockopt", when: .argument(1, is: 41), .argument(2, is: 25, 26, 67))
        // TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT.
        add(.allow, "setsockopt", when: .argument(1, is: 6), .argument(2, is: 1, 4, 5, 6, 18))
    }

    /// None from which code can run: what runs was loaded before.
    private mutating func allowMemory() {
        let executable: UInt32 = 4
        add(.allow, "mmap", "mprotect", when: .argument(2, isWithout: executable))
        add(.allow, "munmap", "mremap", "madvise", "brk")
    }

    private mutating func allowThreads() {
        // CLONE_VM, CLONE_SIGHAND, CLONE_THREAD: all of them, or it is a process. Not in another
        // namespace, and not traced.
        let thread: UInt32 = 0x100 | 0x800 | 0x10000
        let other: UInt32 = 0x7e02_0000 | 0x2000
        add(
            .allow,
            "clone",
            when: .argument(0, is: thread, mask: thread),
            .argument(0, isWithout: other)
        )
        add(.kill, "clone")
        // Its flags are in memory, where a filter cannot look; then the C library takes clone.
        add(.refuse(.noSystemCall), "clone3")
        add(.allow, "futex", "futex_wait", "futex_wake", "set_robust_list", "rseq")
        add(.allow, "sched_yield", "sched_getaffinity", "getcpu", "membarrier")
    }

    private mutating func killAttacks() {
        add(.kill, "execve", "execveat", "fork", "vfork")
        add(.kill, "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd")
        add(.kill, "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid")
        add(.kill, "setfsuid", "setfsgid", "setgroups", "personality")
        add(.kill, "mount", "umount2", "move_mount", "open_tree", "pivot_root", "chroot")
        add(.kill, "unshare", "setns", "open_by_handle_at")
        add(.kill, "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd")
        add(.kill, "io_uring_setup", "io_uring_enter", "io_uring_register")
        add(.kill, "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load")
        add(.kill, "reboot", "swapon", "swapoff", "acct")
    }
}
