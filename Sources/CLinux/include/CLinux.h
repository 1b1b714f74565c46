#pragma once

// What Swift cannot call by itself: variadic calls, macros, calls that need _GNU_SOURCE, and the
// way from clone3 to execve, where no Swift code may run. `_GNU_SOURCE` is defined in the C files
// only: in a header it would change the types that other C modules see.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// ---------------------------------------------------------------------------------------------
// Starting programs (start.c)

/// Where a start failed. The numbers are written into marker files: never renumber.
enum clinux_stage {
    CLINUX_STAGE_NONE = 0,
    CLINUX_STAGE_PIPE = 1,  // of earlier versions
    CLINUX_STAGE_CLONE = 2,
    CLINUX_STAGE_CGROUP = 3,
    CLINUX_STAGE_SESSION = 4,
    CLINUX_STAGE_LIMITS = 5,
    CLINUX_STAGE_USER = 6,
    CLINUX_STAGE_DESCRIPTORS = 7,
    CLINUX_STAGE_TERMINAL = 8,
    CLINUX_STAGE_DIRECTORY = 9,
    CLINUX_STAGE_MARKER = 10,
    CLINUX_STAGE_EXECUTE = 11,
};

enum { CLINUX_MAX_PASSED = 16 };

/// A permission of a marker that says: whoever was to be started with this shall not be.
enum { CLINUX_VOID_MARKER = 0100 };

/// The exit status of a child that could not execute its program.
enum { CLINUX_FAILED_STATUS = 127 };

struct clinux_limit {
    int resource;  // RLIMIT_…
    uint64_t soft;
    uint64_t hard;
};

struct clinux_start {
    const char *path;  // the program itself; the caller has searched PATH
    char *const *arguments;
    char *const *environment;
    const char *directory;  // NULL: the caller's
    int input, output, error;  // become 0, 1, 2; -1: /dev/null
    const int *passed;  // become 3, 4, …
    size_t passed_count;
    int marker;  // "PID STARTTIME\n" is written into it just before execve; -1: none
    int cgroup;  // a cgroup2 directory to be born in; -1: the caller's
    const int *join;  // `tasks` files of v1 cgroups, joined before execve
    size_t join_count;
    const struct clinux_limit *limits;
    size_t limit_count;
    int new_session;
    int controlling_terminal;  // make input the session's terminal
    int change_user;
    uid_t user;
    gid_t group;
    int wait_milliseconds;  // how long to wait for execve to succeed or fail
    int returns_before_execve;  // or only until the child is about to call it
};

struct clinux_started {
    pid_t pid;
    int pidfd;
    int stage;  // CLINUX_STAGE_NONE, or where it failed
    int error;  // errno of the failure
    uint64_t start_time;  // clock ticks since boot, as the marker has it; 0: not known
};

/// Starts a program; 0, or -1 with `stage` and `error` set and nothing left behind.
int clinux_start(const struct clinux_start *start, struct clinux_started *started);

// ---------------------------------------------------------------------------------------------
// Options (options.c)

struct clinux_option {
    const char *name;
    int short_name;  // a character, or 0
    int argument;  // 0 none, 1 required, 2 optional
};

struct clinux_parsed_option {
    int index;  // into the options; -1: unknown or ambiguous; -2: argument missing; -3: operand
    const char *argument;  // for -1 and -2 the word at fault
};

/// getopt_long over all of `arguments` (the program's name first). Returns the number of entries
/// written to `parsed`, at most `capacity`. It stops after the first error.
/// `in_order`: everything from the first operand on is an operand.
size_t clinux_parse_options(
    int count, char **arguments, const struct clinux_option *options, size_t option_count,
    int in_order, struct clinux_parsed_option *parsed, size_t capacity);

// ---------------------------------------------------------------------------------------------
// What a process may no longer do (sandbox.c)

/// A step of a classic BPF program, laid out as the kernel's `sock_filter`.
struct clinux_filter_step {
    uint16_t code;
    uint8_t if_true, if_false;
    uint32_t value;
};

/// The number of a system call; -1: this machine has none of that name.
int clinux_call_number(const char *name);
/// What the kernel tells a filter of this machine (AUDIT_ARCH_…); 0: we have no numbers for it.
uint32_t clinux_filter_machine(void);
int clinux_can_filter_calls(void);
/// From now on each call of each thread goes through the program; needs no new privileges.
int clinux_filter_calls(const struct clinux_filter_step *steps, size_t count);

/// The version of Landlock's interface; -1: the kernel has none, or it is turned off.
int clinux_landlock_version(void);
/// A ruleset, as a descriptor, that will deny the rights of these masks (LANDLOCK_…).
int clinux_landlock_create(uint64_t files, uint64_t network, uint64_t scoped);
/// But these to files beneath an open directory, or to an open file.
int clinux_landlock_allow(int ruleset, int parent, uint64_t allowed);
/// For the calling thread and those that it starts later.
int clinux_landlock_restrict(int ruleset);

int clinux_set_no_new_privileges(void);
/// Nobody without privileges may trace the process or read its memory, and it leaves no core dump.
int clinux_set_undumpable(void);
int clinux_drop_capabilities(void);
/// The stack of threads that are started without a word about it.
int clinux_set_thread_stack(size_t bytes);

// ---------------------------------------------------------------------------------------------
// Single calls (calls.c). Each returns what the call returns, with errno as it left it.

int clinux_open(const char *path, int flags, mode_t mode);
/// A descriptor of what is at a path, to know it by: it can neither be read nor written.
int clinux_open_path(const char *path);
/// A directory, by a path in which no part is a link: ELOOP where one is.
int clinux_open_directory(const char *path);
/// A file in a directory; a link is not followed.
int clinux_open_at(int directory, const char *name, int flags, mode_t mode);
/// What is there, a link itself too, to know it again: it can neither be read nor written.
int clinux_know_at(int directory, const char *name);
/// Renames within a directory. Without `replace` a file of the new name stays: EEXIST.
int clinux_rename_at(int directory, const char *name, const char *new_name, int replace);
/// The same without `replace`, for file systems that can do no better: an empty file takes the name
/// first, and stays if the process dies just then.
int clinux_claim_at(int directory, const char *name, const char *new_name);
/// Into another directory of the same file system: EXDEV of another.
int clinux_move_at(int from, const char *name, int to);
int clinux_remove_at(int directory, const char *name);
/// The inode of what is there, links not followed; 0 and its number, or -1.
int clinux_inode_at(int directory, const char *name, uint64_t *inode);
int clinux_set_modified_at(int directory, const char *name, int64_t seconds);
/// How large the file system of the descriptor is, and what is left of it for those without
/// privileges, in bytes.
int clinux_space(int descriptor, int64_t *total, int64_t *left);
/// Reserves room without making the file longer.
int clinux_reserve(int descriptor, int64_t offset, int64_t count);
/// All that was written to the file system of the descriptor becomes durable.
int clinux_sync_file_system(int descriptor);
/// Whether that is as good as to synchronize each of its files, and tells of failures as well.
int clinux_syncs_files_together(int descriptor);
int clinux_set_nonblocking(int descriptor, int on);
int clinux_pipe(int ends[2], int nonblocking);
int clinux_eventfd(void);

int clinux_pidfd_open(pid_t pid);
int clinux_pidfd_send_signal(int pidfd, int signal);
/// Waits for a child by pidfd and reaps it: 0 and code (CLD_…) and status, or -1.
/// Without `block` a child that still runs gives code 0.
int clinux_pidfd_wait(int pidfd, int block, int *code, int *status);
/// How any process ended, as waitpid has it: 1 once somebody has reaped it, 0 before that, and -1
/// if the kernel does not tell.
int clinux_pidfd_end(int pidfd, int *status);

int clinux_socket_unix(int nonblocking);
int clinux_socket_pair(int ends[2]);
/// Two ends of a socket that keeps messages apart, non-blocking.
int clinux_packet_pair(int ends[2]);
/// Sends one message, with a descriptor unless that is -1. EAGAIN: the other end must read first.
ssize_t clinux_send_packet(int socket, const uint8_t *bytes, size_t count, int descriptor);
/// Receives one message: its length, 0 when the other end is closed. `descriptor` is -1 if none
/// came. EMSGSIZE: it was longer than `capacity`, or held more than one descriptor, and is gone.
ssize_t clinux_receive_packet(int socket, uint8_t *bytes, size_t capacity, int *descriptor);
int clinux_bind_unix(int socket, const char *path);
int clinux_connect_unix(int socket, const char *path);
int clinux_accept(int socket);
/* The 16 bytes of the peer's IPv6 address, or of its IPv4 address as IPv6 writes it. */
int clinux_peer_address(int socket, uint8_t *bytes);
/* The address in the text, in the same form; how many bytes it really has, 0 if it is none. */
int clinux_parse_address(const char *text, uint8_t *bytes);
/* What errno is when a name has no address, and when nobody could be asked for it: numbers that the
 * kernel does not use. */
#define CLINUX_NO_SUCH_HOST 4097
#define CLINUX_NO_NAME_SERVICE 4098
/* A listening TCP socket, non-blocking. An empty host is every address; shared: SO_REUSEPORT. */
int clinux_listen_internet(const char *host, int port, int shared);
/* A connected TCP socket, blocking. */
int clinux_connect_internet(const char *host, int port);
/* A non-blocking TCP socket that is being connected; of a host with several addresses that one
 * which the number of the attempt falls on. Only looking the name up may wait. */
int clinux_start_connecting(const char *host, int port, int attempt);
int clinux_set_no_delay(int socket);
int clinux_local_port(int socket);
int clinux_peer_credentials(int socket, pid_t *pid, uid_t *user, gid_t *group);
/// SO_PEERPIDFD; ENOPROTOOPT before Linux 6.5.
int clinux_peer_pidfd(int socket);
/// A non-blocking socket that hears what the kernel tells udev of its devices.
int clinux_socket_device_events(void);
/// The next of them: its length, with 0 for what the kernel has not sent.
ssize_t clinux_receive_device_event(int socket, char *buffer, size_t capacity);

// A socket that becomes readable when a route or an interface comes, goes or changes. -1 with errno
// on failure.
int clinux_socket_route_events(void);
// Reads away what waits: 1 if there was something of the kernel's, or if something was dropped for
// want of room; 0 if not; -1 with errno on failure.
int clinux_drain_route_events(int socket);
// Whether an interface is up and has a carrier. -1 with errno on failure.
int clinux_interface_runs(const char *name);

/// A timerfd on CLOCK_REALTIME that becomes readable when the clock is set.
int clinux_clock_jump_timer(void);
int64_t clinux_clock_nanoseconds(int clock);  // 0 boot, 1 monotonic, 2 real
int32_t clinux_utc_offset(int64_t seconds);
int clinux_set_wall_clock(int64_t nanoseconds);

/// Locks of the open file description on one byte. `wait`: block until it is had.
int clinux_lock_byte(int descriptor, int64_t byte, int exclusive, int wait);
int clinux_unlock_byte(int descriptor, int64_t byte);
/// 1 when somebody else holds an exclusive lock on the byte, 0 when not, -1 on error.
int clinux_byte_is_locked(int descriptor, int64_t byte);
/// The exclusive lock of an open file or directory, which need not be open for writing. `wait`:
/// block until it is had.
int clinux_lock_file(int descriptor, int wait);

int clinux_become(uid_t user, gid_t group);
int clinux_set_subreaper(int on);

void clinux_release_free_memory(void);
void clinux_release_program(void);
void clinux_keep_free_memory(int blocks, int most);
int clinux_get_limit(int resource, uint64_t *soft, uint64_t *hard);
int clinux_set_limit(int resource, uint64_t soft, uint64_t hard);
int clinux_resource(int which);  // 0 core, 1 data, 2 open files, 3 address space, 4 processes
int clinux_block_signals(const int *signals, size_t count);
int clinux_ignore_signal(int signal);
int clinux_default_signal(int signal);
/// Rings the eventfd at each of this signal.
int clinux_ring_on_signal(int signal, int descriptor);
int clinux_ring(int descriptor);
/// Writes what goes to C's standard output line by line.
void clinux_print_by_lines(void);
/// Names the calling thread; 15 bytes count.
int clinux_name_thread(const char *name);

int clinux_terminal_size(int descriptor, uint16_t *rows, uint16_t *columns);
