#pragma once

/// From now on the kernel answers clone3 with `error`, to this process and all that it starts, as
/// containers do that let through only the calls that they know. 0, or -1 with errno.
int call_filter_refuse_clone3(int error);

/// As a kernel that knows no ioctl of a pidfd, or of anything else.
int call_filter_refuse_ioctl(void);

/// As a kernel without Landlock, one without filters of system calls, and one that lets no process
/// become another user.
int call_filter_refuse_landlock(void);
int call_filter_refuse_seccomp(void);
int call_filter_refuse_other_users(void);
