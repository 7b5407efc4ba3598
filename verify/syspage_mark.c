/*
 * syspage_mark.c - the mark that a file is ours: a second row of page 0.
 *
 * Invariants: the row stands at a fixed offset and carries a hash of its own, so that a page whose
 * other bytes are damaged, or whose text is, is still known as ours, and damaged.  Whatever is not
 * proven to be ours is foreign.  What it does not do: open, look for or delete files.
 */
#include "verify/syspage.h"

#include <errno.h>
#include <string.h>

#include "verify/checksum.h"
#include "verify/syspage_build.h"
#include "verify/syspage_layout.h"

/* The row as on disk. */
struct mark_row {
    uint8_t status;
    uint8_t zero;
    uint16_t fixed_end;
    char text[12]; /* MARK_TEXT */
    uint8_t run_id[RUN_ID_BYTES];
    uint16_t file_uid;
    uint16_t incarnation;
    uint16_t file_id;
    uint16_t database_id;
    uint32_t kind;
    uint32_t size_pages;
    uint32_t sector_bytes;
    uint64_t seed;
    uint16_t compressible;
    uint8_t format_version;
    uint8_t body_version;
    uint16_t log_count;
    uint16_t reserved;
    uint64_t xxh3; /* of the row before it */
    uint16_t columns;
    uint8_t null_bitmap;
} __attribute__((packed));
static_assert(sizeof(struct mark_row) == 79, "the mark is 79 bytes");
static_assert(offsetof(struct mark_row, text) == 4, "fixed-length data follows the row's start");
static_assert(offsetof(struct mark_row, seed) == 52, "seed of the run");
static_assert(offsetof(struct mark_row, xxh3) == 68, "hash of the row");
static_assert(sizeof(MARK_TEXT) <= sizeof(((struct mark_row *)0)->text), "room for the text");

#define MARK_ROW_OFFSET 220 /* behind the first row; the same in every file */
#define MARK_ROW_STATUS 0x10
#define MARK_COLUMNS    1

static void put_text(struct mark_row *row)
{
    memset(row->text, 0, sizeof(row->text));
    memcpy(row->text, MARK_TEXT, sizeof(MARK_TEXT));
}

static uint64_t row_hash(const struct mark_row *row)
{
    return xxh3_64(row, offsetof(struct mark_row, xxh3));
}

void file_mark_build(void *page0, const struct file_mark *mark)
{
    struct mark_row row = {
        .status = MARK_ROW_STATUS,
        .fixed_end = offsetof(struct mark_row, columns),
        .file_uid = mark->file_uid,
        .incarnation = mark->incarnation,
        .file_id = mark->file_id,
        .database_id = mark->database_id,
        .kind = (uint32_t)mark->kind,
        .size_pages = mark->size_pages,
        .sector_bytes = mark->sector_bytes,
        .seed = mark->seed,
        .compressible = mark->compressible,
        .log_count = mark->log_count > 1 ? mark->log_count : 0, /* 0: one, as always before */
        .format_version = PAGE_FORMAT_VERSION,
        .body_version = PAGE_BODY_VERSION,
        .columns = MARK_COLUMNS,
    };

    put_text(&row);
    memcpy(row.run_id, mark->run_id, RUN_ID_BYTES);
    row.xxh3 = row_hash(&row);
    uint8_t *at = syspage_add_row(page0, sizeof(row));
    assert(at == (uint8_t *)page0 + MARK_ROW_OFFSET);
    memcpy(at, &row, sizeof(row));
}

void file_mark_set_size(void *page0, uint32_t size_pages)
{
    struct mark_row row;
    uint8_t *at = (uint8_t *)page0 + MARK_ROW_OFFSET;

    memcpy(&row, at, sizeof(row));
    row.size_pages = size_pages;
    row.xxh3 = row_hash(&row);
    memcpy(at, &row, sizeof(row));
}

enum mark_state { MARK_ABSENT, MARK_DAMAGED, MARK_WHOLE };

static enum mark_state mark_state(const struct mark_row *row)
{
    struct mark_row with_text = *row;

    put_text(&with_text);
    bool text = memcmp(with_text.text, row->text, sizeof(row->text)) == 0;
    bool hash = row_hash(&with_text) == row->xxh3;
    if (text && hash)
        return MARK_WHOLE;
    return text || hash ? MARK_DAMAGED : MARK_ABSENT;
}

/* The hash says that the fields are as they were written, not that a sane program wrote them. */
static bool fields_valid(const struct mark_row *row, const struct file_header_info *info)
{
    return row->file_uid != 0 && row->kind <= FILE_KIND_SNAPSHOT &&
           (row->sector_bytes == 512 || row->sector_bytes == 4096) &&
           row->compressible <= PAGE_COMPRESSIBLE_MAX &&
           row->format_version == PAGE_FORMAT_VERSION && row->body_version == PAGE_BODY_VERSION &&
           row->file_id == info->file_id && row->size_pages == info->size_pages &&
           row->sector_bytes == info->sector_bytes;
}

static void mark_from_row(struct file_mark *out, const struct mark_row *row)
{
    *out = (struct file_mark){
        .file_uid = row->file_uid,
        .incarnation = row->incarnation,
        .file_id = row->file_id,
        .database_id = row->database_id,
        .kind = (enum file_kind)row->kind,
        .size_pages = row->size_pages,
        .sector_bytes = row->sector_bytes,
        .seed = row->seed,
        .compressible = row->compressible,
        .log_count = row->log_count ? row->log_count : 1,
    };
    memcpy(out->run_id, row->run_id, RUN_ID_BYTES);
}

/* Ours are always under the page checksum; foreign ones under what their database uses, or nothing.
 */
int file_mark_read(const void *page0, struct file_mark *out)
{
    struct mark_row row;
    struct file_header_info info;

    memcpy(&row, (const uint8_t *)page0 + MARK_ROW_OFFSET, sizeof(row));
    enum mark_state state = mark_state(&row);
    bool header = file_header_read(page0, &info);
    if (state == MARK_ABSENT)
        return header && file_header_sound(page0) ? -ENOENT : -EINVAL;
    if (state == MARK_DAMAGED || !header || !fields_valid(&row, &info) ||
        !syspage_check(page0, SYSPAGE_FILE_HEADER, 0, row.file_id))
        return -EBADMSG;
    mark_from_row(out, &row);
    return 0;
}
