#pragma once
#include <stdint.h>

/* What an X server knows of the time without input: its counter IDLETIME (extension SYNC), and two
 * alarms on it. libxcb is loaded when the first watch is opened: many machines have no X. */
typedef struct cxcb_watch cxcb_watch;

typedef enum {
    CXCB_OPEN,
    CXCB_NO_LIBRARY,
    CXCB_NO_SERVER,
    /* It has no such counter, or refuses alarms. */
    CXCB_NO_IDLE_TIME,
    CXCB_NO_MEMORY,
} cxcb_result;

typedef enum {
    CXCB_NOTHING,
    /* No input for the given time. */
    CXCB_IDLE,
    /* Input after that. */
    CXCB_INPUT,
    /* The server is not there any more. */
    CXCB_GONE,
} cxcb_event;

/* Waits for the server. `cookie`: MIT-MAGIC-COOKIE-1; null: what libxcb finds by itself.
 * Milliseconds, at least 1. `*watch` is to be closed if the result is CXCB_OPEN. */
cxcb_result cxcb_watch_open(
    const char *display, const uint8_t *cookie, int cookie_size, int64_t milliseconds,
    cxcb_watch **watch);
void cxcb_watch_close(cxcb_watch *watch);

/* Readable when there may be an event. It belongs to the watch. */
int cxcb_watch_descriptor(const cxcb_watch *watch);

/* Whether there was no input for that time when the watch was opened. */
int cxcb_watch_was_idle(const cxcb_watch *watch);

/* The next event that is here; never waits. */
cxcb_event cxcb_watch_next(cxcb_watch *watch);
