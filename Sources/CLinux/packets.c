#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int clinux_packet_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

ssize_t clinux_send_packet(int socket, const uint8_t *bytes, size_t count, int descriptor) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        memset(control, 0, sizeof control);
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t clinux_receive_packet(int socket, uint8_t *bytes, size_t capacity, int *descriptor) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    // Room for more than one, so that all are known and closed.
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    *descriptor = -1;
    ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (length < 0) return length;
    int found[8];
    size_t count = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < here && count < 8; index++) {
            memcpy(&found[count++], CMSG_DATA(header) + index * sizeof(int), sizeof(int));
        }
    }
    if (count == 1 && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        *descriptor = found[0];
        return length;
    }
    for (size_t index = 0; index < count; index++) close(found[index]);
    if (count == 0 && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return length;
    errno = EMSGSIZE;
    return -1;
}
