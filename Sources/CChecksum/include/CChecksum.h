#ifndef C_CHECKSUM_H
#define C_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// The CRC-32C (Castagnoli; RFC 3720, appendix B.4) by the processor's own instruction where it has one: Swift has no
// name for that instruction. Elsewhere by tables.

/// The checksum of all bytes so far with these after them. Begin with 0.
uint32_t checksum_crc32c(uint32_t value, const void *bytes, size_t count);

#endif
