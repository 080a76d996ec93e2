#include "CBase64.h"

#if defined(__x86_64__)
#include <immintrin.h>

// Twenty-four bytes at a time (Muła and Lemire, Faster Base64 Encoding and Decoding using AVX2 Instructions, 2018).
__attribute__((target("avx2"))) static size_t by_instructions(const uint8_t *bytes, size_t count, uint8_t *digits) {
    const __m256i spread = _mm256_setr_epi8(
        1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10, 1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
    const __m256i shifts = _mm256_setr_epi8(
        'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
        '+' - 62, '/' - 63, 'A', 0, 0, 'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
        '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
    size_t done = 0;
    // The second half is read from byte 12 on, sixteen bytes.
    for (; count - done >= 28; done += 24, digits += 32) {
        __m128i first = _mm_loadu_si128((const __m128i *)(bytes + done));
        __m128i second = _mm_loadu_si128((const __m128i *)(bytes + done + 12));
        __m256i groups = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), spread);
        __m256i odd = _mm256_mulhi_epu16(
            _mm256_and_si256(groups, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
        __m256i even = _mm256_mullo_epi16(
            _mm256_and_si256(groups, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
        __m256i values = _mm256_or_si256(odd, even);
        // 13 for A to Z, 0 for a to z, 1 to 10 for digits, 11 and 12 for the last two.
        __m256i classes = _mm256_or_si256(
            _mm256_subs_epu8(values, _mm256_set1_epi8(51)),
            _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), values), _mm256_set1_epi8(13)));
        _mm256_storeu_si256(
            (__m256i *)digits, _mm256_add_epi8(_mm256_shuffle_epi8(shifts, classes), values));
    }
    return done;
}

size_t base64_encode(const void *bytes, size_t count, void *digits) {
    return count >= 28 && __builtin_cpu_supports("avx2") ? by_instructions(bytes, count, digits) : 0;
}
#else
size_t base64_encode(const void *bytes, size_t count, void *digits) { return 0; }
#endif
