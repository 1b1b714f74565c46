#pragma once

#include <stdint.h>

/// How often this thread has asked for memory since it began; -1 under a sanitizer, which has an
/// allocator of its own.
int64_t allocation_count(void);
