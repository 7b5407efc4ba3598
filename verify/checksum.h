/*
 * checksum.h - SQL Server's sector fold and the CRC-32 and XXH3-64 that pagestorm adds to it.
 *
 * sector_fold is used for pages (PAGE_VERIFY CHECKSUM) and log blocks alike; source: reference
 * "SQL Server storage I/O", sections 3.1 and 4.3.  Pure; any thread.
 */
#ifndef VERIFY_CHECKSUM_H
#define VERIFY_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* acc = rol(acc,1) XOR (XOR of the 128 LE dwords) for each 512-byte sector; the dword at
 * skip_offset counts as zero.  size_bytes is a multiple of 512, skip_offset of 4; a skip_offset at
 * or beyond size_bytes skips nothing. */
uint32_t sector_fold(const void *buf, size_t size_bytes, size_t skip_offset);
uint32_t crc32_zlib(uint32_t crc, const void *buf, size_t size_bytes);
uint64_t xxh3_64(const void *buf, size_t size_bytes);
uint64_t xxh3_64_seeded(const void *buf, size_t size_bytes, uint64_t seed);
/* xxh3_64 of head and tail one after the other: hashes an image with fields counted as zero without
 * copying more than the part that holds the fields. */
uint64_t xxh3_64_joined(const void *head, size_t head_bytes, const void *tail, size_t tail_bytes);

#endif
