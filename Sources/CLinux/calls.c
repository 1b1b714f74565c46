#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

// --- descriptors

int clinux_open(const char *path, int flags, mode_t mode) {
    return open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
}

int clinux_open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int clinux_set_nonblocking(int descriptor, int on) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return -1;
    return fcntl(descriptor, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int clinux_pipe(int ends[2], int nonblocking) {
    return pipe2(ends, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0));
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// --- processes

int clinux_pidfd_open(pid_t pid) { return pidfd_open(pid, 0); }

int clinux_pidfd_send_signal(int pidfd, int signal) {
    return pidfd_send_signal(pidfd, signal, NULL, 0);
}

int clinux_pidfd_wait(int pidfd, int block, int *code, int *status) {
    siginfo_t information;
    memset(&information, 0, sizeof information);
    int result;
    do {
        result = waitid(P_PIDFD, (id_t)pidfd, &information, WEXITED | (block ? 0 : WNOHANG));
    } while (result < 0 && errno == EINTR);
    *code = information.si_code;
    *status = information.si_status;
    return result;
}

// Headers older than the kernel do not have it.
struct pidfd_end_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};

int clinux_pidfd_end(int pidfd, int *status) {
    const uint64_t has_exit_code = 1 << 3;
    struct pidfd_end_info information;
    memset(&information, 0, sizeof information);
    information.mask = has_exit_code;
    // PIDFD_GET_INFO, from Linux 6.13; the exit code from 6.15.
    if (ioctl(pidfd, _IOWR(0xFF, 11, struct pidfd_end_info), &information) < 0) return -1;
    if (!(information.mask & has_exit_code)) return 0;
    *status = information.exit_code;
    return 1;
}

int clinux_become(uid_t user, gid_t group) {
    if (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0) return -1;
    return setresuid(user, user, user);
}

int clinux_set_subreaper(int on) { return prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); }

void clinux_release_free_memory(void) { malloc_trim(0); }

static int release_pages(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        // What was written to would be lost.
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        uintptr_t first = (start + page - 1) / page * page;
        uintptr_t end = (start + part->p_filesz) / page * page;
        if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 0;
}

void clinux_release_program(void) { dl_iterate_phdr(release_pages, NULL); }

void clinux_keep_free_memory(int blocks, int most) {
    mallopt(M_MMAP_THRESHOLD, blocks);
    mallopt(M_TRIM_THRESHOLD, most);
}

int clinux_get_limit(int resource, uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    int result = getrlimit(resource, &limit);
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return result;
}

int clinux_set_limit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit limit = {soft, hard};
    return setrlimit(resource, &limit);
}

int clinux_resource(int which) {
    static const int resources[] = {
        RLIMIT_CORE, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_NPROC};
    return resources[which];
}

int clinux_block_signals(const int *signals, size_t count) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t index = 0; index < count; index++) {
        if (sigaddset(&set, signals[index]) < 0) return -1;
    }
    int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
    errno = error;
    return error == 0 ? 0 : -1;
}

int clinux_ignore_signal(int signal) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    return sigaction(signal, &action, NULL);
}

int clinux_default_signal(int signal) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    return sigaction(signal, &action, NULL);
}

void clinux_print_by_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

int clinux_name_thread(const char *name) { return prctl(PR_SET_NAME, name); }

int clinux_ring(int descriptor) { return eventfd_write(descriptor, 1); }

static volatile int rung_on_signal = -1;

static void ring_on_signal(int signal) {
    (void)signal;
    int error = errno;
    uint64_t one = 1;
    // Nothing can be done about a failure here; the interrupted code must not see its errno.
    if (write(rung_on_signal, &one, sizeof one) != sizeof one) one = 0;
    errno = error;
}

int clinux_ring_on_signal(int signal, int descriptor) {
    struct sigaction action = {.sa_handler = ring_on_signal, .sa_flags = SA_RESTART};
    rung_on_signal = descriptor;
    return sigaction(signal, &action, NULL);
}

// --- sockets

int clinux_socket_unix(int nonblocking) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0);
}

static int netlink(int protocol, unsigned groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

// Group 1 is the kernel's own, group 2 udev's.
int clinux_socket_device_events(void) { return netlink(NETLINK_KOBJECT_UEVENT, 1); }

int clinux_socket_route_events(void) {
    return netlink(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
}

int clinux_drain_route_events(int descriptor) {
    char buffer[8192];
    int happened = 0;
    for (;;) {
        struct sockaddr_nl sender = {0};
        socklen_t size = sizeof sender;
        ssize_t length = recvfrom(
            descriptor, buffer, sizeof buffer, MSG_TRUNC, (struct sockaddr *)&sender, &size);
        if (length >= 0) {
            if (sender.nl_pid == 0) happened = 1;
        } else if (errno == ENOBUFS) {
            happened = 1;
        } else if (errno == EAGAIN) {
            return happened;
        } else if (errno != EINTR) {
            return -1;
        }
    }
}

int clinux_interface_runs(const char *name) {
    struct ifreq request = {0};
    if (strlen(name) >= sizeof request.ifr_name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(request.ifr_name, name);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    int code = ioctl(descriptor, SIOCGIFFLAGS, &request);
    int error = errno;
    close(descriptor);
    errno = error;
    if (code < 0) return -1;
    return (request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

ssize_t clinux_receive_device_event(int descriptor, char *buffer, size_t capacity) {
    struct sockaddr_nl sender = {0};
    socklen_t size = sizeof sender;
    ssize_t length =
        recvfrom(descriptor, buffer, capacity, 0, (struct sockaddr *)&sender, &size);
    return length > 0 && sender.nl_pid != 0 ? 0 : length;
}

int clinux_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

static int fill_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

int clinux_bind_unix(int socket, const char *path) {
    struct sockaddr_un address;
    if (fill_address(&address, path) < 0) return -1;
    return bind(socket, (const struct sockaddr *)&address, sizeof address);
}

int clinux_connect_unix(int socket, const char *path) {
    struct sockaddr_un address;
    if (fill_address(&address, path) < 0) return -1;
    return connect(socket, (const struct sockaddr *)&address, sizeof address);
}

int clinux_accept(int socket) {
    int descriptor = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    // Else a byte out of band makes the socket readable for ever, with nothing to be read.
    int on = 1;
    if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    return descriptor;
}

int clinux_peer_credentials(int socket, pid_t *pid, uid_t *user, gid_t *group) {
    struct ucred credentials = {0};
    socklen_t length = sizeof credentials;
    int result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
    *pid = credentials.pid;
    *user = credentials.uid;
    *group = credentials.gid;
    return result;
}

int clinux_peer_pidfd(int socket) {
    int pidfd = -1;
    socklen_t length = sizeof pidfd;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) < 0) return -1;
    fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    return pidfd;
}

// --- clocks

int clinux_clock_jump_timer(void) {
    int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer < 0) return -1;
    // As far away as the kernel allows: only a clock that is set makes it readable.
    struct itimerspec never = {.it_value = {.tv_sec = INT64_MAX / 1000000000}};
    if (timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0)
        return timer;
    int error = errno;
    close(timer);
    errno = error;
    return -1;
}

int64_t clinux_clock_nanoseconds(int clock) {
    static const clockid_t clocks[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME};
    struct timespec now;
    if (clock_gettime(clocks[clock], &now) < 0) abort();
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int32_t clinux_utc_offset(int64_t seconds) {
    time_t moment = (time_t)seconds;
    struct tm local;
    return localtime_r(&moment, &local) == NULL ? 0 : (int32_t)local.tm_gmtoff;
}

int clinux_set_wall_clock(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return clock_settime(CLOCK_REALTIME, &time);
}

// --- locks

static struct flock one_byte(short type, int64_t byte) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

int clinux_lock_byte(int descriptor, int64_t byte, int exclusive, int wait) {
    struct flock lock = one_byte(exclusive ? F_WRLCK : F_RDLCK, byte);
    int result;
    do {
        result = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    } while (result < 0 && errno == EINTR);
    return result;
}

int clinux_lock_file(int descriptor, int wait) {
    int result;
    do {
        result = flock(descriptor, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
    } while (result < 0 && errno == EINTR);
    return result;
}

int clinux_unlock_byte(int descriptor, int64_t byte) {
    struct flock lock = one_byte(F_UNLCK, byte);
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int clinux_byte_is_locked(int descriptor, int64_t byte) {
    // A shared lock conflicts with exclusive ones only: a keeper that waits is not a holder.
    struct flock lock = one_byte(F_RDLCK, byte);
    if (fcntl(descriptor, F_OFD_GETLK, &lock) < 0) return -1;
    return lock.l_type != F_UNLCK;
}

// --- terminals

int clinux_terminal_size(int descriptor, uint16_t *rows, uint16_t *columns) {
    struct winsize size = {0};
    int result = ioctl(descriptor, TIOCGWINSZ, &size);
    *rows = size.ws_row;
    *columns = size.ws_col;
    return result;
}
