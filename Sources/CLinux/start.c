#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

// One start, until its child executes: in memory that is shared with the child, also where that has
// a copy of all else. It outlives a caller that does not wait so long.
struct job {
    size_t size;
    struct clinux_start start;  // with copies of all that it points to
    int pidfd;
    pid_t pid;  // the rest is told by the child
    int stage;
    int error;  // of the stage, or of a clone without a child
    int has_signals_reset;
    uint64_t start_time;  // 0: not known
    sem_t done;
    int owners;
    _Alignas(16) char stack[16384];  // the child's
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

// Field 22 of /proc/self/stat, or 0 and errno. The fields are counted from the last ')', which ends
// the name.
static uint64_t own_start_time(void) {
    char text[1024];
    int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    ssize_t count = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    errno = EIO;
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

static _Noreturn void fail(struct job *job, int marker, int stage) {
    job->error = errno;
    job->stage = stage;
    if (marker >= 0 && stage >= CLINUX_STAGE_MARKER) {
        char line[64] = "failed ";
        size_t length = strlen(line);
        length += decimal(line + length, (uint64_t)stage);
        line[length++] = ' ';
        length += decimal(line + length, (uint64_t)job->error);
        line[length++] = '\n';
        write_all(marker, line, length);
    }
    _exit(CLINUX_FAILED_STATUS);
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

// The kernel's own call: glibc's leaves out its internal signals, which a parent started by
// posix_spawn ignores. All zero is the default action; KILL and STOP fail, as they should.
static void reset_signal(int number) {
    const uint64_t action[8] = {0};
    syscall(SYS_rt_sigaction, number, action, NULL, sizeof(uint64_t));
}

// Signals that this process ignores: SIGPIPE at any time, others only from its start on.
static uint64_t ignored_signals = 1ULL << (SIGPIPE - 1);

static void reset_signals(const struct job *job) {
    for (int number = 1; number < NSIG; number++) {
        // CLONE_CLEAR_SIGHAND has reset the others.
        int is_reset = job->has_signals_reset && (ignored_signals >> (number - 1) & 1) == 0;
        if (!is_reset) reset_signal(number);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Moves what is in the way first, so that any numbers may be given in any order.
static int place_descriptors(const struct clinux_start *start, int *marker) {
    int count = 3 + (int)start->passed_count;
    int source[3 + CLINUX_MAX_PASSED];
    int given[3] = {start->input, start->output, start->error};
    int null = -1;
    if (*marker >= 0 && *marker < count
        && (*marker = fcntl(*marker, F_DUPFD_CLOEXEC, count)) < 0)
        return -1;
    for (int target = 0; target < count; target++) {
        int from = target < 3 ? given[target] : start->passed[target - 3];
        if (from < 0 && null < 0) null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (from < 0) from = null;
        source[target] = from >= count ? from : fcntl(from, F_DUPFD_CLOEXEC, count);
        if (source[target] < 0) return -1;
    }
    for (int target = 0; target < count; target++) {
        if (dup2(source[target], target) < 0) return -1;
    }
    // All else is closed now: what a library opened without close-on-exec, and what nobody may hold
    // while a program takes long to be executed, such as the socket of a daemon that is gone by
    // then. Unknown before Linux 5.9.
    unsigned first = (unsigned)count;
    if (*marker >= 0) {
        if ((unsigned)*marker > first)
            syscall(SYS_close_range, first, (unsigned)*marker - 1, 0);
        first = (unsigned)*marker + 1;
    }
    syscall(SYS_close_range, first, ~0U, 0);
    return 0;
}

static _Noreturn void run_child(struct job *job) {
    const struct clinux_start *start = &job->start;
    int marker = start->marker;
    __atomic_store_n(&job->pid, getpid(), __ATOMIC_RELEASE);
    reset_signals(job);
    // By itself and into `tasks`: a move of another process, or of a thread group, waits for all
    // processors to pass by, which takes tens of milliseconds.
    for (size_t index = 0; index < start->join_count; index++) {
        if (write_all(start->join[index], "0", 1) < 0) fail(job, marker, CLINUX_STAGE_CGROUP);
    }
    if (start->new_session && setsid() < 0) fail(job, marker, CLINUX_STAGE_SESSION);
    // Before the limits: a parent with many open files has no free number below them.
    if (place_descriptors(start, &marker) < 0) fail(job, marker, CLINUX_STAGE_DESCRIPTORS);
    uint64_t start_time = 0;
    if (marker >= 0) {
        // Nobody is named by 0, and a limit on open files may be among those that follow.
        if ((start_time = own_start_time()) == 0) fail(job, marker, CLINUX_STAGE_MARKER);
        __atomic_store_n(&job->start_time, start_time, __ATOMIC_RELEASE);
    }
    for (size_t index = 0; index < start->limit_count; index++) {
        struct rlimit limit = {start->limits[index].soft, start->limits[index].hard};
        if (setrlimit(start->limits[index].resource, &limit) < 0)
            fail(job, marker, CLINUX_STAGE_LIMITS);
    }
    if (start->controlling_terminal && ioctl(0, TIOCSCTTY, 0) < 0)
        fail(job, marker, CLINUX_STAGE_TERMINAL);
    // Not glibc's functions: they wait for the threads of the parent, which are not here.
    if (start->change_user
        && (syscall(SYS_setgroups, 0, NULL) < 0
            || syscall(SYS_setresgid, start->group, start->group, start->group) < 0
            || syscall(SYS_setresuid, start->user, start->user, start->user) < 0))
        fail(job, marker, CLINUX_STAGE_USER);
    if (start->directory != NULL && chdir(start->directory) < 0)
        fail(job, marker, CLINUX_STAGE_DIRECTORY);
    if (marker >= 0) {
        char line[64];
        size_t length = decimal(line, (uint64_t)job->pid);
        line[length++] = ' ';
        length += decimal(line + length, start_time);
        line[length++] = '\n';
        if (write_all(marker, line, length) < 0 || is_void(marker))
            fail(job, marker, CLINUX_STAGE_MARKER);
    }
    if (start->returns_before_execve) sem_post(&job->done);
    execve(start->path, start->arguments, start->environment);
    fail(job, marker, CLINUX_STAGE_EXECUTE);
}

// --- in a thread of the parent ----------------------------------------------------------------

// The child begins in run_child, on its own stack.
static long clone3_on_stack(struct clone_args *arguments, struct job *job) {
#if defined(__x86_64__)
    register long result __asm__("rax") = SYS_clone3;
    register struct clone_args *first __asm__("rdi") = arguments;
    register size_t second __asm__("rsi") = sizeof *arguments;
    register void (*run)(struct job *) __asm__("r8") = run_child;
    register struct job *kept __asm__("r9") = job;
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\t"
                     "mov %%r9, %%rdi\n\tcall *%%r8\n\thlt\n1:"
                     : "+r"(result)
                     : "r"(first), "r"(second), "r"(run), "r"(kept)
                     : "rcx", "r11", "memory", "cc");
    return result;
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_clone3;
    register long result __asm__("x0") = (long)arguments;
    register size_t second __asm__("x1") = sizeof *arguments;
    register void (*run)(struct job *) __asm__("x2") = run_child;
    register struct job *kept __asm__("x3") = job;
    __asm__ volatile("svc #0\n\tcbnz x0, 1f\n\tmov x29, xzr\n\tmov x0, x3\n\tblr x2\n\t"
                     "brk #1\n1:"
                     : "+r"(result)
                     : "r"(number), "r"(second), "r"(run), "r"(kept)
                     : "memory", "cc");
    return result;
#else
    (void)arguments;
    (void)job;
    return -ENOSYS;
#endif
}

static struct clone_args clone_arguments(struct job *job, uint64_t flags) {
    struct clone_args arguments = {
        .flags = flags | CLONE_VFORK | CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)&job->pidfd,
        .exit_signal = SIGCHLD,
    };
    if (job->start.cgroup >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (uint64_t)job->start.cgroup;
    }
    return arguments;
}

// The child shares our memory and stops this thread until it executes: nothing is copied, and the
// kernel does not take it for the process that uses up a cgroup's memory.
static int clone_sharing(struct job *job) {
    struct clone_args arguments = clone_arguments(job, CLONE_VM | CLONE_CLEAR_SIGHAND);
    arguments.stack = (uint64_t)(uintptr_t)job->stack;
    arguments.stack_size = sizeof job->stack;
    job->has_signals_reset = 1;
    long result = clone3_on_stack(&arguments, job);
    if (result < 0) {
        job->has_signals_reset = 0;
        errno = (int)-result;
        return -1;
    }
    job->pid = (pid_t)result;
    return 0;
}

// The same with a copy of our memory: on other machines, for another user, who must not reach it,
// and where clone3 is refused, as containers do with calls that their filters cannot look into.
// Without a cgroup to be born in, the older call does.
static int clone_copying(struct job *job) {
    struct clone_args arguments = clone_arguments(job, 0);
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid < 0 && job->start.cgroup < 0 && (errno == ENOSYS || errno == EPERM)) {
        unsigned long flags = CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
#if defined(__s390x__)
        pid = syscall(SYS_clone, NULL, flags, &job->pidfd, NULL, 0);
#else
        pid = syscall(SYS_clone, flags, NULL, &job->pidfd, NULL, 0);
#endif
    }
    if (pid == 0) run_child(job);
    if (pid < 0) return -1;
    job->pid = (pid_t)pid;
    return 0;
}

static void release(struct job *job) {
    if (__atomic_sub_fetch(&job->owners, 1, __ATOMIC_ACQ_REL) > 0) return;
    sem_destroy(&job->done);
    munmap(job, job->size);
}

static void run_job(struct job *job) {
    int result = -1;
    if (!job->start.change_user) result = clone_sharing(job);
    if (result < 0) result = clone_copying(job);
    if (result < 0) {
        job->stage = CLINUX_STAGE_CLONE;
        job->error = errno;
        job->pidfd = -1;
    }
}

// A thread for one start after the other. It stands still as long as its child does not execute.
struct starter {
    sem_t work;
    struct job *job;
};

static struct starter *idle_starter;

static void *run_starter(void *context) {
    struct starter *own = context, *none = NULL;
    for (;;) {
        while (sem_wait(&own->work) < 0) {
        }
        struct job *job = own->job;
        run_job(job);
        // One is enough; others began while it stood still.
        int stays = __atomic_compare_exchange_n(
            &idle_starter, &none, own, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        sem_post(&job->done);
        release(job);
        if (!stays) break;
    }
    sem_destroy(&own->work);
    free(own);
    return NULL;
}

static struct starter *make_starter(void) {
    struct starter *starter = calloc(1, sizeof *starter);
    if (starter == NULL) return NULL;
    sem_init(&starter->work, 0, 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The usual 8 MB would count against a limit of our memory.
    pthread_attr_setstacksize(&attributes, 64 << 10);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, run_starter, starter);
    pthread_attr_destroy(&attributes);
    if (error == 0) return starter;
    sem_destroy(&starter->work);
    free(starter);
    return NULL;
}

// --- in the caller --------------------------------------------------------------------------

static size_t size_of_strings(char *const *strings) {
    size_t size = sizeof *strings;
    for (; *strings != NULL; strings++) size += sizeof *strings + strlen(*strings) + 1;
    return size;
}

static void *copy(char **room, const void *bytes, size_t size) {
    void *place = *room;
    if (size > 0) memcpy(place, bytes, size);
    *room += (size + 15) & ~(size_t)15;
    return place;
}

static char *const *copy_strings(char **room, char *const *strings) {
    size_t count = 0;
    while (strings[count] != NULL) count++;
    char **copies = copy(room, strings, (count + 1) * sizeof *strings);
    char *text = *room;
    for (size_t index = 0; index < count; index++) {
        copies[index] = text;
        text = stpcpy(text, strings[index]) + 1;
    }
    *room = text + (-(uintptr_t)text & 15);
    return copies;
}

// A copy of a start: its child may read it after the caller has gone on.
static struct job *make_job(const struct clinux_start *start) {
    size_t directory = start->directory == NULL ? 0 : strlen(start->directory) + 1;
    size_t size = sizeof(struct job) + strlen(start->path) + 1 + directory
        + size_of_strings(start->arguments) + size_of_strings(start->environment)
        + start->passed_count * sizeof(int) + start->join_count * sizeof(int)
        + start->limit_count * sizeof *start->limits + 9 * 16;
    struct job *job =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job == MAP_FAILED) return NULL;
    job->size = size;
    job->start = *start;
    job->pidfd = -1;
    job->owners = 2;
    sem_init(&job->done, 1, 0);
    char *room = (char *)(job + 1);
    job->start.path = copy(&room, start->path, strlen(start->path) + 1);
    if (directory > 0) job->start.directory = copy(&room, start->directory, directory);
    job->start.arguments = copy_strings(&room, start->arguments);
    job->start.environment = copy_strings(&room, start->environment);
    job->start.passed = copy(&room, start->passed, start->passed_count * sizeof(int));
    job->start.join = copy(&room, start->join, start->join_count * sizeof(int));
    job->start.limits = copy(&room, start->limits, start->limit_count * sizeof *start->limits);
    return job;
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

static void read_ignored_signals(void) {
    for (int number = 1; number < NSIG; number++) {
        uint64_t action[8] = {0};
        syscall(SYS_rt_sigaction, number, NULL, action, sizeof(uint64_t));
        if (action[0] == (uint64_t)(uintptr_t)SIG_IGN) ignored_signals |= 1ULL << (number - 1);
    }
}

// All signals are blocked in the thread, and so in its children until they have reset them.
static void begin(struct job *job) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_ignored_signals);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct starter *starter = __atomic_exchange_n(&idle_starter, NULL, __ATOMIC_ACQ_REL);
    if (starter == NULL) starter = make_starter();
    if (starter != NULL) {
        starter->job = job;
        sem_post(&starter->work);
    } else {
        // Where clone3 is refused there may be no threads either.
        run_job(job);
        sem_post(&job->done);
        release(job);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Until the child executes, is about to, or fails; for longer than the limit only while there is no
// child.
static int await(struct job *job, int milliseconds) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (;;) {
        int64_t nanoseconds = end.tv_nsec + (int64_t)milliseconds * 1000000;
        end.tv_sec += nanoseconds / 1000000000;
        end.tv_nsec = nanoseconds % 1000000000;
        int result;
        do result = sem_clockwait(&job->done, CLOCK_MONOTONIC, &end);
        while (result < 0 && errno == EINTR);
        if (result == 0) return 1;
        if (__atomic_load_n(&job->pid, __ATOMIC_ACQUIRE) != 0) return 0;
    }
}

int clinux_start(const struct clinux_start *start, struct clinux_started *started) {
    *started = (struct clinux_started){.pid = 0, .pidfd = -1};
    if (start->passed_count > CLINUX_MAX_PASSED)
        return failed(started, CLINUX_STAGE_DESCRIPTORS, E2BIG);
    struct job *job = make_job(start);
    if (job == NULL) return failed(started, CLINUX_STAGE_CLONE, ENOMEM);
    begin(job);
    int stage = await(job, start->wait_milliseconds) ? job->stage : CLINUX_STAGE_NONE;
    // A child that has told us that it is ready fails by itself, at any time.
    if (stage == CLINUX_STAGE_EXECUTE && start->returns_before_execve) stage = CLINUX_STAGE_NONE;
    int error = job->error;
    started->pid = job->pid;
    started->pidfd = job->pidfd;
    started->start_time = __atomic_load_n(&job->start_time, __ATOMIC_ACQUIRE);
    release(job);
    return stage == CLINUX_STAGE_NONE ? 0 : failed(started, stage, error);
}
