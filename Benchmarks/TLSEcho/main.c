/* The least that a TLS server can do for a message and its answer: 200 bytes out for each 20 that
 * come in, over any number of connections, one thread.
 *
 *     offstage-bench-echo CERTIFICATE KEY      prints its port, serves until it is killed */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { QUESTION = 20, ANSWER = 200 };

struct connection {
    SSL *tls;
    int descriptor;
    int is_ready;
    int received;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void end(struct connection *one) {
    SSL_free(one->tls);
    close(one->descriptor);
    free(one);
}

static void start(int listener, SSL_CTX *context, int poll) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0)
        return;
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *one = calloc(1, sizeof *one);
    if (!one)
        fail("calloc");
    one->descriptor = descriptor;
    one->tls = SSL_new(context);
    SSL_set_fd(one->tls, descriptor);
    SSL_set_accept_state(one->tls);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) < 0)
        fail("epoll_ctl");
}

/* 0: it is over. */
static int serve(struct connection *one) {
    static char answer[ANSWER], buffer[16384];
    if (!one->is_ready) {
        int result = SSL_do_handshake(one->tls);
        if (result != 1)
            return SSL_get_error(one->tls, result) == SSL_ERROR_WANT_READ;
        one->is_ready = 1;
    }
    int count = SSL_read(one->tls, buffer, sizeof buffer);
    if (count <= 0)
        return SSL_get_error(one->tls, count) == SSL_ERROR_WANT_READ;
    for (one->received += count; one->received >= QUESTION; one->received -= QUESTION)
        if (SSL_write(one->tls, answer, ANSWER) != ANSWER)
            return 0;
    return 1;
}

static int listen_anywhere(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) < 0 ||
        listen(listener, 4096) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        fail("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, words[1]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, words[2], SSL_FILETYPE_PEM) != 1)
        return 1;
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    int poll = epoll_create1(EPOLL_CLOEXEC), listener = listen_anywhere();
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    if (epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) < 0)
        fail("epoll_ctl");
    for (;;) {
        int ready = epoll_wait(poll, events, 256, -1);
        for (int index = 0; index < ready; index++) {
            struct connection *one = events[index].data.ptr;
            if (!one)
                start(listener, context, poll);
            else if (!serve(one))
                end(one);
        }
        if (ready < 0 && errno != EINTR)
            fail("epoll_wait");
    }
}
