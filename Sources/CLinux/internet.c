#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail_closing(int socket) {
    int number = errno;
    close(socket);
    errno = number;
    return -1;
}

static int set(int socket, int level, int option) {
    int on = 1;
    return setsockopt(socket, level, option, &on, sizeof on);
}

static int listen_at(const struct addrinfo *address, int shared) {
    int one = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (one < 0)
        return -1;
    if (set(one, SOL_SOCKET, SO_REUSEADDR) < 0 ||
        (shared && set(one, SOL_SOCKET, SO_REUSEPORT) < 0) ||
        bind(one, address->ai_addr, address->ai_addrlen) < 0 || listen(one, 4096) < 0)
        return fail_closing(one);
    return one;
}

static int connect_to(const struct addrinfo *address) {
    int one = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0)
        return -1;
    if (connect(one, address->ai_addr, address->ai_addrlen) < 0)
        return fail_closing(one);
    return one;
}

/* The addresses of a name, to be freed; NULL: none, and errno says why. */
static struct addrinfo *addresses(const char *host, int port, int flags) {
    char service[12];
    struct addrinfo hints = {0}, *list = NULL;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | flags;
    snprintf(service, sizeof service, "%d", port);
    int problem = getaddrinfo(host && *host ? host : NULL, service, &hints, &list);
    if (problem == 0)
        return list;
    if (problem != EAI_SYSTEM)
        errno = problem == EAI_AGAIN ? CLINUX_NO_NAME_SERVICE : CLINUX_NO_SUCH_HOST;
    return NULL;
}

/* The first address that works; errno of the last that did not. */
static int each_address(const char *host, int port, int listening, int shared) {
    struct addrinfo *list = addresses(host, port, listening ? AI_PASSIVE : 0);
    if (list == NULL)
        return -1;
    int result = -1;
    for (struct addrinfo *one = list; one && result < 0; one = one->ai_next)
        result = listening ? listen_at(one, shared) : connect_to(one);
    int number = errno;
    freeaddrinfo(list);
    errno = number;
    return result;
}

int clinux_listen_internet(const char *host, int port, int shared) {
    return each_address(host, port, 1, shared);
}

int clinux_connect_internet(const char *host, int port) {
    return each_address(host, port, 0, 0);
}

int clinux_start_connecting(const char *host, int port, int attempt) {
    struct addrinfo *list = addresses(host, port, 0);
    if (list == NULL)
        return -1;
    int count = 0;
    for (struct addrinfo *one = list; one; one = one->ai_next)
        count++;
    struct addrinfo *chosen = list;
    for (int skip = attempt % count; skip > 0; skip--)
        chosen = chosen->ai_next;
    int result = socket(chosen->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (result >= 0 && connect(result, chosen->ai_addr, chosen->ai_addrlen) < 0 &&
        errno != EINPROGRESS)
        result = fail_closing(result);
    int number = errno;
    freeaddrinfo(list);
    errno = number;
    return result;
}

int clinux_set_no_delay(int socket) { return set(socket, IPPROTO_TCP, TCP_NODELAY); }

int clinux_local_port(int socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) < 0)
        return -1;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static void fill_mapped(uint8_t *bytes, const void *ipv4) {
    memset(bytes, 0, 10);
    memset(bytes + 10, 0xFF, 2);
    memcpy(bytes + 12, ipv4, 4);
}

int clinux_peer_address(int socket, uint8_t *bytes) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getpeername(socket, (struct sockaddr *)&address, &length) < 0)
        return -1;
    if (address.ss_family == AF_INET6)
        memcpy(bytes, &((struct sockaddr_in6 *)&address)->sin6_addr, 16);
    else
        fill_mapped(bytes, &((struct sockaddr_in *)&address)->sin_addr);
    return 0;
}

int clinux_parse_address(const char *text, uint8_t *bytes) {
    struct in_addr ipv4;
    if (inet_pton(AF_INET, text, &ipv4) == 1) {
        fill_mapped(bytes, &ipv4);
        return 4;
    }
    return inet_pton(AF_INET6, text, bytes) == 1 ? 16 : 0;
}
