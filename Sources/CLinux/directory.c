#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int clinux_open_directory(const char *path) {
    struct open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS,
    };
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

int clinux_open_at(int directory, const char *name, int flags, mode_t mode) {
    return openat(directory, name, flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, mode);
}

int clinux_know_at(int directory, const char *name) {
    return openat(directory, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

int clinux_rename_at(int directory, const char *name, const char *new_name, int replace) {
    if (replace) return renameat(directory, name, directory, new_name);
    int result = renameat2(directory, name, directory, new_name, RENAME_NOREPLACE);
    // Not every file system can. A link is made only where nothing is.
    if (result == 0 || (errno != EINVAL && errno != ENOSYS)) return result;
    if (linkat(directory, name, directory, new_name, 0) == 0) return unlinkat(directory, name, 0);
    // Nor can every one link.
    if (errno != EPERM && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return -1;
    return clinux_claim_at(directory, name, new_name);
}

int clinux_claim_at(int directory, const char *name, const char *new_name) {
    int file = openat(directory, new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    close(file);
    if (renameat(directory, name, directory, new_name) == 0) return 0;
    int error = errno;
    unlinkat(directory, new_name, 0);
    errno = error;
    return -1;
}

int clinux_move_at(int from, const char *name, int to) {
    return renameat(from, name, to, name);
}

int clinux_remove_at(int directory, const char *name) { return unlinkat(directory, name, 0); }

int clinux_inode_at(int directory, const char *name, uint64_t *inode) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0) return -1;
    *inode = status.st_ino;
    return 0;
}

int clinux_set_modified_at(int directory, const char *name, int64_t seconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = seconds}};
    return utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
}

// As many as can be counted, if there are more.
static int64_t bytes_of(uint64_t blocks, uint64_t block_size) {
    int64_t bytes;
    return __builtin_mul_overflow(blocks, block_size, &bytes) ? INT64_MAX : bytes;
}

int clinux_space(int descriptor, int64_t *total, int64_t *left) {
    struct statvfs status;
    int result;
    do {
        result = fstatvfs(descriptor, &status);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return result;
    *total = bytes_of(status.f_blocks, status.f_frsize);
    *left = bytes_of(status.f_bavail, status.f_frsize);
    return 0;
}

int clinux_reserve(int descriptor, int64_t offset, int64_t count) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count);
}

int clinux_sync_file_system(int descriptor) { return syncfs(descriptor); }

int clinux_syncs_files_together(int descriptor) {
    struct utsname system;
    int major, minor;
    // Before Linux 5.17 it did not report a failed commit of the file system itself.
    if (uname(&system) < 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2) return 0;
    if (major < 5 || (major == 5 && minor < 17)) return 0;
    struct statfs status;
    if (fstatfs(descriptor, &status) < 0) return 0;
    // One that another program or machine serves may not even be asked.
    switch (status.f_type) {
    case BTRFS_SUPER_MAGIC:
    case EXT4_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case XFS_SUPER_MAGIC:
        return 1;
    default:
        return 0;
    }
}
