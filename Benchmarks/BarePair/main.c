/* The least that two processes need to fetch many files as the daemon does: one opens and locks
 * each file, hands it over, commits that it has come, gives it its name and commits that; the
 * other fetches. There are no gates, no limits, no history that can be asked for, and nothing is
 * checked but the status. The files are not synced, so it is for a tmpfs only.
 *
 *     offstage-bench-pair DATABASE LIST CONNECTIONS CERTIFICATE
 *
 * The files of the URLs in LIST, one on each line, go to the current directory. */
#define _GNU_SOURCE
#include "pair.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FILES = 100000, RECORD = 300, LINE = 120 };

static char *urls[MOST_FILES];
static int url_count;
static int directory;
static sqlite3 *database;
static sqlite3_stmt *put, *append;

void fail(const char *what) {
    perror(what);
    exit(1);
}

static void read_list(const char *path) {
    FILE *list = fopen(path, "re");
    if (!list)
        fail(path);
    char line[LONGEST_URL];
    while (url_count < MOST_FILES && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        urls[url_count++] = strdup(line);
    }
    fclose(list);
}

static void execute(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(database));
}

static void open_store(const char *path) {
    if (sqlite3_open(path, &database) != SQLITE_OK)
        fail(path);
    execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE records (key INTEGER PRIMARY KEY, body BLOB);"
            "CREATE TABLE history (id INTEGER PRIMARY KEY, body BLOB)");
    sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO records VALUES (?, ?)", -1, &put, NULL);
    sqlite3_prepare_v2(database, "INSERT INTO history (body) VALUES (?)", -1, &append, NULL);
}

static void run(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE)
        fail(sqlite3_errmsg(database));
    sqlite3_reset(statement);
}

static void put_record(int index) {
    static const char body[RECORD];
    sqlite3_bind_int(put, 1, index);
    sqlite3_bind_blob(put, 2, body, sizeof body, SQLITE_STATIC);
    run(put);
}

static void append_line(void) {
    static const char body[LINE];
    sqlite3_bind_blob(append, 1, body, sizeof body, SQLITE_STATIC);
    run(append);
}

static void order(int socket, int index) {
    struct order order = {.index = index};
    strcpy(order.url, urls[index]);
    char name[32];
    snprintf(name, sizeof name, ".%d.part", index);
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = openat(directory, name, flags, 0666);
    struct stat status;
    if (file < 0 || flock(file, LOCK_EX | LOCK_NB) < 0 || fstat(file, &status) < 0)
        fail(name);
    struct iovec bytes = {&order, sizeof order};
    char control[CMSG_SPACE(sizeof file)] = {0};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    if (sendmsg(socket, &message, 0) < 0)
        fail("sendmsg");
    close(file);
}

static void give_name(const struct report *report) {
    char partial[32];
    snprintf(partial, sizeof partial, ".%d.part", report->index);
    const char *name = strrchr(urls[report->index], '/') + 1;
    struct stat status;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1700000000}};
    if (fstatat(directory, partial, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        utimensat(directory, partial, times, AT_SYMLINK_NOFOLLOW) < 0 ||
        renameat2(directory, partial, directory, name, RENAME_NOREPLACE) < 0)
        fail(name);
}

/* What is complete is stored before it gets its name, and that it has it after that. */
static void settle(const struct report *reports, int count) {
    execute("BEGIN");
    for (int index = 0; index < count; index++) {
        if (reports[index].status != 200 || reports[index].bytes == 0)
            fail(urls[reports[index].index]);
        put_record(reports[index].index);
    }
    execute("COMMIT");
    for (int index = 0; index < count; index++)
        give_name(&reports[index]);
    if (fsync(directory) < 0)
        fail("fsync");
    execute("BEGIN");
    for (int index = 0; index < count; index++) {
        put_record(reports[index].index);
        append_line();
    }
    execute("COMMIT");
}

int main(int count, char **words) {
    int sockets[2];
    if (count != 5 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
        fail("usage: offstage-bench-pair DATABASE LIST CONNECTIONS CERTIFICATE");
    int connections = atoi(words[3]), room = 1 << 20;
    setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        close(sockets[0]);
        fetch(sockets[1], connections, words[4]);
    }
    close(sockets[1]);
    read_list(words[2]);
    open_store(words[1]);
    directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int begun = 0, ended = 0; ended < url_count;) {
        while (begun < url_count && begun - ended < connections + AHEAD)
            order(sockets[0], begun++);
        struct report reports[MOST_REPORTS];
        ssize_t bytes = recv(sockets[0], reports, sizeof reports, 0);
        if (bytes <= 0)
            fail("recv");
        settle(reports, bytes / sizeof *reports);
        ended += bytes / sizeof *reports;
    }
    close(sockets[0]);
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
