// xxHash's macros are nothing that Swift can import, so the one call that uses them stands here.
#ifndef CXXHASH_SHIM_H
#define CXXHASH_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

// The least that a secret must have.
static inline size_t cxxhash_least_secret(void) { return XXH3_SECRET_SIZE_MIN; }

// Writes the hash of each sector of a buffer, of which the last may be shorter.
static inline void cxxhash_sectors(
    const uint8_t *in, size_t length, size_t sector, const uint8_t *secret, size_t secret_length,
    uint64_t *out) {
    for (size_t start = 0; start < length; start += sector) {
        size_t count = length - start < sector ? length - start : sector;
        *out++ = XXH3_64bits_withSecret(in + start, count, secret, secret_length);
    }
}

#endif
