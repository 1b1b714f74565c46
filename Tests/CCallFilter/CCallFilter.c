#include "CCallFilter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int refuse(unsigned call, int error) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int call_filter_refuse_clone3(int error) { return refuse(SYS_clone3, error); }

int call_filter_refuse_ioctl(void) { return refuse(SYS_ioctl, ENOTTY); }

int call_filter_refuse_landlock(void) { return refuse(444, ENOSYS); }

int call_filter_refuse_seccomp(void) { return refuse(SYS_seccomp, ENOSYS); }

int call_filter_refuse_other_users(void) { return refuse(SYS_setresuid, EPERM); }
