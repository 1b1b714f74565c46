#include "CXCB.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <xcb/sync.h>
#include <xcb/xcb.h>

/* What is used of libxcb and libxcb-sync, with the types of their headers. */
#define FUNCTIONS(f)                                                                               \
    f(connect_to_display_with_auth_info) f(connection_has_error) f(disconnect)                     \
    f(generate_id) f(get_extension_data) f(get_file_descriptor) f(poll_for_event)                  \
    f(request_check)                                                                               \
    f(sync_initialize) f(sync_initialize_reply) f(sync_list_system_counters)                       \
    f(sync_list_system_counters_reply) f(sync_list_system_counters_counters_iterator)              \
    f(sync_systemcounter_next) f(sync_create_alarm_aux_checked)                                    \
    f(sync_query_counter) f(sync_query_counter_reply)

#define MEMBER(name) __typeof__(&xcb_##name) name;
static struct {
    FUNCTIONS(MEMBER)
    xcb_extension_t *sync_id;
} xcb;

/* Whether all of them are there. Called by one thread at a time. */
static int load(void) {
    static int is_loaded;
    if (is_loaded) return 1;
    /* The second library finds the first. It may be installed later, so nothing is kept. */
    void *core = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    void *sync = core ? dlopen("libxcb-sync.so.1", RTLD_NOW | RTLD_LOCAL) : 0;
    if (!sync) {
        if (core) dlclose(core);
        return 0;
    }
#define FIND(name) && (*(void **)&xcb.name = dlsym(sync, "xcb_" #name))
    is_loaded = 1 FUNCTIONS(FIND) && (xcb.sync_id = dlsym(sync, "xcb_sync_id"));
    return is_loaded;
}

struct cxcb_watch {
    xcb_connection_t *connection;
    xcb_sync_alarm_t idle, input;
    /* Of the extension's events. */
    uint8_t alarm_event;
    int was_idle;
};

static xcb_sync_int64_t wide(int64_t value) {
    return (xcb_sync_int64_t){.hi = value >> 32, .lo = (uint32_t)value};
}

static int find_counter(xcb_connection_t *connection, xcb_sync_counter_t *counter) {
    static const char name[] = "IDLETIME";
    xcb_sync_list_system_counters_reply_t *reply = xcb.sync_list_system_counters_reply(
        connection, xcb.sync_list_system_counters(connection), 0);
    if (!reply) return 0;
    int found = 0;
    xcb_sync_systemcounter_iterator_t each =
        xcb.sync_list_system_counters_counters_iterator(reply);
    for (; each.rem && !found; xcb.sync_systemcounter_next(&each)) {
        /* libxcb's own function begins after the padding, which the protocol does not have. */
        const char *begin = (const char *)&each.data->name_len + sizeof each.data->name_len;
        found = each.data->name_len == sizeof name - 1 && !memcmp(begin, name, sizeof name - 1);
        if (found) *counter = each.data->counter;
    }
    free(reply);
    return found;
}

/* One that goes on after it has rung. */
static int set_alarm(
    xcb_connection_t *connection, xcb_sync_counter_t counter, uint32_t test, int64_t value,
    xcb_sync_alarm_t *alarm) {
    const uint32_t mask = XCB_SYNC_CA_COUNTER | XCB_SYNC_CA_VALUE_TYPE | XCB_SYNC_CA_VALUE |
                          XCB_SYNC_CA_TEST_TYPE | XCB_SYNC_CA_DELTA | XCB_SYNC_CA_EVENTS;
    const xcb_sync_create_alarm_value_list_t list = {
        .counter = counter,
        .valueType = XCB_SYNC_VALUETYPE_ABSOLUTE,
        .value = wide(value),
        .testType = test,
        .delta = wide(0),
        .events = 1,
    };
    *alarm = xcb.generate_id(connection);
    xcb_generic_error_t *error = xcb.request_check(
        connection, xcb.sync_create_alarm_aux_checked(connection, *alarm, mask, &list));
    int is_set = !error && !xcb.connection_has_error(connection);
    free(error);
    return is_set;
}

static int begin(cxcb_watch *watch, int64_t milliseconds) {
    xcb_connection_t *connection = watch->connection;
    const xcb_query_extension_reply_t *sync =
        xcb.get_extension_data(connection, xcb.sync_id);
    if (!sync || !sync->present) return 0;
    watch->alarm_event = sync->first_event + XCB_SYNC_ALARM_NOTIFY;
    xcb_sync_initialize_reply_t *version =
        xcb.sync_initialize_reply(connection, xcb.sync_initialize(connection, 3, 1), 0);
    if (!version) return 0;
    free(version);
    xcb_sync_counter_t counter;
    if (!find_counter(connection, &counter)) return 0;
    if (!set_alarm(
            connection, counter, XCB_SYNC_TESTTYPE_POSITIVE_TRANSITION, milliseconds,
            &watch->idle) ||
        !set_alarm(
            connection, counter, XCB_SYNC_TESTTYPE_NEGATIVE_TRANSITION, milliseconds - 1,
            &watch->input))
        return 0;
    /* The time may have begun before the alarms. */
    xcb_sync_query_counter_reply_t *reply = xcb.sync_query_counter_reply(
        connection, xcb.sync_query_counter(connection, counter), 0);
    if (!reply) return 0;
    const xcb_sync_int64_t value = reply->counter_value;
    watch->was_idle = ((int64_t)value.hi << 32 | value.lo) >= milliseconds;
    free(reply);
    return 1;
}

cxcb_result cxcb_watch_open(
    const char *display, const uint8_t *cookie, int cookie_size, int64_t milliseconds,
    cxcb_watch **watch) {
    if (!load()) return CXCB_NO_LIBRARY;
    cxcb_watch *new = calloc(1, sizeof *new);
    if (!new) return CXCB_NO_MEMORY;
    static char method[] = "MIT-MAGIC-COOKIE-1";
    xcb_auth_info_t proof = {
        .namelen = sizeof method - 1,
        .name = method,
        .datalen = cookie_size,
        .data = (char *)cookie,
    };
    new->connection = xcb.connect_to_display_with_auth_info(display, cookie ? &proof : 0, 0);
    cxcb_result result = CXCB_NO_SERVER;
    if (!xcb.connection_has_error(new->connection))
        result = begin(new, milliseconds) ? CXCB_OPEN : CXCB_NO_IDLE_TIME;
    if (result == CXCB_OPEN)
        *watch = new;
    else
        cxcb_watch_close(new);
    return result;
}

void cxcb_watch_close(cxcb_watch *watch) {
    xcb.disconnect(watch->connection);
    free(watch);
}

int cxcb_watch_descriptor(const cxcb_watch *watch) {
    return xcb.get_file_descriptor(watch->connection);
}

int cxcb_watch_was_idle(const cxcb_watch *watch) { return watch->was_idle; }

cxcb_event cxcb_watch_next(cxcb_watch *watch) {
    xcb_generic_event_t *event;
    while ((event = xcb.poll_for_event(watch->connection))) {
        cxcb_event found = CXCB_NOTHING;
        /* The highest bit says that another client has sent it. */
        if (event->response_type == watch->alarm_event) {
            const xcb_sync_alarm_t alarm = ((xcb_sync_alarm_notify_event_t *)event)->alarm;
            if (alarm == watch->idle) found = CXCB_IDLE;
            if (alarm == watch->input) found = CXCB_INPUT;
        }
        free(event);
        if (found != CXCB_NOTHING) return found;
    }
    return xcb.connection_has_error(watch->connection) ? CXCB_GONE : CXCB_NOTHING;
}
