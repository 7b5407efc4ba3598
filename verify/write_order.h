/*
 * write_order.h - in which order pages were written and verified, of those of the recent past.
 *
 * One number for all acknowledged writes of a session, from 1.  Per page the number of its last
 * acknowledged write, and the number that had been reached when it was last verified.  Two tables
 * of WRITE_ORDER_SLOTS words in memory, whatever the size of the database: a page falls out when
 * another one takes its slot, and is then unknown.  What remains is a fair sample of all pages, for
 * the slot is a hash.  A slot knows its page by WRITE_ORDER_TAG_BITS more bits of that hash.
 *
 * What it is for: to tell a volume that went back in time from writes lost here and there, and what
 * was written beside a page since that was last right.
 *
 * Threads: any; each word is read and written whole.  Nothing is allocated after create.
 */
#ifndef VERIFY_WRITE_ORDER_H
#define VERIFY_WRITE_ORDER_H

#include <stdint.h>

#define WRITE_ORDER_SLOTS    65536u /* 512 KiB a table: it stays in a core's cache */
#define WRITE_ORDER_TAG_BITS 24

struct write_order;

struct write_order *write_order_create(void); /* NULL: no memory */
void write_order_free(struct write_order *order);

void write_order_written(struct write_order *order, uint16_t uid, uint32_t page_no);
void write_order_verified(struct write_order *order, uint16_t uid, uint32_t page_no);

/* 0: not known. */
struct page_order {
    uint64_t written;  /* number of the last acknowledged write */
    uint64_t verified; /* of the last write of any page when it was found right */
};
struct page_order write_order_of(const struct write_order *order, uint16_t uid, uint32_t page_no);
/* Writes so far. */
uint64_t write_order_now(const struct write_order *order);

#endif
