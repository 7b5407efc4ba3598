/*
 * checksum.c - the sector fold, and thin doors to zlib's CRC-32 and xxHash's XXH3-64.
 *
 * Invariants: sector_fold reads each byte once and needs no alignment; the results do not depend on
 * the width of the machine's registers.  What it does not do: know where a checksum is stored
 * (page.c, logblk.c).
 */
#include "verify/checksum.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#define XXH_STATIC_LINKING_ONLY /* the streaming state on the stack, not on the heap */
#include <xxhash.h>
/* The library picks the widest vectors of this machine at run time, where it is built for that; the
 * header is installed only then.  Instruction counts that machines shall agree on need the portable
 * path. */
#if defined(__x86_64__) && !defined(PORTABLE_DISPATCH)
#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif
#endif

#define FOLD_SECTOR_BYTES 512 /* of every SQL Server format, on 4K volumes too */

/* All dwords of a sector may be folded in any order, so two wide lanes do it; the compiler maps the
 * type to whatever vectors the machine has. */
typedef uint64_t fold_lane __attribute__((vector_size(16)));

static uint32_t sector_xor(const uint8_t *sector)
{
    fold_lane even = {0, 0};
    fold_lane odd = {0, 0};

    for (size_t at = 0; at < FOLD_SECTOR_BYTES; at += 2 * sizeof(fold_lane)) {
        fold_lane a;
        fold_lane b;
        memcpy(&a, sector + at, sizeof(a));
        memcpy(&b, sector + at + sizeof(a), sizeof(b));
        even ^= a;
        odd ^= b;
    }
    even ^= odd;
    uint64_t word = even[0] ^ even[1];
    return (uint32_t)word ^ (uint32_t)(word >> 32);
}

uint32_t sector_fold(const void *buf, size_t size_bytes, size_t skip_offset)
{
    const uint8_t *bytes = buf;
    size_t skip_sector = skip_offset / FOLD_SECTOR_BYTES;
    uint32_t acc = 0;

    assert(size_bytes % FOLD_SECTOR_BYTES == 0 && skip_offset % sizeof(uint32_t) == 0);
    for (size_t sector = 0; sector < size_bytes / FOLD_SECTOR_BYTES; sector++) {
        uint32_t x = sector_xor(bytes + sector * FOLD_SECTOR_BYTES);
        if (sector == skip_sector) {
            uint32_t stored;
            memcpy(&stored, bytes + skip_offset, sizeof(stored));
            x ^= stored;
        }
        acc = (acc << 1 | acc >> 31) ^ x;
    }
    return acc;
}

uint32_t crc32_zlib(uint32_t crc, const void *buf, size_t size_bytes)
{
    return (uint32_t)crc32_z(crc, buf, size_bytes);
}

uint64_t xxh3_64(const void *buf, size_t size_bytes)
{
    return XXH3_64bits(buf, size_bytes);
}

uint64_t xxh3_64_seeded(const void *buf, size_t size_bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(buf, size_bytes, seed);
}

uint64_t xxh3_64_joined(const void *head, size_t head_bytes, const void *tail, size_t tail_bytes)
{
    XXH3_state_t state;

    /* Streaming fails only for null pointers. */
    XXH3_INITSTATE(&state);
    (void)XXH3_64bits_reset(&state);
    (void)XXH3_64bits_update(&state, head, head_bytes);
    (void)XXH3_64bits_update(&state, tail, tail_bytes);
    return XXH3_64bits_digest(&state);
}
