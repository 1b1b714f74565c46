#pragma once
#include <zlib.h>

/* Macros, which Swift cannot see. 16 more than the window: with the head of a gzip file. */

static inline int czlib_inflate_gzip(z_stream *stream) {
    return inflateInit2(stream, MAX_WBITS + 16);
}

static inline int czlib_deflate_gzip(z_stream *stream) {
    return deflateInit2(
        stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}
