#pragma once
#include <stddef.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

/* Tables of what an object offers, which sd-bus wants as static data made by macros. A table made
 * here lives as long as its owner keeps it, and that must be as long as any connection has it. */
typedef struct csystemd_vtable csystemd_vtable;

/* A table with room for `count` members; null when memory is out. */
csystemd_vtable *csystemd_vtable_new(size_t count);
void csystemd_vtable_free(csystemd_vtable *vtable);
const sd_bus_vtable *csystemd_vtable_members(const csystemd_vtable *vtable);

/* Appends a member; texts are copied. `names`: those of the arguments, input first, each followed
 * by a line feed. -ENOMEM, or -ENOSPC when `count` have been appended. */
int csystemd_vtable_add_method(
    csystemd_vtable *vtable, const char *name, const char *input, const char *output,
    const char *names, sd_bus_message_handler_t handler);
int csystemd_vtable_add_signal(
    csystemd_vtable *vtable, const char *name, const char *arguments, const char *names);
int csystemd_vtable_add_property(
    csystemd_vtable *vtable, const char *name, const char *type, int constant,
    sd_bus_property_get_t get);

/* Has a descriptor stand for what `with` stands for, close-on-exec. */
int csystemd_replace(int descriptor, int with);
