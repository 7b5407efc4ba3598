/*
 * page_sectors.h - which sectors of a page cannot be read.
 *
 * A read of a page fails as a whole when one of its sectors does.  Each unit that the file can be
 * read in (512 or 4096 bytes) is read alone, once, one after the other.
 *
 * Ownership: the reader's.  No allocation.
 */
#ifndef SIM_PAGE_SECTORS_H
#define SIM_PAGE_SECTORS_H

#include <stdint.h>

#include "sim/io.h"
#include "verify/page.h"

struct page_sectors {
    uint32_t unit_bytes; /* 0: they were not read */
    uint32_t at;         /* bytes of the page that are behind it */
    uint32_t bad;        /* a bit for each sector of 512 bytes */
    uint64_t serial;     /* of the poison that stands where nothing was read */
    uint8_t *image;
    struct iovec iov;
};

static_assert(PAGE_SECTORS <= 32, "a bit for each sector");

/* Begin with a page for image, that this fills with poison. */
void page_sectors_begin(struct page_sectors *sectors, const struct io_target *target,
                        uint8_t *image, uint64_t serial);
/* Make req the next read; false: all were read. */
bool page_sectors_next(struct page_sectors *sectors, struct io_req *req, uint32_t page_no);
/* The read of it ended so. */
void page_sectors_done(struct page_sectors *sectors, int result);
/* "4-7, 12 (512 bytes each)" */
void page_sectors_text(const struct page_sectors *sectors, char *out, size_t out_size_bytes);
/* In the map of the sectors of the image: what could not be read. */
void page_sectors_mark(const struct page_sectors *sectors, char map[PAGE_SECTORS + 1]);

#endif
