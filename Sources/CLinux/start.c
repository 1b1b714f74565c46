#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

struct report {
    int stage;
    int error;
};

// --- in the child: system calls only, no allocation, no locks -----------------------------------

static size_t decimal(char *out, uint64_t number) {
    char digits[20];
    size_t count = 0, written = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        out[written++] = digits[--count];
    }
    return written;
}

// Field 22 of /proc/self/stat; the fields are counted from the last ')', which ends the name.
static uint64_t own_start_time(void) {
    char text[1024];
    int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    ssize_t count = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (count <= 0) return 0;
    text[count] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    uint64_t ticks = 0;
    for (at = at == NULL ? text + count : at + 1; *at >= '0' && *at <= '9'; at++) {
        ticks = ticks * 10 + (uint64_t)(*at - '0');
    }
    return ticks;
}

static int write_all(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

static _Noreturn void fail(int report, int marker, int stage) {
    struct report what = {.stage = stage, .error = errno};
    // A parent that no longer listens must not turn the exit status into a SIGPIPE.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe, NULL);
    if (marker >= 0 && stage >= CLINUX_STAGE_MARKER) {
        char line[64] = "failed ";
        size_t length = strlen(line);
        length += decimal(line + length, (uint64_t)stage);
        line[length++] = ' ';
        length += decimal(line + length, (uint64_t)what.error);
        line[length++] = '\n';
        write_all(marker, line, length);
    }
    write_all(report, (const char *)&what, sizeof what);
    _exit(127);
}

// A parent that comes after ours, and finds nobody in the marker, voids or deletes it: it will
// never know of this process. It reads after it has voided, and this looks after it has written,
// so one of the two sees the other.
static int is_void(int marker) {
    struct stat status;
    if (fstat(marker, &status) < 0) return 1;
    if (status.st_nlink > 0 && (status.st_mode & CLINUX_VOID_MARKER) == 0) return 0;
    errno = ESTALE;
    return 1;
}

static void reset_signals(void) {
    // The kernel's own call: glibc's leaves out its internal signals, which a parent started by
    // posix_spawn ignores. All zero is the default action; KILL and STOP fail, as they should.
    const uint64_t action[8] = {0};
    for (int number = 1; number < NSIG; number++) {
        syscall(SYS_rt_sigaction, number, action, NULL, sizeof(uint64_t));
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Moves what is needed out of the way first, so that any numbers may be given in any order.
static int place_descriptors(const struct clinux_start *start, int *report, int *marker) {
    int count = 3 + (int)start->passed_count;
    int source[3 + CLINUX_MAX_PASSED];
    int given[3] = {start->input, start->output, start->error};
    *report = fcntl(*report, F_DUPFD_CLOEXEC, count);
    if (*report < 0) return -1;
    if (*marker >= 0 && (*marker = fcntl(*marker, F_DUPFD_CLOEXEC, count)) < 0) return -1;
    for (int target = 0; target < count; target++) {
        int from = target < 3 ? given[target] : start->passed[target - 3];
        if (from < 0) {
            int null = open("/dev/null", O_RDWR | O_CLOEXEC);
            if (null < 0) return -1;
            source[target] = fcntl(null, F_DUPFD_CLOEXEC, count);
        } else {
            source[target] = fcntl(from, F_DUPFD_CLOEXEC, count);
        }
        if (source[target] < 0) return -1;
    }
    for (int target = 0; target < count; target++) {
        if (dup2(source[target], target) < 0) return -1;
    }
    // Whatever a library opened without close-on-exec stays here. Unknown before Linux 5.11.
    syscall(SYS_close_range, (unsigned)count, ~0U, CLOSE_RANGE_CLOEXEC);
    return 0;
}

static _Noreturn void run_child(const struct clinux_start *start, int report) {
    int marker = start->marker;
    reset_signals();
    // By itself and into `tasks`: a move of another process, or of a thread group, waits for all
    // processors to pass by, which takes tens of milliseconds.
    for (size_t index = 0; index < start->join_count; index++) {
        if (write_all(start->join[index], "0", 1) < 0) fail(report, marker, CLINUX_STAGE_CGROUP);
    }
    if (start->new_session && setsid() < 0) fail(report, marker, CLINUX_STAGE_SESSION);
    // Before the limits: a parent with many open files has no free number below them.
    if (place_descriptors(start, &report, &marker) < 0)
        fail(report, marker, CLINUX_STAGE_DESCRIPTORS);
    for (size_t index = 0; index < start->limit_count; index++) {
        struct rlimit limit = {start->limits[index].soft, start->limits[index].hard};
        if (setrlimit(start->limits[index].resource, &limit) < 0)
            fail(report, marker, CLINUX_STAGE_LIMITS);
    }
    if (start->controlling_terminal && ioctl(0, TIOCSCTTY, 0) < 0)
        fail(report, marker, CLINUX_STAGE_TERMINAL);
    // Not glibc's functions: they wait for the threads of the parent, which are not here.
    if (start->change_user
        && (syscall(SYS_setgroups, 0, NULL) < 0
            || syscall(SYS_setresgid, start->group, start->group, start->group) < 0
            || syscall(SYS_setresuid, start->user, start->user, start->user) < 0))
        fail(report, marker, CLINUX_STAGE_USER);
    if (start->directory != NULL && chdir(start->directory) < 0)
        fail(report, marker, CLINUX_STAGE_DIRECTORY);
    if (marker >= 0) {
        char line[64];
        size_t length = decimal(line, (uint64_t)getpid());
        line[length++] = ' ';
        length += decimal(line + length, own_start_time());
        line[length++] = '\n';
        if (write_all(marker, line, length) < 0 || is_void(marker))
            fail(report, marker, CLINUX_STAGE_MARKER);
    }
    execve(start->path, start->arguments, start->environment);
    fail(report, marker, CLINUX_STAGE_EXECUTE);
}

// --- in the parent ------------------------------------------------------------------------------

static pid_t clone_child(int cgroup, int *pidfd) {
    struct clone_args arguments = {0};
    arguments.flags = CLONE_PIDFD;
    arguments.pidfd = (uint64_t)(uintptr_t)pidfd;
    arguments.exit_signal = SIGCHLD;
    if (cgroup >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (uint64_t)cgroup;
    }
    pid_t pid = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    // Containers refuse calls that their filters do not know or cannot look into. Without a cgroup
    // to be born in, the older call does the same.
    if (pid >= 0 || cgroup >= 0 || (errno != ENOSYS && errno != EPERM)) return pid;
#if defined(__s390x__)
    return (pid_t)syscall(SYS_clone, NULL, CLONE_PIDFD | SIGCHLD, pidfd, NULL, 0);
#else
    return (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL, 0);
#endif
}

static int failed(struct clinux_started *started, int stage, int error) {
    if (started->pidfd >= 0) {
        syscall(SYS_pidfd_send_signal, started->pidfd, SIGKILL, NULL, 0);
        siginfo_t information;
        while (waitid(P_PIDFD, (id_t)started->pidfd, &information, WEXITED) < 0 && errno == EINTR) {
        }
        close(started->pidfd);
    }
    *started = (struct clinux_started){.pid = 0, .pidfd = -1, .stage = stage, .error = error};
    errno = error;
    return -1;
}

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// 1: the child reported a failure; 0: the pipe closed (execve, or killed before); -1: no news.
static int await_report(int descriptor, int limit, struct report *report) {
    int64_t end = milliseconds_now() + limit;
    for (;;) {
        int64_t left = end - milliseconds_now();
        struct pollfd poller = {.fd = descriptor, .events = POLLIN};
        int ready = poll(&poller, 1, left < 0 ? 0 : (int)left);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return -1;
        ssize_t count = read(descriptor, report, sizeof *report);
        if (count < 0 && errno == EINTR) continue;
        return count == (ssize_t)sizeof *report;
    }
}

int clinux_start(const struct clinux_start *start, struct clinux_started *started) {
    int report[2];
    *started = (struct clinux_started){.pid = 0, .pidfd = -1};
    if (start->passed_count > CLINUX_MAX_PASSED)
        return failed(started, CLINUX_STAGE_DESCRIPTORS, E2BIG);
    if (pipe2(report, O_CLOEXEC) < 0) return failed(started, CLINUX_STAGE_PIPE, errno);
    // No handler of ours may run in the child before it has reset them.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone_child(start->cgroup, &started->pidfd);
    int error = errno;
    if (pid == 0) run_child(start, report[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    int stage = CLINUX_STAGE_NONE;
    if (pid < 0) {
        started->pidfd = -1;
        stage = CLINUX_STAGE_CLONE;
    } else {
        started->pid = pid;
        struct report what;
        if (await_report(report[0], start->wait_milliseconds, &what) > 0) {
            stage = what.stage;
            error = what.error;
        }
    }
    close(report[0]);
    return stage == CLINUX_STAGE_NONE ? 0 : failed(started, stage, error);
}
