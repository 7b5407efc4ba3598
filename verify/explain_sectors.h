/*
 * explain_sectors.h - the sector map: whose bytes are these?  Shared by the explain_*.c files.
 *
 * Pure; the caller holds all memory.
 */
#ifndef VERIFY_EXPLAIN_SECTORS_H
#define VERIFY_EXPLAIN_SECTORS_H

#include "verify/explain.h"

/* Up to here a sector counts as a damaged form of the right one (two different sectors differ in
 * about 2,048 of their 4,096 bits), and a page as flipped bits rather than garbage (64 bits are
 * what 16 random bytes change). */
#define EXPLAIN_NEAR_BITS 256
#define EXPLAIN_FLIP_BITS 64
/* So many wrong bytes that are all zero are a zeroed range (by chance: 2^-128). */
#define EXPLAIN_ZERO_BYTES 16

/* How bytes differ from the right ones. */
struct difference {
    unsigned bits, bytes;
    int first;     /* offset of the first differing byte, -1 if there is none */
    bool all_zero; /* every differing byte is zero in the image */
};
struct difference difference_between(const void *image, const void *right, size_t size_bytes);
/* The right bytes with a little damage, or with a range of zeros? */
bool difference_near(const struct difference *d);

/* Who wrote the bytes, as far as they say. */
struct origin {
    uint16_t file_uid;
    uint32_t page_no;
    uint64_t generation;
    bool other_run;
    unsigned sector; /* of that page */
    bool is_log;     /* a log block instead: of which the following is known */
    uint32_t fseq, block;
};

struct sector_finding {
    enum sector_state state;
    /* NEW, OLD, DAMAGED: generation of this page that these bytes are, or are nearest to; ZERO: 0.
     */
    uint64_t generation;
    struct difference damage; /* DAMAGED: of what can be compared */
    bool header_damaged;      /* sector 0 DAMAGED: header or stamp is not right */
    bool has_origin;          /* OTHER, FOREIGN: origin was read from a stamp */
    struct origin origin;
    bool
        never_issued; /* FOREIGN: right bytes of this page, of a generation newer than any issued */
};

struct sector_map {
    struct sector_finding sector[PAGE_SECTORS];
};

/* Generation 0 stands for zeros. */
bool explain_allowed(const struct expectation *expect, uint64_t generation);
/* The newest that the place may show. */
uint64_t explain_newest(const struct expectation *expect);

/* Data pages.  io_serial: of the read, or NULL when poison is not looked for. */
void sector_map_make(const void *page, const uint64_t *io_serial, const struct expectation *expect,
                     struct sector_map *out);
/* Does every sector hold, whole, what the place may show? */
bool sector_map_allowed(const struct sector_map *map, const struct expectation *expect);
void sector_map_text(const struct sector_map *map, char out[PAGE_SECTORS + 1]);

/* Foreign sectors that hold a log block of this format become OTHER, with is_log. */
void sector_map_find_log(const void *page, struct sector_map *map);
/* Origin of the explanation from one sector's. */
void explain_origin_put(struct explanation *out, const struct origin *origin);
/* How far all sectors of other places stand from their own ones, if it is the same distance. */
void explain_shift_put(struct explanation *out, const struct sector_map *map,
                       const struct expectation *expect);

/* A sector of another page (or of this one at another place), proven by regeneration, or by the
 * header CRC if it is the first one of its page. */
bool sector_is_other(const void *sector_buf, unsigned sector, const struct expectation *expect,
                     struct origin *out);
/* Header and stamp are damaged, the body of all sectors is generation's: the offset of the byte in
 * which one bit is wrong, or -1 when more than one bit is. */
int explain_header_flip(const void *page, const struct expectation *expect, uint64_t generation);

/* System pages (expect->kind is not SYSPAGE_NONE). */
bool explain_system_is_right(const void *page, const struct expectation *expect);
void explain_system(const void *page, uint64_t io_serial, const struct expectation *expect,
                    struct explanation *out);

#endif
