/* The process that fetches: libcurl on epoll, and nothing else. */
#define _GNU_SOURCE
#include "pair.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 32, MOST_WAITING = 256 };

struct exchange {
    CURL *request;
    int file;
    struct report report;
};

struct waiting {
    struct order order;
    int file;
};

static CURLM *multi;
static int poll_descriptor;
static long timeout = -1;
static struct exchange exchanges[MOST_CONNECTIONS];
static int idle[MOST_CONNECTIONS], idle_count;
static struct waiting waiting[MOST_WAITING];
static int first_waiting, waiting_count;
static struct report reports[MOST_REPORTS];
static int report_count;
static int running;

static size_t write_body(char *bytes, size_t size, size_t count, void *context) {
    struct exchange *exchange = context;
    for (size_t done = 0; done < size * count;) {
        ssize_t written = write(exchange->file, bytes + done, size * count - done);
        if (written < 0)
            fail("write");
        done += written;
    }
    exchange->report.bytes += size * count;
    return size * count;
}

static int watch(CURL *request, curl_socket_t socket, int what, void *context, void *known) {
    (void)request, (void)context, (void)known;
    struct epoll_event event = {.data.fd = socket};
    if (what != CURL_POLL_OUT)
        event.events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
        event.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE)
        epoll_ctl(poll_descriptor, EPOLL_CTL_DEL, socket, NULL);
    else if (epoll_ctl(poll_descriptor, EPOLL_CTL_MOD, socket, &event) < 0)
        epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, socket, &event);
    return 0;
}

static int set_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timeout = milliseconds;
    return 0;
}

static void set_up(int connections, const char *certificate) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)connections);
    for (int index = 0; index < connections; index++) {
        CURL *request = curl_easy_init();
        curl_easy_setopt(request, CURLOPT_CAINFO, certificate);
        curl_easy_setopt(request, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(request, CURLOPT_BUFFERSIZE, 512L << 10);
        curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, write_body);
        curl_easy_setopt(request, CURLOPT_WRITEDATA, &exchanges[index]);
        curl_easy_setopt(request, CURLOPT_PRIVATE, &exchanges[index]);
        exchanges[index].request = request;
        idle[idle_count++] = index;
    }
}

/* 0: the other process has ended. */
static int take_orders(int socket) {
    for (;;) {
        struct waiting *next = &waiting[(first_waiting + waiting_count) % MOST_WAITING];
        struct iovec bytes = {&next->order, sizeof next->order};
        char control[CMSG_SPACE(sizeof(int))];
        struct msghdr message = {.msg_iov = &bytes,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};
        ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (count == 0)
            return 0;
        if (count < 0)
            return 1;
        memcpy(&next->file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof next->file);
        if (++waiting_count == MOST_WAITING)
            fail("too many orders");
    }
}

static void begin_waiting(void) {
    while (idle_count && waiting_count) {
        struct waiting *next = &waiting[first_waiting];
        struct exchange *exchange = &exchanges[idle[--idle_count]];
        exchange->file = next->file;
        exchange->report = (struct report){.index = next->order.index};
        curl_easy_setopt(exchange->request, CURLOPT_URL, next->order.url);
        curl_multi_add_handle(multi, exchange->request);
        first_waiting = (first_waiting + 1) % MOST_WAITING;
        waiting_count--;
        running++;
    }
}

static void send_reports(int socket) {
    if (report_count && send(socket, reports, report_count * sizeof *reports, 0) < 0)
        fail("send");
    report_count = 0;
}

static void settle(int socket) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        struct exchange *exchange;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
        curl_easy_getinfo(exchange->request, CURLINFO_RESPONSE_CODE, &exchange->report.status);
        if (message->data.result != CURLE_OK)
            exchange->report.status = 0;
        curl_multi_remove_handle(multi, exchange->request);
        close(exchange->file);
        reports[report_count++] = exchange->report;
        idle[idle_count++] = exchange - exchanges;
        running--;
        if (report_count == MOST_REPORTS)
            send_reports(socket);
    }
    /* As late as the other process can wait: it commits once for all of them. */
    if (report_count >= AHEAD / 2 || !(running || waiting_count))
        send_reports(socket);
}

void fetch(int socket, int connections, const char *certificate) {
    if (connections > MOST_CONNECTIONS)
        fail("too many connections");
    poll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event orders = {.events = EPOLLIN, .data.fd = socket};
    epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, socket, &orders);
    set_up(connections, certificate);
    for (;;) {
        int still;
        begin_waiting();
        if (timeout == 0) {
            timeout = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &still);
            settle(socket);
            continue;
        }
        struct epoll_event events[64];
        int count = epoll_wait(poll_descriptor, events, 64, timeout);
        if (count == 0)
            timeout = 0;
        for (int index = 0; index < count; index++) {
            if (events[index].data.fd == socket) {
                if (!take_orders(socket))
                    exit(0);
                continue;
            }
            int what = (events[index].events & ~EPOLLOUT ? CURL_CSELECT_IN : 0) |
                       (events[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi, events[index].data.fd, what, &still);
        }
        settle(socket);
    }
}
