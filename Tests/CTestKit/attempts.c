#define _GNU_SOURCE
#include "CTestKit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

// Each attempt gets a path that it may need, and returns what its call returns.
typedef long attempt(const char *path);

#define ATTEMPT(name) static long name(const char *path)
#define PLAIN(name, call)                                                                          \
    ATTEMPT(name) {                                                                                \
        (void)path;                                                                                \
        return call;                                                                               \
    }

static int tcp(void) { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP); }

// --- files

ATTEMPT(read_file) {
    char byte;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    return file < 0 ? -1 : read(file, &byte, 1);
}
ATTEMPT(list_directory) { return opendir(path) == NULL ? -1 : 0; }
ATTEMPT(write_file) { return open(path, O_WRONLY); }
ATTEMPT(write_and_read_file) { return open(path, O_RDWR); }
ATTEMPT(create_file) { return open(path, O_RDONLY | O_CREAT, 0600); }
ATTEMPT(empty_file) { return open(path, O_RDONLY | O_TRUNC); }
ATTEMPT(open_unnamed_file) { return open(path, O_TMPFILE | O_RDWR, 0600); }
ATTEMPT(truncate_file) { return truncate(path, 0); }
ATTEMPT(remove_file) { return unlink(path); }
ATTEMPT(rename_file) { return rename(path, "/tmp/offstage-renamed"); }
ATTEMPT(make_directory) { return mkdir(path, 0700); }
ATTEMPT(change_permissions) { return chmod(path, 0777); }
ATTEMPT(make_link) { return symlink("/", path); }
PLAIN(make_memory_file, memfd_create("x", 0))

// --- other programs

PLAIN(open_unix_socket, socket(AF_UNIX, SOCK_STREAM, 0))
ATTEMPT(make_datagram_pair) {
    (void)path;
    int ends[2];
    return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
}
PLAIN(open_packet_socket, socket(AF_PACKET, SOCK_RAW, 0))
PLAIN(open_raw_socket, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP))
PLAIN(open_ping_socket, socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP))
PLAIN(open_audit_socket, socket(AF_NETLINK, SOCK_RAW, 9))
PLAIN(listen_internet, listen(tcp(), 1))
ATTEMPT(bind_internet) {
    (void)path;
    struct sockaddr_in any = {.sin_family = AF_INET};
    return bind(tcp(), (struct sockaddr *)&any, sizeof any);
}
PLAIN(signal_parent, kill(getppid(), 0))
PLAIN(signal_other_thread, syscall(SYS_tgkill, 1, 1, 0))
PLAIN(own_descriptor, fcntl(tcp(), F_SETOWN, getppid()))
ATTEMPT(type_into_terminal) {
    (void)path;
    return ioctl(2, TIOCSTI, "x");
}
ATTEMPT(attach_filter) {
    (void)path;
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    struct sock_fprog program = {1, all};
    return setsockopt(tcp(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
PLAIN(use_kernel_tls, setsockopt(tcp(), IPPROTO_TCP, TCP_ULP, "tls", 4))
ATTEMPT(limit_parent) {
    (void)path;
    struct rlimit limit;
    return prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit);
}
PLAIN(become_dumpable, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))

// --- code

PLAIN(
    map_code,
    (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
ATTEMPT(make_code) {
    (void)path;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}
PLAIN(execute, execl("/bin/true", "true", NULL))
ATTEMPT(execute_descriptor) {
    (void)path;
    char *none[] = {NULL};
    return syscall(SYS_execveat, 0, "", none, none, 0x1000);
}
PLAIN(fork_process, syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0))
PLAIN(thread_in_namespace, syscall(
    SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWNET, NULL, NULL, NULL, 0))
PLAIN(clone_by_memory, syscall(SYS_clone3, NULL, 0))

// --- the kernel

PLAIN(trace, ptrace(PTRACE_TRACEME, 0, NULL, NULL))
PLAIN(read_parent, process_vm_readv(getppid(), NULL, 0, NULL, 0, 0))
PLAIN(take_descriptor, syscall(SYS_pidfd_getfd, -1, 0, 0))
PLAIN(become_root, setuid(0))
PLAIN(become_other_group, syscall(SYS_setresgid, 0, 0, 0))
PLAIN(join_groups, syscall(SYS_setgroups, 0, NULL))
PLAIN(mount_file_system, mount("none", "/mnt", "tmpfs", 0, NULL))
PLAIN(unshare_namespace, unshare(CLONE_NEWUSER))
PLAIN(enter_namespace, setns(-1, 0))
PLAIN(change_root, chroot("/"))
PLAIN(open_by_handle, syscall(SYS_open_by_handle_at, -1, NULL, 0))
PLAIN(ask_for_keys, syscall(SYS_keyctl, 0, 0))
PLAIN(load_program, syscall(SYS_bpf, 0, NULL, 0))
PLAIN(use_ring, syscall(SYS_io_uring_setup, 1, NULL))
PLAIN(count_events, syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0))
PLAIN(handle_faults, syscall(SYS_userfaultfd, 0))
PLAIN(load_module, syscall(SYS_init_module, NULL, 0, ""))
PLAIN(change_personality, syscall(SYS_personality, 0x0400000))
#if defined(__x86_64__)
PLAIN(call_as_x32, syscall(0x40000000 | 39))
#else
PLAIN(call_as_x32, (raise(SIGSYS), 0))
#endif

// --- what must work

PLAIN(open_pair, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0, 0}))
PLAIN(open_routes, socket(AF_NETLINK, SOCK_RAW, 0))
PLAIN(open_datagrams, socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
PLAIN(set_no_delay, setsockopt(tcp(), IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)))
static void *nothing(void *context) { return context; }
ATTEMPT(run_thread) {
    (void)path;
    pthread_t thread;
    errno = pthread_create(&thread, NULL, nothing, NULL);
    return errno != 0 ? -1 : pthread_join(thread, NULL);
}
ATTEMPT(look_up_name) {
    (void)path;
    struct addrinfo *found;
    return getaddrinfo("localhost", "80", NULL, &found) == 0 ? 0 : -1;
}

#define ROW(name) {#name, name}
static const struct {
    const char *name;
    attempt *run;
} attempts[] = {
    ROW(read_file), ROW(list_directory), ROW(write_file), ROW(write_and_read_file),
    ROW(create_file), ROW(empty_file), ROW(open_unnamed_file), ROW(truncate_file),
    ROW(remove_file), ROW(rename_file), ROW(make_directory), ROW(change_permissions),
    ROW(make_link), ROW(make_memory_file), ROW(open_unix_socket), ROW(make_datagram_pair),
    ROW(open_packet_socket), ROW(open_raw_socket), ROW(open_ping_socket), ROW(open_audit_socket),
    ROW(listen_internet), ROW(bind_internet), ROW(signal_parent), ROW(signal_other_thread),
    ROW(own_descriptor), ROW(type_into_terminal), ROW(attach_filter), ROW(use_kernel_tls),
    ROW(limit_parent), ROW(become_dumpable), ROW(map_code), ROW(make_code), ROW(execute),
    ROW(execute_descriptor), ROW(fork_process), ROW(thread_in_namespace),
    ROW(clone_by_memory), ROW(trace), ROW(read_parent), ROW(take_descriptor), ROW(become_root),
    ROW(become_other_group), ROW(join_groups), ROW(mount_file_system), ROW(unshare_namespace),
    ROW(enter_namespace), ROW(change_root), ROW(open_by_handle), ROW(ask_for_keys),
    ROW(load_program), ROW(use_ring), ROW(count_events), ROW(handle_faults), ROW(load_module),
    ROW(change_personality), ROW(call_as_x32), ROW(open_pair), ROW(open_routes),
    ROW(open_datagrams), ROW(set_no_delay), ROW(run_thread), ROW(look_up_name),
};

int testkit_attempt(const char *name, const char *path) {
    for (size_t index = 0; index < sizeof attempts / sizeof *attempts; index++) {
        if (strcmp(attempts[index].name, name) != 0) continue;
        errno = 0;
        return attempts[index].run(path) >= 0 ? 0 : errno != 0 ? errno : ENODATA;
    }
    return -1;
}
