#include "CChecksum.h"

#include <pthread.h>
#include <string.h>

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    for (uint32_t index = 0; index < 256; index++) {
        uint32_t value = index;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0x82F63B78u : value >> 1;
        tables[0][index] = value;
    }
    for (int table = 1; table < 8; table++)
        for (int index = 0; index < 256; index++)
            tables[table][index] = tables[table - 1][index] >> 8 ^ tables[0][tables[table - 1][index] & 0xFF];
}

// Eight bytes at a time (Kounavis and Berry, 2005).
static uint32_t by_tables(uint32_t crc, const uint8_t *bytes, size_t count) {
    pthread_once(&tables_once, make_tables);
    for (; count >= 8; bytes += 8, count -= 8) {
        uint32_t low = (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24) ^ crc;
        crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24]
            ^ tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
    }
    for (; count > 0; bytes++, count--) crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 0xFF];
    return crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint64_t wide = crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; count > 0; bytes++, count--) crc = _mm_crc32_u8(crc, *bytes);
    return crc;
}

static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <sys/auxv.h>

__attribute__((target("crc"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; bytes++, count--) crc = __crc32cb(crc, *bytes);
    return crc;
}

// HWCAP_CRC32 of <asm/hwcap.h>.
static int has_instruction(void) { return (getauxval(AT_HWCAP) & 1 << 7) != 0; }
#else
static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t count) { return by_tables(crc, bytes, count); }
static int has_instruction(void) { return 0; }
#endif

uint32_t checksum_crc32c(uint32_t value, const void *bytes, size_t count) {
    return ~(has_instruction() ? by_instruction(~value, bytes, count) : by_tables(~value, bytes, count));
}
