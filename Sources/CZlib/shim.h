#pragma once
#include <zlib.h>

/* A macro, which Swift cannot see. 16 more than the window: with the head of a gzip file. */

static inline int czlib_inflate_gzip(z_stream *stream) {
    return inflateInit2(stream, MAX_WBITS + 16);
}
