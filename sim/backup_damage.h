/*
 * backup_damage.h - which fault a block or meta page of a backup file shows.
 *
 * The directory says only that a block is wrong; what stands in it says more, since each page and
 * each log block has an identity and checksums of its own.  Pure.
 */
#ifndef SIM_BACKUP_DAMAGE_H
#define SIM_BACKUP_DAMAGE_H

#include "verify/backup.h"
#include "verify/explain.h"

struct backup_damage {
    enum verdict verdict;
    uint64_t at; /* first wrong byte, from the start of the block or page */
    uint64_t size_bytes;
    bool has_page; /* which page of the database */
    uint32_t page_no;
    struct explanation why;
    char text[160];
};

/* scratch: LOG_BLOCK_BYTES_MAX bytes. */
void backup_damage_of_block(const struct backup_header *header, const struct run_identity *run,
                            const struct backup_block *block, const uint8_t *content,
                            uint8_t *scratch, struct backup_damage *out);
/* Of the meta page at offset; it is changed and put right again. */
void backup_damage_of_meta(uint8_t *meta_page, uint64_t offset, enum backup_check check,
                           struct backup_damage *out);

#endif
