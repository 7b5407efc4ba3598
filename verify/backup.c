/*
 * backup.c - meta pages of a backup file, and loading a backup from them; see backup.h.
 *
 * Invariant: what was loaded is consistent in itself: rows in order of sequence without a gap, each
 * inside the file, of a size that its kind allows, none overlapping the one before it.
 */
#include "verify/backup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/check.h"
#include "verify/checksum.h"
#include "verify/logblk.h"
#include "verify/vlf.h"

static uint64_t meta_xxh3(const void *meta_page)
{
    struct backup_meta head;
    memcpy(&head, meta_page, sizeof head);
    head.xxh3 = 0;
    return xxh3_64_joined(&head, sizeof head, (const uint8_t *)meta_page + sizeof head,
                          BACKUP_META_BYTES - sizeof head);
}

void backup_meta_seal(void *meta_page)
{
    uint64_t value = meta_xxh3(meta_page);
    memcpy((uint8_t *)meta_page + offsetof(struct backup_meta, xxh3), &value, sizeof value);
}

static bool belongs(const struct backup_meta *meta, const struct backup_header *of)
{
    return meta->number == of->meta.number && meta->file_uid == of->meta.file_uid &&
           memcmp(meta->run_id, of->meta.run_id, sizeof meta->run_id) == 0;
}

enum backup_check backup_meta_check(const void *meta_page, enum backup_meta_type type,
                                    uint64_t offset, const struct backup_header *of)
{
    struct backup_meta meta;
    memcpy(&meta, meta_page, sizeof meta);
    if (page_is_zero(meta_page, BACKUP_META_BYTES))
        return BACKUP_ZERO;
    if (CHECKED(backup_meta_sum) && meta.xxh3 != meta_xxh3(meta_page))
        return meta.magic == BACKUP_MAGIC ? BACKUP_DAMAGED : BACKUP_FOREIGN;
    if (meta.magic != BACKUP_MAGIC || meta.version != BACKUP_VERSION)
        return BACKUP_FOREIGN;
    if (meta.type != type || meta.offset != offset ||
        (CHECKED(backup_owner) && of && !belongs(&meta, of)))
        return BACKUP_OTHER;
    return BACKUP_OK;
}

bool backup_block_is_right(const struct backup_block *block, const void *content)
{
    return !CHECKED(backup_block_sum) || xxh3_64(content, block->bytes) == block->xxh3;
}

/* ---- loading ---- */

static bool header_makes_sense(const struct backup_header *h)
{
    bool sizes = h->block_bytes >= LOG_SECTOR_BYTES && h->block_bytes <= 65536 &&
                 (h->block_bytes & (h->block_bytes - 1)) == 0 &&
                 h->transfer_bytes >= BACKUP_TRANSFER_BYTES_MIN &&
                 h->transfer_bytes <= BACKUP_TRANSFER_BYTES_MAX &&
                 h->transfer_bytes % BACKUP_TRANSFER_BYTES_MIN == 0;
    bool kind = h->kind == BACKUP_FULL || h->kind == BACKUP_LOG;
    if (!sizes || !kind || h->meta.count > BACKUP_FILES_MAX ||
        h->compressible > PAGE_COMPRESSIBLE_MAX || h->end_position < h->first_position ||
        memchr(h->database, 0, sizeof h->database) == NULL)
        return false;
    for (uint32_t i = 0; i < h->meta.count; i++)
        if (memchr(h->files[i].name, 0, BACKUP_NAME_BYTES) == NULL)
            return false;
    return true;
}

static bool pages_make_sense(const struct backup_block *row)
{
    return row->count > 0 && row->bytes == (uint64_t)row->count * PAGE_BYTES &&
           (uint64_t)row->first + row->count <= UINT32_MAX;
}

static bool log_makes_sense(const struct backup_block *row)
{
    return row->bytes > 0 && row->bytes % LOG_SECTOR_BYTES == 0 &&
           row->count >= VLF_HEADER_BYTES / LOG_SECTOR_BYTES;
}

/* before: the row with the next smaller sequence, or NULL. */
static bool row_makes_sense(const struct backup_set *set, const struct backup_block *row,
                            const struct backup_block *before)
{
    const struct backup_header *h = &set->header;
    uint64_t least = before ? backup_next_offset(h, before->offset, before->bytes)
                            : h->meta.offset + BACKUP_META_BYTES;
    bool place = row->offset >= least && row->offset % h->block_bytes == 0 &&
                 row->bytes <= h->transfer_bytes && row->offset + row->bytes <= h->trailer_offset;
    if (!place)
        return false;
    return row->kind == BACKUP_BLOCK_PAGES ? pages_make_sense(row)
                                           : row->kind == BACKUP_BLOCK_LOG && log_makes_sense(row);
}

static int bad(struct backup_set *set, uint64_t offset, enum backup_check what)
{
    set->bad_offset = offset;
    set->bad = what;
    return -EBADMSG;
}

static int read_meta(struct backup_set *set, const struct backup_reader *reader, uint64_t offset,
                     enum backup_meta_type type, void *memory)
{
    if (offset % LOG_SECTOR_BYTES || offset > reader->file_bytes ||
        reader->file_bytes - offset < BACKUP_META_BYTES)
        return bad(set, offset, BACKUP_DAMAGED);
    int error = reader->read(reader->context, offset, memory, BACKUP_META_BYTES);
    if (error) {
        set->bad_offset = offset;
        return error;
    }
    const struct backup_header *of = type == BACKUP_HEADER ? NULL : &set->header;
    enum backup_check check = backup_meta_check(memory, type, offset, of);
    return check == BACKUP_OK ? 0 : bad(set, offset, check);
}

static int load_header(struct backup_set *set, const struct backup_reader *reader, uint64_t offset,
                       uint32_t previous, void *memory)
{
    if (offset > reader->file_bytes || reader->file_bytes - offset < BACKUP_META_BYTES)
        return -ENOENT;
    int error = read_meta(set, reader, offset, BACKUP_HEADER, memory);
    /* Behind the last backup anything of an earlier use may stand, but no damaged header. */
    if (error == -EBADMSG && (set->bad == BACKUP_ZERO || (previous && set->bad != BACKUP_DAMAGED)))
        return -ENOENT;
    if (error)
        return error;
    memcpy(&set->header, memory, sizeof set->header);
    if (set->header.meta.number <= previous)
        return -ENOENT;
    if (!header_makes_sense(&set->header))
        return bad(set, offset, BACKUP_DAMAGED);
    return set->header.complete ? 0 : -EINPROGRESS;
}

/* The rows of the directory at offset, which must be those before `end`; *offset is then the one
 * before it. */
static int load_directory(struct backup_set *set, const struct backup_reader *reader,
                          uint64_t *offset, size_t *end, void *memory)
{
    int error = read_meta(set, reader, *offset, BACKUP_DIRECTORY, memory);
    if (error)
        return error;
    const struct backup_directory *directory = memory;
    size_t count = directory->meta.count;
    if (count == 0 || count > BACKUP_DIRECTORY_BLOCKS || count > *end ||
        directory->meta.sequence != *end || directory->previous >= *offset)
        return bad(set, *offset, BACKUP_DAMAGED);
    memcpy(&set->blocks[*end - count], directory->blocks, count * sizeof *set->blocks);
    *end -= count;
    *offset = directory->previous;
    return 0;
}

static int load_rows(struct backup_set *set, const struct backup_reader *reader, void *memory)
{
    uint64_t offset = set->trailer.last_directory;
    size_t end = set->count;
    int error = 0;
    while (end && !error)
        error = load_directory(set, reader, &offset, &end, memory);
    for (size_t i = 0; i < set->count && !error; i++) {
        const struct backup_block *row = &set->blocks[i];
        if (row->sequence != i || !row_makes_sense(set, row, i ? row - 1 : NULL))
            error = bad(set, set->trailer.last_directory, BACKUP_DAMAGED);
    }
    return error;
}

int backup_set_load(struct backup_set *set, const struct backup_reader *reader, uint64_t offset,
                    uint32_t previous, void *memory)
{
    memset(set, 0, sizeof *set);
    int error = load_header(set, reader, offset, previous, memory);
    if (!error)
        error = read_meta(set, reader, set->header.trailer_offset, BACKUP_TRAILER, memory);
    if (error)
        return error;
    memcpy(&set->trailer, memory, sizeof set->trailer);
    /* every block takes space in the file: no more are believed than fit */
    if (set->trailer.blocks > reader->file_bytes / set->header.block_bytes ||
        set->trailer.blocks > BACKUP_BLOCKS_MAX)
        return bad(set, set->header.trailer_offset, BACKUP_DAMAGED);
    set->count = (size_t)set->trailer.blocks;
    set->blocks = calloc(set->count ? set->count : 1, sizeof *set->blocks);
    error = set->blocks ? load_rows(set, reader, memory) : -ENOMEM;
    if (error) {
        free(set->blocks);
        set->blocks = NULL;
    }
    return error;
}

void backup_set_free(struct backup_set *set)
{
    free(set->blocks);
    memset(set, 0, sizeof *set);
}

uint64_t backup_set_end(const struct backup_set *set)
{
    return set->header.trailer_offset + BACKUP_META_BYTES;
}
