/*
 * table.h - something for each sector of a file that has it: a table of rows of 128 sectors (64
 * KiB), so that the next sector in order, and whether a range has any, cost no search.
 *
 * The caller owns what the entries point to.  No locks: faultfs uses it under its gate.
 */
#ifndef FAULTFS_TABLE_H
#define FAULTFS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SECTOR_BYTES  512u
#define TABLE_ROW     128u
#define TABLE_NOTHING UINT64_MAX

struct table {
    void ***rows;
    uint64_t row_count;
    uint64_t used;
};

void *table_get(const struct table *table, uint64_t sector);
void table_set(struct table *table, uint64_t sector, void *entry); /* NULL: takes it out */
/* The first sector from `from` on, below `end`, that has an entry, or TABLE_NOTHING. */
uint64_t table_next(const struct table *table, uint64_t from, uint64_t end);
void table_free(struct table *table); /* the table, not the entries */

#endif
