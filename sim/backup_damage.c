/* backup_damage.c - see backup_damage.h. */
#include "sim/backup_damage.h"

#include <stdio.h>
#include <string.h>

#include "sim/log_spot.h"

/* ---- pages ---- */

static const struct backup_file_row *row_of(const struct backup_header *header, uint16_t uid)
{
    for (uint32_t i = 0; i < header->meta.count; i++)
        if (header->files[i].uid == uid)
            return &header->files[i];
    return NULL;
}

static bool stamp_is_of(const uint8_t *page, const struct run_identity *run, uint16_t uid,
                        uint32_t page_no)
{
    const struct page_stamp *stamp = page_stamp_of(page);
    return stamp->page_no == page_no && stamp->file_uid == uid &&
           memcmp(stamp->run_id, run->run_id, sizeof stamp->run_id) == 0;
}

/* The generation that the page most likely had: its header's, or the newest of its sectors. */
static uint64_t likely_generation(const uint8_t *page, const struct run_identity *run, uint16_t uid,
                                  uint32_t page_no)
{
    uint64_t newest = 0;
    if (page_header_crc_ok(page) && stamp_is_of(page, run, uid, page_no))
        return page_stamp_of(page)->generation;
    for (unsigned i = 1; i < PAGE_SECTORS; i++) {
        struct sector_identity sector;
        if (sector_stamp_read(page + (size_t)i * PAGE_SECTOR_BYTES, &sector) &&
            sector.page_no == page_no && sector.file_uid == uid && sector.run_tag == run->run_tag &&
            sector.generation_low > newest)
            newest = sector.generation_low;
    }
    return newest ? newest : 1;
}

static bool data_is_whole(const uint8_t *page, const struct run_identity *run, uint16_t uid,
                          uint32_t page_no)
{
    return page_check(page) == PAGE_OK && stamp_is_of(page, run, uid, page_no);
}

static void explain_page(const struct run_identity *run, const struct backup_file_row *row,
                         uint32_t page_no, const uint8_t *page, struct backup_damage *out)
{
    uint64_t generation = likely_generation(page, run, row->uid, page_no);
    struct expectation expect = {.run = run,
                                 .file_uid = row->uid,
                                 .incarnation = row->incarnation,
                                 .file_id = row->file_id,
                                 .page_no = page_no,
                                 .owed = {.acked = generation,
                                          .issued = generation,
                                          .durable = generation,
                                          .state = LEDGER_QUIET},
                                 .created_by_us = true};
    explain(page, 0, &expect, &out->why);
    out->verdict = out->why.verdict;
    if (out->why.first_bad_offset > 0)
        out->at += (uint64_t)out->why.first_bad_offset;
}

/* False: the page is whole. */
static bool page_damage(const struct run_identity *run, const struct backup_file_row *row,
                        uint32_t page_no, const uint8_t *page, struct backup_damage *out)
{
    enum syspage_kind kind = syspage_kind(page_no, row->primary);
    bool zero = page_is_zero(page, PAGE_BYTES);
    bool whole = kind == SYSPAGE_RESERVED ? zero
                 : kind == SYSPAGE_NONE   ? data_is_whole(page, run, row->uid, page_no)
                                          : syspage_check(page, kind, page_no, row->file_id);
    /* In a sparse file a page may be a hole; whether this one was, only the block's hash knew. */
    if (whole || (zero && row->sparse))
        return false;
    out->has_page = true;
    out->page_no = page_no;
    out->size_bytes = PAGE_BYTES;
    if (zero)
        out->verdict = VERDICT_zeroed;
    else if (kind == SYSPAGE_NONE)
        explain_page(run, row, page_no, page, out);
    else
        out->verdict =
            page_header_of(page)->page_no == page_no ? VERDICT_bit_flip : VERDICT_garbage;
    return out->verdict != VERDICT_NONE;
}

static bool pages_damage(const struct backup_header *header, const struct run_identity *run,
                         const struct backup_block *block, const uint8_t *content,
                         struct backup_damage *out)
{
    const struct backup_file_row *row = row_of(header, block->file_uid);
    for (uint32_t i = 0; row && i < block->count; i++) {
        out->at = (uint64_t)i * PAGE_BYTES;
        if (page_damage(run, row, block->first + i, content + out->at, out))
            return true;
    }
    return false;
}

/* ---- log ---- */

static bool log_damage(const struct backup_block *block, const uint8_t *content, uint8_t *scratch,
                       struct backup_damage *out)
{
    uint32_t crc = block->crc;
    size_t at = 0;
    while (at < block->bytes) {
        struct log_block_info info;
        uint32_t number = block->count + (uint32_t)(at / LOG_SECTOR_BYTES);
        enum log_block_check what =
            log_block_check(content + at, block->bytes - at, block->parity, block->first, number,
                            true, crc, scratch, &info);
        if (what != LOG_BLOCK_OK) {
            out->at = at;
            out->size_bytes = block->bytes - at;
            out->verdict = what == LOG_BLOCK_ZERO ? VERDICT_zeroed : log_spot_verdict(what, false);
            return true;
        }
        crc = info.own_crc;
        at += info.size_bytes;
    }
    return false;
}

void backup_damage_of_block(const struct backup_header *header, const struct run_identity *run,
                            const struct backup_block *block, const uint8_t *content,
                            uint8_t *scratch, struct backup_damage *out)
{
    bool pages = block->kind == BACKUP_BLOCK_PAGES;
    *out = (struct backup_damage){.size_bytes = block->bytes};
    bool named = false;
    if (page_is_zero(content, block->bytes))
        out->verdict = VERDICT_zeroed, named = true;
    else if (pages)
        named = pages_damage(header, run, block, content, out);
    else
        named = log_damage(block, content, scratch, out);
    if (!named) { /* all of it whole, and not what was written: from an earlier use of the file */
        out->at = 0;
        out->verdict = VERDICT_lost_write;
    }
    snprintf(out->text, sizeof out->text, "block %llu of backup %u: %s %u, %u %s",
             (unsigned long long)block->sequence, header->meta.number,
             pages ? "pages from" : "log of FSeqNo", block->first, block->count,
             pages ? "of them" : "its first block");
}

/* ---- meta pages ---- */

/* The one bit that makes the page right again, or -1. */
static int flipped_bit(uint8_t *page)
{
    const struct backup_meta *meta = (const struct backup_meta *)page;
    for (unsigned bit = 0; bit < BACKUP_META_BYTES * 8; bit++) {
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool right = backup_meta_check(page, (enum backup_meta_type)meta->type, meta->offset,
                                       NULL) == BACKUP_OK;
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (right)
            return (int)bit;
    }
    return -1;
}

void backup_damage_of_meta(uint8_t *meta_page, uint64_t offset, enum backup_check check,
                           struct backup_damage *out)
{
    static const char *const texts[] = {[BACKUP_ZERO] = "a meta page of the backup is zero",
                                        [BACKUP_DAMAGED] = "a meta page of the backup is damaged",
                                        [BACKUP_FOREIGN] = "no meta page of a backup stands here",
                                        [BACKUP_OTHER] =
                                            "a meta page of another place or backup stands here"};
    *out = (struct backup_damage){.size_bytes = BACKUP_META_BYTES};
    snprintf(out->text, sizeof out->text, "%s", texts[check]);
    if (check == BACKUP_ZERO) {
        out->verdict = VERDICT_zeroed;
        return;
    }
    if (check == BACKUP_OTHER) {
        const struct backup_meta *meta = (const struct backup_meta *)meta_page;
        out->verdict = meta->offset == offset ? VERDICT_lost_write : VERDICT_misdirected_write;
        return;
    }
    int bit = flipped_bit(meta_page);
    out->verdict = bit >= 0 ? VERDICT_bit_flip : VERDICT_garbage;
    out->at = bit >= 0 ? (uint64_t)bit / 8 : 0;
}
