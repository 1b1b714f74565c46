#pragma once
#include <stdint.h>

/* A file system for SQLite that passes everything on to the ordinary one, fails when told to, and
 * can lose power. One per test; a test uses it from one thread. */
typedef struct faulty_disk faulty_disk;

/* Kinds of calls, to be combined. */
#define FAULTY_OPEN 1u
#define FAULTY_WRITE 2u
#define FAULTY_TRUNCATE 4u
#define FAULTY_SYNC 8u
#define FAULTY_DELETE 16u
#define FAULTY_READ 32u

/* Registers the file system under `name`; null when memory is out. */
faulty_disk *faulty_disk_new(const char *name);
void faulty_disk_free(faulty_disk *disk);

/* The `nth` call from now among `kinds` answers `code`, a result of SQLite (a write is torn in the
 * middle first), and with `forever` all later ones too. `nth` 0 heals the disk. */
void faulty_disk_fail(faulty_disk *disk, uint32_t kinds, uint64_t nth, int code, int forever);

/* Calls among the kinds of the last `faulty_disk_fail` since then. */
uint64_t faulty_disk_calls(const faulty_disk *disk);

/* Takes back what was not synced, sector by sector: all of it with seed 0, else as the seed says.
 * Every connection must be closed before. Answers 0, or -1 when a file could not be written. */
int faulty_disk_lose_power(faulty_disk *disk, uint64_t seed);
