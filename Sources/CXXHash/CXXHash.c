#include "CXXHash.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

size_t cxxhash_least_secret(void) { return XXH3_SECRET_SIZE_MIN; }

void cxxhash_sectors(
    const uint8_t *in, size_t length, size_t sector, const uint8_t *secret, size_t secret_length,
    uint64_t *out) {
    for (size_t start = 0; start < length; start += sector) {
        size_t count = length - start < sector ? length - start : sector;
        *out++ = XXH3_64bits_withSecret(in + start, count, secret, secret_length);
    }
}

unsigned cxxhash_version(void) { return XXH_VERSION_NUMBER; }
