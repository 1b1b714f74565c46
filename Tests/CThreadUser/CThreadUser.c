#include "CThreadUser.h"

#include <sys/syscall.h>
#include <unistd.h>

int thread_user_become(unsigned user) {
    // The function of the library would change all threads. The saved user stays, to come back to.
    return (int)syscall(SYS_setresuid, -1, user, -1);
}
