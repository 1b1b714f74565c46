#define _GNU_SOURCE
#include "CTestKit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

int testkit_become(unsigned user) {
    // The function of the library would change all threads. The saved user stays, to come back to.
    return (int)syscall(SYS_setresuid, -1, user, -1);
}

int testkit_datagram_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int testkit_pseudo_terminal(unsigned short rows, unsigned short columns, char *path, size_t size) {
    struct winsize window = {.ws_row = rows, .ws_col = columns};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) return -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, path, size) == 0 &&
        ioctl(master, TIOCSWINSZ, &window) == 0)
        return master;
    int error = errno;
    close(master);
    errno = error;
    return -1;
}
