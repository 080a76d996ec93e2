// zlib's deflateInit2 is a macro, which Swift cannot call (https://zlib.net/manual.html#Advanced).
#ifndef PIPELINE_CZLIB_SHIM_H
#define PIPELINE_CZLIB_SHIM_H

#include <zlib.h>

// A stream in gzip's format (RFC 1952): 15 bits of window, and 16 for the format. No name and no time are in its head,
// so that the same bytes always give the same stream.
static inline int czlib_gzip_begin(z_stream *stream, int level) {
    stream->zalloc = Z_NULL;
    stream->zfree = Z_NULL;
    stream->opaque = Z_NULL;
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

// Undoes gzip's format (31), zlib's (15) or bare deflate (-15), as `bits` says.
static inline int czlib_inflate_begin(z_stream *stream, int bits) {
    stream->zalloc = Z_NULL;
    stream->zfree = Z_NULL;
    stream->opaque = Z_NULL;
    stream->next_in = Z_NULL;
    stream->avail_in = 0;
    return inflateInit2(stream, bits);
}

#endif
