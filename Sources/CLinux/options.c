#define _GNU_SOURCE
#include "CLinux.h"

#include <ctype.h>
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// getopt_long keeps its place in globals.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

enum { FIRST_LONG = 256, MAX_OPTIONS = 64 };

static int index_of(const struct clinux_option *options, size_t count, int value) {
    if (value >= FIRST_LONG) return value - FIRST_LONG;
    for (size_t index = 0; index < count; index++) {
        if (options[index].short_name == value) return (int)index;
    }
    return -1;
}

size_t clinux_parse_options(
    int count, char **arguments, const struct clinux_option *options, size_t option_count,
    int in_order, struct clinux_parsed_option *parsed, size_t capacity) {
    struct option longs[MAX_OPTIONS + 1];
    char shorts[3 * MAX_OPTIONS + 3];
    size_t used = 0, length = 0;
    if (option_count > MAX_OPTIONS) abort();
    shorts[length++] = in_order ? '+' : '-';
    shorts[length++] = ':';
    for (size_t index = 0; index < option_count; index++) {
        longs[index] = (struct option){
            options[index].name, options[index].argument, NULL, FIRST_LONG + (int)index};
        if (options[index].short_name == 0) continue;
        shorts[length++] = (char)options[index].short_name;
        for (int colon = 0; colon < options[index].argument; colon++) shorts[length++] = ':';
    }
    shorts[length] = 0;
    longs[option_count] = (struct option){0};

    pthread_mutex_lock(&turn);
    opterr = 0;
    optind = 0;  // glibc: start again from the beginning; without words it only does that
    getopt_long(1, arguments, shorts, longs, NULL);
    while (used < capacity) {
        int at = optind > 0 ? optind : 1;
        // No option is a digit: a negative number is an operand.
        if (at < count && arguments[at][0] == '-' && isdigit((unsigned char)arguments[at][1])) {
            if (in_order) break;
            parsed[used++] = (struct clinux_parsed_option){-3, arguments[at]};
            optind = at + 1;
            continue;
        }
        int value = getopt_long(count, arguments, shorts, longs, NULL);
        if (value == -1) break;
        struct clinux_parsed_option *entry = &parsed[used++];
        if (value == 1) {
            *entry = (struct clinux_parsed_option){-3, optarg};
        } else if (value == '?' || value == ':') {
            // A bundled short option leaves optind at its word, every other error behind it.
            int word = optind > at ? optind - 1 : at;
            *entry = (struct clinux_parsed_option){value == '?' ? -1 : -2, arguments[word]};
            break;
        } else {
            *entry = (struct clinux_parsed_option){index_of(options, option_count, value), optarg};
        }
    }
    int failed = used > 0 && (parsed[used - 1].index == -1 || parsed[used - 1].index == -2);
    for (int index = optind; !failed && index < count && used < capacity; index++) {
        parsed[used++] = (struct clinux_parsed_option){-3, arguments[index]};
    }
    pthread_mutex_unlock(&turn);
    return used;
}
