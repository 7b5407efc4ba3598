/*
 * page.h - the data page: SQL Server's 8 KiB page, with pagestorm's stamp inside its one row.
 *
 * Layout (DESIGN section 5; all integers little-endian):
 *
 *   0x000  SQL header, 96 bytes: m_type 1, m_flagBits 0x0200, m_pageId, m_lsn, checksum
 *   0x060  one row of 8,060 bytes (slot 0 = 0x60, freeData 8156, freeCnt 34)
 *   0x064    page stamp, 96 bytes (struct page_stamp)
 *   0x0C4    body up to the row's null bitmap at 8153
 *   512*s    for s = 1..15: sector stamp, 16 bytes (struct sector_stamp), then body
 *   8190   slot array
 *
 * Build order: body, sector stamps, SQL header with 0x3C zero, page stamp, header CRC-32 (bytes
 * 0x00-0x3B and the stamp before the field), XXH3-64 of all 8,192 bytes with 0x3C and itself zero,
 * SQL checksum.  Check in reverse; no header field is believed before the header CRC is right.
 *
 * Invariants: the body is a pure function of (hash of seed and run id, file uid, page, generation);
 * format and body version are bytes of the stamp and every version ever released stays readable.
 * What it does not do: decide what a wrong page means (explain.h) or what was expected (ledger.h).
 *
 * Pure; any thread; nothing is allocated.
 */
#ifndef VERIFY_PAGE_H
#define VERIFY_PAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/lsn.h"

#define PAGE_BYTES            8192
#define PAGE_SECTOR_BYTES     512
#define PAGE_SECTORS          16
#define PAGE_FIRST_GENERATION 1 /* the initial update's */
#define EXTENT_PAGES          8
#define PAGE_HEADER_BYTES     96
#define PAGE_STAMP_OFFSET     0x64
#define PAGE_BODY_OFFSET      0xC4
#define PAGE_ROW_BYTES        8060
#define PAGE_BODY_END         8153 /* row's column count and null bitmap follow */
#define SECTOR_STAMP_BYTES    16
#define PAGE_OFFSET_FLAGS     0x04
#define PAGE_OFFSET_TORN_BITS 0x3C
#define PAGE_FLAG_TORN        0x0100
#define PAGE_FLAG_CHECKSUM    0x0200
#define PAGE_STAMP_MAGIC      0x4D545350u /* "PSTM" */
#define PAGE_FORMAT_VERSION   1
#define PAGE_BODY_VERSION     1
#define PAGE_COMPRESSIBLE_MAX 10000 /* hundredths of a percent */
#define PAGE_ACTOR_MODULUS    4096  /* as in the ledger */
#define RUN_ID_BYTES          16

/* m_type of the reference, section 2.1 */
enum page_type {
    PAGE_TYPE_DATA = 1,
    PAGE_TYPE_GAM = 8,
    PAGE_TYPE_SGAM = 9,
    PAGE_TYPE_IAM = 10,
    PAGE_TYPE_PFS = 11,
    PAGE_TYPE_BOOT = 13,
    PAGE_TYPE_FILE_HEADER = 15,
    PAGE_TYPE_DIFF = 16,
    PAGE_TYPE_ML = 17,
};

/* SQL Server's page header as on disk. */
struct page_header {
    uint8_t header_version; /* 1 */
    uint8_t type;
    uint8_t type_flags;
    uint8_t level;
    uint16_t flags;
    uint16_t index_id;
    uint32_t prev_page;
    uint16_t prev_file;
    uint16_t pminlen;
    uint32_t next_page;
    uint16_t next_file;
    uint16_t slot_count;
    uint32_t object_id;
    uint16_t free_count;
    uint16_t free_data;
    uint32_t page_no;
    uint16_t file_id;
    uint16_t reserved_count;
    uint32_t lsn_fseq;
    uint32_t lsn_block;
    uint16_t lsn_slot;
    uint16_t xact_reserved;
    uint32_t xdes_id_low;
    uint16_t xdes_id_high;
    uint16_t ghost_count;
    uint32_t torn_bits;
    uint8_t unused[32];
} __attribute__((packed));
static_assert(sizeof(struct page_header) == PAGE_HEADER_BYTES, "SQL Server's header is 96 bytes");
static_assert(offsetof(struct page_header, page_no) == 0x20, "m_pageId");
static_assert(offsetof(struct page_header, lsn_fseq) == 0x28, "m_lsn");
static_assert(offsetof(struct page_header, torn_bits) == PAGE_OFFSET_TORN_BITS, "m_tornBits");

/* pagestorm's page stamp as on disk, at PAGE_STAMP_OFFSET. */
struct page_stamp {
    uint32_t magic;
    uint8_t format_version;
    uint8_t body_version;
    uint16_t compressible; /* share of the body, 0..10000 (hundredths of a percent) */
    uint8_t run_id[RUN_ID_BYTES];
    uint16_t file_uid;
    uint16_t incarnation;
    uint32_t page_no;
    uint64_t generation;
    uint64_t write_time_ns; /* CLOCK_REALTIME, or virtual */
    uint64_t body_seed;     /* body_key of the run: hash of seed and run id */
    uint32_t lsn_fseq;      /* the header's m_lsn again */
    uint32_t lsn_block;
    uint16_t lsn_slot;
    uint16_t actor; /* who changed the page last, modulo 4096 */
    uint8_t reserved0[12];
    uint32_t header_crc; /* at +80 */
    uint32_t reserved1;
    uint64_t xxh3; /* at +88 */
} __attribute__((packed));
static_assert(sizeof(struct page_stamp) == 96, "page stamp is 96 bytes");
static_assert(offsetof(struct page_stamp, header_crc) == 80, "header CRC at +80");
static_assert(offsetof(struct page_stamp, xxh3) == 88, "XXH3 at +88");

/* Sector stamp as on disk, at the start of sectors 1..15. */
struct sector_stamp {
    uint32_t page_no;
    uint16_t file_uid;
    uint16_t run_tag;          /* 16 bits of the run id's hash */
    uint8_t generation_low[6]; /* low 48 bits */
    uint16_t sector_check;     /* sector << 12 | 12-bit CRC of the 14 bytes before and the sector */
} __attribute__((packed));
static_assert(sizeof(struct sector_stamp) == SECTOR_STAMP_BYTES, "sector stamp is 16 bytes");

/* Constants of a run that every page of it carries. */
struct run_identity {
    uint8_t run_id[RUN_ID_BYTES];
    uint64_t body_key; /* hash of seed and run id (run_identity_make) */
    uint16_t run_tag;
    uint16_t compressible; /* 0..10000 */
};

/* Identity of one page image. */
struct page_identity {
    uint16_t file_uid; /* run-wide */
    uint16_t incarnation;
    uint16_t file_id; /* SQL Server's, within its database */
    uint32_t page_no;
    uint64_t generation;
};

/* Derive body_key and run_tag. */
struct run_identity run_identity_make(const uint8_t run_id[RUN_ID_BYTES], uint64_t seed,
                                      uint16_t compressible);
/* First FSeqNo (2 .. 65,535 + 2) and start of the CRC chain of the run's logs. */
uint32_t run_first_fseq(const uint8_t run_id[RUN_ID_BYTES]);
uint32_t run_chain_start(const uint8_t run_id[RUN_ID_BYTES], uint16_t log_file_uid);

/* Change a page in memory: body, sector stamps, SQL header and stamp identity of a new generation.
 * The image is not valid on disk until page_seal. */
void page_fill(void *page, const struct run_identity *run, const struct page_identity *id,
               uint16_t actor);
/* Last step before I/O: m_lsn, write time, header CRC, XXH3, SQL checksum. */
void page_seal(void *page, struct lsn lsn, uint64_t write_time_ns);
/* Between the two, and after the second: a sum over the image as it is now, in the place of the
 * XXH3; is the page what it was then? */
void page_mark_built(void *page);
bool page_is_as_built(const void *page);
/* Protect any page by SQL Server's rule: set 0x0200, clear 0x0100, store the checksum. */
void page_protect_checksum(void *page);

/* One sector (PAGE_SECTOR_BYTES at sector_buf) of the image that page_fill + page_seal would build,
 * except for the bytes of sector 0 before PAGE_BODY_OFFSET (header and stamp), which are left
 * alone. */
void page_regenerate_sector(void *sector_buf, const struct run_identity *run,
                            const struct page_identity *id, unsigned sector);

enum page_check {
    PAGE_OK,
    PAGE_ALL_ZERO,
    PAGE_BAD_SQL_CHECKSUM,
    PAGE_BAD_MAGIC, /* no page stamp here */
    PAGE_BAD_HEADER_CRC,
    PAGE_BAD_XXH3,
    PAGE_UNKNOWN_VERSION,
};
/* Is the image whole in itself?  Says nothing about being the right one.  With PAGE_OK the fields
 * of header and stamp may be read (page_header_of, page_stamp_of). */
enum page_check page_check(const void *page);
/* Is the header CRC right, i.e. may stamp fields be believed although the body may be damaged? */
bool page_header_crc_ok(const void *page);

static inline const struct page_header *page_header_of(const void *page)
{
    return page;
}
static inline const struct page_stamp *page_stamp_of(const void *page)
{
    return (const struct page_stamp *)((const char *)page + PAGE_STAMP_OFFSET);
}
static inline struct lsn page_lsn(const void *page)
{
    const struct page_header *h = page;
    return (struct lsn){h->lsn_fseq, h->lsn_block, h->lsn_slot};
}
bool page_is_zero(const void *buf, size_t size_bytes);

/* A sector stamp read from a buffer, if it is one (its own check is right). */
struct sector_identity {
    uint32_t page_no;
    uint16_t file_uid;
    uint16_t run_tag;
    uint64_t generation_low; /* 48 bits */
    unsigned sector;
};
bool sector_stamp_read(const void *sector_buf, struct sector_identity *out);

/* Writes the stamps of one image: what all its sectors share is computed once. */
struct sector_stamper {
    struct sector_stamp stamp;
    uint32_t prefix_crc;
};
struct sector_stamper sector_stamper_make(uint32_t page_no, uint16_t file_uid, uint16_t run_tag,
                                          uint64_t generation);
/* Write SECTOR_STAMP_BYTES at sector_buf; sector is 0..15. */
void sector_stamper_write(const struct sector_stamper *stamper, void *sector_buf, unsigned sector);

#endif
