// XXH3 of sectors. xxhash.h is xxHash 0.8.1, unchanged (https://github.com/Cyan4973/xxHash, BSD-2-Clause): one header, so
// that a build needs no package of it. Only CXXHash.c includes it, since its macros are nothing that Swift can import.
#ifndef CXXHASH_H
#define CXXHASH_H

#include <stddef.h>
#include <stdint.h>

// The least that a secret must have.
size_t cxxhash_least_secret(void);

// Writes the hash of each sector of a buffer, of which the last may be shorter.
void cxxhash_sectors(
    const uint8_t *in, size_t length, size_t sector, const uint8_t *secret, size_t secret_length,
    uint64_t *out);

// The version of xxHash, such as 801 for 0.8.1.
unsigned cxxhash_version(void);

#endif
