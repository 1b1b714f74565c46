#define _GNU_SOURCE
#include "CSystemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct csystemd_vtable {
    size_t room, count;
    char **texts; /* four for each member */
    size_t text_count;
    sd_bus_vtable members[]; /* start, the members, end */
};

csystemd_vtable *csystemd_vtable_new(size_t count) {
    csystemd_vtable *made = calloc(1, sizeof *made + (count + 2) * sizeof made->members[0]);
    if (made == NULL) return NULL;
    if ((made->texts = calloc(4 * count + 1, sizeof *made->texts)) == NULL) {
        free(made);
        return NULL;
    }
    made->room = count;
    made->members[0] = (sd_bus_vtable)SD_BUS_VTABLE_START(0);
    made->members[1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    return made;
}

void csystemd_vtable_free(csystemd_vtable *vtable) {
    if (vtable == NULL) return;
    for (size_t i = 0; i < vtable->text_count; i++) free(vtable->texts[i]);
    free(vtable->texts);
    free(vtable);
}

const sd_bus_vtable *csystemd_vtable_members(const csystemd_vtable *vtable) {
    return vtable->members;
}

/* A copy that lives as long as the table; null when memory is out. */
static char *keep(csystemd_vtable *vtable, const char *text) {
    char *copy = strdup(text);
    if (copy != NULL) vtable->texts[vtable->text_count++] = copy;
    return copy;
}

/* sd-bus wants the names one after the other, each with its ending zero, and one more. */
static char *keep_names(csystemd_vtable *vtable, const char *names) {
    char *copy = keep(vtable, names);
    if (copy == NULL) return NULL;
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '\n') *at = '\0';
    return copy;
}

static int append(csystemd_vtable *vtable, sd_bus_vtable member) {
    vtable->members[++vtable->count] = member;
    vtable->members[vtable->count + 1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    return 0;
}

int csystemd_vtable_add_method(
    csystemd_vtable *vtable, const char *name, const char *input, const char *output,
    const char *names, sd_bus_message_handler_t handler) {
    if (vtable->count == vtable->room) return -ENOSPC;
    const char *kept[] = {
        keep(vtable, name), keep(vtable, input), keep(vtable, output), keep_names(vtable, names)};
    if (!kept[0] || !kept[1] || !kept[2] || !kept[3]) return -ENOMEM;
    sd_bus_vtable member;
    memset(&member, 0, sizeof member);
    member.type = _SD_BUS_VTABLE_METHOD;
    /* Who may call was decided when the peer connected. */
    member.flags = SD_BUS_VTABLE_UNPRIVILEGED;
    member.x.method.member = kept[0];
    member.x.method.signature = kept[1];
    member.x.method.result = kept[2];
    member.x.method.names = kept[3];
    member.x.method.handler = handler;
    return append(vtable, member);
}

int csystemd_vtable_add_signal(
    csystemd_vtable *vtable, const char *name, const char *arguments, const char *names) {
    if (vtable->count == vtable->room) return -ENOSPC;
    const char *kept[] = {
        keep(vtable, name), keep(vtable, arguments), keep_names(vtable, names)};
    if (!kept[0] || !kept[1] || !kept[2]) return -ENOMEM;
    sd_bus_vtable member;
    memset(&member, 0, sizeof member);
    member.type = _SD_BUS_VTABLE_SIGNAL;
    member.x.signal.member = kept[0];
    member.x.signal.signature = kept[1];
    member.x.signal.names = kept[2];
    return append(vtable, member);
}

int csystemd_vtable_add_property(
    csystemd_vtable *vtable, const char *name, const char *type, int constant,
    sd_bus_property_get_t get) {
    if (vtable->count == vtable->room) return -ENOSPC;
    const char *kept[] = {keep(vtable, name), keep(vtable, type)};
    if (!kept[0] || !kept[1]) return -ENOMEM;
    sd_bus_vtable member;
    memset(&member, 0, sizeof member);
    member.type = _SD_BUS_VTABLE_PROPERTY;
    member.flags =
        constant ? SD_BUS_VTABLE_PROPERTY_CONST : SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE;
    member.x.property.member = kept[0];
    member.x.property.signature = kept[1];
    member.x.property.get = get;
    return append(vtable, member);
}

int csystemd_replace(int descriptor, int with) {
    return dup3(with, descriptor, O_CLOEXEC) < 0 ? -errno : 0;
}
