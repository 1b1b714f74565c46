/* A plain C program on sd-bus, as server and as client: the peer for round trips, and the client
 * for both sides, so that only the server differs.
 *
 *   offstage-bench-peer serve SOCKET            answers Version until it is killed
 *   offstage-bench-peer call SOCKET COUNT       prints the median round trip in nanoseconds
 *   offstage-bench-peer flood SOCKET BYTES      sends one huge message, prints what became of it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

static const char *const INTERFACE = "org.offstage.Control1";
static const char *const PATH = "/org/offstage";

static int fail(const char *what, int error) {
    fprintf(stderr, "%s: %s\n", what, strerror(error < 0 ? -error : error));
    return 1;
}

static int answer(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context;
    (void)error;
    return sd_bus_reply_method_return(
        call, "a{sv}", 6, "version", "s", "0.1.0", "build", "s",
        "offstage 0.1.0 (core 0123456789abcdef)", "pid", "x",
        (int64_t)getpid(), "state", "s", "/tmp/offstage/state", "socket", "s",
        "/tmp/offstage/run/socket", "seconds", "d", 12.5);
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Version", "", "a{sv}", answer, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static int address(const char *path, struct sockaddr_un *out) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof out->sun_path) return -ENAMETOOLONG;
    strcpy(out->sun_path, path);
    return 0;
}

static int accepted(sd_event_source *source, int descriptor, uint32_t events, void *context) {
    (void)events;
    (void)context;
    int peer = accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (peer < 0) return -errno;
    sd_bus *bus;
    sd_id128_t id;
    sd_id128_randomize(&id);
    if (sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, peer, peer) < 0 ||
        sd_bus_set_server(bus, 1, id) < 0 ||
        sd_bus_add_object_vtable(bus, NULL, PATH, INTERFACE, vtable, NULL) < 0 ||
        sd_bus_start(bus) < 0) {
        return -EIO;
    }
    return sd_bus_attach_event(bus, sd_event_source_get_event(source), 0);
}

static int serve(const char *path) {
    struct sockaddr_un name;
    int error = address(path, &name);
    if (error < 0) return fail("address", error);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) < 0 || listen(listener, 16) < 0) {
        return fail("listen", errno);
    }
    sd_event *event;
    sd_event_default(&event);
    sd_event_add_io(event, NULL, listener, EPOLLIN, accepted, NULL);
    return sd_event_loop(event) < 0;
}

static int connected(const char *path, sd_bus **bus) {
    struct sockaddr_un name;
    int error = address(path, &name);
    if (error < 0) return error;
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(peer, (struct sockaddr *)&name, sizeof name) < 0) return -errno;
    error = sd_bus_new(bus);
    if (error < 0) return error;
    sd_bus_set_fd(*bus, peer, peer);
    return sd_bus_start(*bus);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int call(const char *path, int count) {
    sd_bus *bus;
    int error = connected(path, &bus);
    if (error < 0) return fail("connect", error);
    int64_t *times = calloc((size_t)count, sizeof *times);
    for (int index = 0; index < count; index++) {
        sd_bus_message *reply = NULL;
        sd_bus_error failure = SD_BUS_ERROR_NULL;
        int64_t begin = now();
        error = sd_bus_call_method(bus, NULL, PATH, INTERFACE, "Version", &failure, &reply, "");
        times[index] = now() - begin;
        if (error < 0) return fail("call", error);
        sd_bus_message_unref(reply);
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%lld\n", (long long)times[count / 2]);
    return 0;
}

static int flood(const char *path, size_t bytes) {
    sd_bus *bus;
    int error = connected(path, &bus);
    if (error < 0) return fail("connect", error);
    sd_bus_message *message;
    error = sd_bus_message_new_method_call(bus, &message, NULL, PATH, INTERFACE, "Submit");
    if (error < 0) return fail("message", error);
    void *space;
    error = sd_bus_message_append_array_space(message, 'y', bytes, &space);
    if (error < 0) return fail("array", error);
    memset(space, 'x', bytes);
    sd_bus_message *reply = NULL;
    sd_bus_error failure = SD_BUS_ERROR_NULL;
    error = sd_bus_call(bus, message, 20 * 1000000ULL, &failure, &reply);
    printf("%s\n", error >= 0 ? "answered" : failure.name ? failure.name : strerror(-error));
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "serve")) return serve(arguments[2]);
    if (count == 4 && !strcmp(arguments[1], "call")) return call(arguments[2], atoi(arguments[3]));
    if (count == 4 && !strcmp(arguments[1], "flood")) {
        return flood(arguments[2], (size_t)atoll(arguments[3]));
    }
    fprintf(stderr, "usage: offstage-bench-peer serve|call|flood SOCKET [COUNT]\n");
    return 2;
}
