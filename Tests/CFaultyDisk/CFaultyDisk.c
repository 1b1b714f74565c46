#include "CFaultyDisk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512

/* What a file held when it was last synced. */
typedef struct image {
    struct image *next;
    char *path;
    unsigned char *bytes;
    size_t size;
} image;

struct faulty_disk {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    char *name;
    image *images;
    uint32_t kinds;
    uint64_t nth, calls;
    int code, forever;
};

typedef struct faulty_file {
    sqlite3_file base;
    faulty_disk *disk;
    image *image;
    int fresh; /* its first sync syncs the directory too, as SQLite does for its journals */
} faulty_file;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((faulty_file *)file + 1); }

/* Counts a call; answers the code to fail it with, or SQLITE_OK. */
static int fate(faulty_disk *disk, uint32_t kind) {
    if (!(disk->kinds & kind)) return SQLITE_OK;
    disk->calls++;
    if (disk->nth == 0 || disk->calls < disk->nth) return SQLITE_OK;
    return disk->calls == disk->nth || disk->forever ? disk->code : SQLITE_OK;
}

static unsigned char *contents(const char *path, size_t *size) {
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    struct stat status;
    unsigned char *bytes = NULL;
    if (fstat(fd, &status) == 0 && (bytes = malloc((size_t)status.st_size + 1)) != NULL) {
        ssize_t count = pread(fd, bytes, (size_t)status.st_size, 0);
        if (count > 0) *size = (size_t)count;
    }
    close(fd);
    return bytes;
}

static void take(image *image) {
    if (image == NULL) return;
    free(image->bytes);
    image->bytes = contents(image->path, &image->size);
}

/* The image of a file; a file not seen before is taken to be on the disk as it is. */
static image *image_of(faulty_disk *disk, const char *path) {
    for (image *at = disk->images; at != NULL; at = at->next)
        if (strcmp(at->path, path) == 0) return at;
    image *made = calloc(1, sizeof *made);
    if (made == NULL || (made->path = strdup(path)) == NULL) {
        free(made);
        return NULL;
    }
    take(made);
    made->next = disk->images;
    disk->images = made;
    return made;
}

static int file_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = fate(((faulty_file *)file)->disk, FAULTY_READ);
    return code ? code : real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int code = fate(((faulty_file *)file)->disk, FAULTY_WRITE);
    if (code) count /= 2;
    int result = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    return code ? code : result;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = fate(((faulty_file *)file)->disk, FAULTY_TRUNCATE);
    return code ? code : real(file)->pMethods->xTruncate(real(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    int code = fate(((faulty_file *)file)->disk, FAULTY_SYNC);
    if (code) return code;
    faulty_file *synced = (faulty_file *)file;
    code = real(file)->pMethods->xSync(real(file), flags);
    if (code != SQLITE_OK) return code;
    take(synced->image);
    if (synced->fresh)
        for (image *at = synced->disk->images; at != NULL; at = at->next)
            if (access(at->path, F_OK) != 0) take(at);
    synced->fresh = 0;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
static int file_lock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xLock(real(file), level);
}
static int file_unlock(sqlite3_file *file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
}
static int file_is_reserved(sqlite3_file *file, int *answer) {
    return real(file)->pMethods->xCheckReservedLock(real(file), answer);
}
static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int file_sector_size(sqlite3_file *file) {
    return real(file)->pMethods->xSectorSize(real(file));
}
static int file_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, at);
}
static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void file_shm_barrier(sqlite3_file *file) {
    real(file)->pMethods->xShmBarrier(real(file));
}
static int file_shm_unmap(sqlite3_file *file, int delete_it) {
    return real(file)->pMethods->xShmUnmap(real(file), delete_it);
}

static const sqlite3_io_methods methods = {
    2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock,
    file_unlock, file_is_reserved, file_control, file_sector_size, file_characteristics,
    file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL, NULL,
};

static int disk_open(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
    faulty_disk *disk = (faulty_disk *)vfs;
    faulty_file *made = (faulty_file *)file;
    made->base.pMethods = NULL;
    int code = fate(disk, FAULTY_OPEN);
    if (code) return code;
    made->disk = disk;
    made->image = path != NULL ? image_of(disk, path) : NULL;
    made->fresh = path != NULL && access(path, F_OK) != 0 &&
                  (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
    code = disk->real->xOpen(disk->real, path, real(file), flags, opened);
    if (code == SQLITE_OK) made->base.pMethods = &methods;
    return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync) {
    faulty_disk *disk = (faulty_disk *)vfs;
    int code = fate(disk, FAULTY_DELETE);
    if (code) return code;
    code = disk->real->xDelete(disk->real, path, sync);
    if (code == SQLITE_OK && sync) take(image_of(disk, path));
    return code;
}

faulty_disk *faulty_disk_new(const char *name) {
    faulty_disk *disk = calloc(1, sizeof *disk);
    if (disk == NULL || (disk->name = strdup(name)) == NULL) {
        free(disk);
        return NULL;
    }
    disk->real = sqlite3_vfs_find(NULL);
    disk->vfs = *disk->real;
    disk->vfs.pNext = NULL;
    disk->vfs.zName = disk->name;
    disk->vfs.szOsFile = (int)sizeof(faulty_file) + disk->real->szOsFile;
    disk->vfs.xOpen = disk_open;
    disk->vfs.xDelete = disk_delete;
    if (sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK) {
        free(disk->name);
        free(disk);
        return NULL;
    }
    return disk;
}

static void forget(faulty_disk *disk) {
    while (disk->images != NULL) {
        image *gone = disk->images;
        disk->images = gone->next;
        free(gone->path);
        free(gone->bytes);
        free(gone);
    }
}

void faulty_disk_free(faulty_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    forget(disk);
    free(disk->name);
    free(disk);
}

void faulty_disk_fail(faulty_disk *disk, uint32_t kinds, uint64_t nth, int code, int forever) {
    disk->kinds = kinds;
    disk->nth = nth;
    disk->code = code;
    disk->forever = forever;
    disk->calls = 0;
}

uint64_t faulty_disk_calls(const faulty_disk *disk) { return disk->calls; }

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int put(int fd, const unsigned char *bytes, size_t count, size_t offset) {
    return pwrite(fd, bytes, count, (off_t)offset) == (ssize_t)count ? 0 : -1;
}

/* Rewrites one file as the platter may hold it. */
static int lose(const image *image, uint64_t *state, int all) {
    size_t now_size;
    unsigned char *now = contents(image->path, &now_size);
    if (now == NULL && image->size == 0) return 0;
    size_t size = all || draw(state) & 1 ? image->size : now_size;
    int fd = open(image->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int result = fd < 0 ? -1 : 0;
    for (size_t at = 0; result == 0 && at < size; at += SECTOR) {
        static const unsigned char zeroes[SECTOR];
        size_t count = size - at < SECTOR ? size - at : SECTOR;
        int keep_new = !all && draw(state) & 1;
        const unsigned char *from = keep_new ? now : image->bytes;
        size_t held = keep_new ? now_size : image->size;
        size_t known = held <= at ? 0 : held - at < count ? held - at : count;
        if (known > 0) result = put(fd, from + at, known, at);
        if (result == 0 && known < count) result = put(fd, zeroes, count - known, at + known);
    }
    if (result == 0 && ftruncate(fd, (off_t)size) != 0) result = -1;
    if (fd >= 0) close(fd);
    free(now);
    return result;
}

int faulty_disk_lose_power(faulty_disk *disk, uint64_t seed) {
    uint64_t state = seed;
    int result = 0;
    for (const image *at = disk->images; at != NULL; at = at->next)
        if (lose(at, &state, seed == 0) != 0) result = -1;
    forget(disk);
    return result;
}
