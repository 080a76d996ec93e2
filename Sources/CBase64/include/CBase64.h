#ifndef C_BASE64_H
#define C_BASE64_H

#include <stddef.h>
#include <stdint.h>

// Base64 (RFC 4648, section 4) by the processor's wide registers where it has them: Swift has no name for the shuffle
// of bytes that it takes.

/// Encodes whole groups of three bytes from the start on, as many as it likes, and returns how many bytes it took: a
/// multiple of three, which gave four thirds of that in digits. What is left is for the caller.
size_t base64_encode(const void *bytes, size_t count, void *digits);

#endif
