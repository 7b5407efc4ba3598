/*
 * syspage_header.c - the file header page: its first row, as SQL Server keeps it, written and read.
 *
 * The row is an ordinary FixedVar record: 4 fixed bytes, null bitmap, 24 variable-length columns.
 * Invariants: the reader takes any 8 KiB whatever and never looks outside them; a row is read as
 * far as its own lengths agree with each other.  What it does not do: know whose file it is
 * (syspage_mark.c).
 */
#include "verify/syspage.h"

#include <string.h>

#include "verify/checksum.h"
#include "verify/syspage_build.h"
#include "verify/syspage_layout.h"
#include "verify/torn.h"

#define HEADER_ROW_STATUS     0x30 /* null bitmap, variable-length columns */
#define HEADER_FIXED_END      8
#define HEADER_VAR_COLUMNS    24
#define HEADER_COLUMNS        (HEADER_VAR_COLUMNS + 1)
#define HEADER_NULL_BYTES     ((HEADER_COLUMNS + 7) / 8)
#define HEADER_ENDS_OFFSET    (HEADER_FIXED_END + 2 + HEADER_NULL_BYTES + 2)
#define HEADER_DATA_OFFSET    (HEADER_ENDS_OFFSET + 2 * HEADER_VAR_COLUMNS)
#define HEADER_DATA_BYTES_MAX 64
#define GUID_BYTES            16
#define COLUMN_LENGTH_MASK    0x7FFF     /* the top bit marks a column stored elsewhere */
#define LOG_SIZE_MAX_PAGES    268435456u /* 2 TB: SQL Server's limit for a log file */
#define SIZE_UNLIMITED        UINT32_MAX
#define FILEGROUP_PRIMARY     1
#define FILEGROUP_LOG         0
#define SECTOR_BYTES_MIN      512u
#define SECTOR_BYTES_MAX      65536u

enum header_column {
    COLUMN_BINDING = 0, /* the same GUID in all files of a database */
    COLUMN_FILE_ID = 2,
    COLUMN_FILEGROUP = 3,
    COLUMN_SIZE = 4, /* pages */
    COLUMN_SIZE_MAX = 5,
    COLUMN_GROWTH = 6,
    COLUMN_SIZE_MIN = 12,
    COLUMN_STATUS = 13,
    COLUMN_SECTOR = 15,
    COLUMN_GUID = 23,
};

/* The row under construction: columns come in ascending order, those left out are empty. */
struct row_writer {
    uint8_t row[HEADER_DATA_OFFSET + HEADER_DATA_BYTES_MAX];
    size_t used;
    unsigned next_column;
};

static void end_columns_before(struct row_writer *w, unsigned column)
{
    for (; w->next_column < column; w->next_column++)
        syspage_put_u16(w->row + HEADER_ENDS_OFFSET + (size_t)2 * w->next_column,
                        (uint16_t)w->used);
}

static void put_column(struct row_writer *w, enum header_column column, const void *value,
                       size_t value_bytes)
{
    assert(w->used + value_bytes <= sizeof(w->row));
    end_columns_before(w, column);
    memcpy(w->row + w->used, value, value_bytes);
    w->used += value_bytes;
    end_columns_before(w, column + 1);
}

static void put_column_u16(struct row_writer *w, enum header_column column, uint16_t value)
{
    put_column(w, column, &value, sizeof(value));
}

static void put_column_u32(struct row_writer *w, enum header_column column, uint32_t value)
{
    put_column(w, column, &value, sizeof(value));
}

/* A GUID that follows from the run and two numbers, so that the same run writes the same file. */
static void put_column_guid(struct row_writer *w, enum header_column column,
                            const struct file_mark *mark, uint16_t a, uint16_t b)
{
    uint64_t seed = (uint64_t)column << 32 | (uint64_t)a << 16 | b;
    uint64_t guid[2] = {
        xxh3_64_seeded(mark->run_id, RUN_ID_BYTES, 2 * seed),
        xxh3_64_seeded(mark->run_id, RUN_ID_BYTES, 2 * seed + 1),
    };
    static_assert(sizeof(guid) == GUID_BYTES, "two hashes make a GUID");

    put_column(w, column, guid, sizeof(guid));
}

static void put_columns(struct row_writer *w, const struct file_mark *mark)
{
    bool log = mark->kind == FILE_KIND_LOG;

    put_column_guid(w, COLUMN_BINDING, mark, mark->database_id, 0);
    put_column_u16(w, COLUMN_FILE_ID, mark->file_id);
    put_column_u16(w, COLUMN_FILEGROUP, log ? FILEGROUP_LOG : FILEGROUP_PRIMARY);
    put_column_u32(w, COLUMN_SIZE, mark->size_pages);
    put_column_u32(w, COLUMN_SIZE_MAX, log ? LOG_SIZE_MAX_PAGES : SIZE_UNLIMITED);
    put_column_u32(w, COLUMN_GROWTH, 0);
    put_column_u32(w, COLUMN_SIZE_MIN, mark->size_pages);
    put_column_u32(w, COLUMN_STATUS, 0);
    put_column_u32(w, COLUMN_SECTOR, mark->sector_bytes);
    put_column_guid(w, COLUMN_GUID, mark, mark->file_uid, mark->incarnation);
    end_columns_before(w, HEADER_VAR_COLUMNS);
}

void syspage_build_file_header(void *page, const struct file_mark *mark)
{
    struct row_writer w = {.used = HEADER_DATA_OFFSET};

    w.row[0] = HEADER_ROW_STATUS;
    syspage_put_u16(w.row + 2, HEADER_FIXED_END);
    syspage_put_u16(w.row + HEADER_FIXED_END, HEADER_COLUMNS);
    syspage_put_u16(w.row + HEADER_ENDS_OFFSET - 2, HEADER_VAR_COLUMNS);
    put_columns(&w, mark);

    syspage_begin(page, PAGE_TYPE_FILE_HEADER, 0, mark->file_id);
    memcpy(syspage_add_row(page, w.used), w.row, w.used);
    file_mark_build(page, mark);
}

bool file_header_sound(const void *page0)
{
    const struct page_header *header = page_header_of(page0);

    switch (header->flags & (PAGE_FLAG_CHECKSUM | PAGE_FLAG_TORN)) {
    case PAGE_FLAG_CHECKSUM:
        return header->torn_bits == sector_fold(page0, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
    case PAGE_FLAG_TORN:
        return torn_check(page0);
    case 0:
        return true;
    default:
        return false;
    }
}

/* A FixedVar record of unknown origin inside a page. */
struct row_reader {
    const uint8_t *page;
    size_t row;       /* offset of the record */
    size_t ends;      /* of the array of column ends */
    unsigned columns; /* variable-length ones */
};

/* The u16 at offset, or -1 outside the page. */
static int get_u16(const uint8_t *page, size_t at)
{
    uint16_t value;

    if (at + sizeof(value) > PAGE_BYTES)
        return -1;
    memcpy(&value, page + at, sizeof(value));
    return value;
}

static bool row_open(struct row_reader *r, const uint8_t *page)
{
    size_t row = (size_t)get_u16(page, PAGE_BYTES - SLOT_BYTES);

    if (row < PAGE_HEADER_BYTES || row >= PAGE_BYTES ||
        (page[row] & HEADER_ROW_STATUS) != HEADER_ROW_STATUS)
        return false;
    int fixed_end = get_u16(page, row + 2);
    if (fixed_end < 4)
        return false;
    int columns = get_u16(page, row + (size_t)fixed_end);
    if (columns <= 0)
        return false;
    size_t count_at = row + (size_t)fixed_end + 2 + ((size_t)columns + 7) / 8;
    int variable = get_u16(page, count_at);
    if (variable <= 0 || count_at + 2 + (size_t)variable * 2 > PAGE_BYTES)
        return false;
    *r = (struct row_reader){page, row, count_at + 2, (unsigned)variable};
    return true;
}

/* Copy the column if it is exactly value_bytes long. */
static bool row_column(const struct row_reader *r, unsigned column, void *value, size_t value_bytes)
{
    size_t first = r->ends + (size_t)2 * r->columns - r->row;

    if (column >= r->columns)
        return false;
    if (column > 0)
        first = (size_t)get_u16(r->page, r->ends + (size_t)2 * (column - 1)) & COLUMN_LENGTH_MASK;
    size_t end = (size_t)get_u16(r->page, r->ends + (size_t)2 * column) & COLUMN_LENGTH_MASK;
    if (end < first || end - first != value_bytes || r->row + end > PAGE_BYTES)
        return false;
    memcpy(value, r->page + r->row + first, value_bytes);
    return true;
}

void file_header_set_size(void *page0, uint32_t size_pages)
{
    uint8_t *page = page0;
    struct row_reader r;
    bool opened = row_open(&r, page);
    uint32_t old;

    assert(opened && row_column(&r, COLUMN_SIZE, &old, sizeof(old)));
    size_t end = (size_t)get_u16(page, r.ends + (size_t)2 * COLUMN_SIZE) & COLUMN_LENGTH_MASK;
    memcpy(page + r.row + end - sizeof(size_pages), &size_pages, sizeof(size_pages));
    file_mark_set_size(page, size_pages);
}

static bool sector_size_sane(uint32_t sector_bytes)
{
    return sector_bytes >= SECTOR_BYTES_MIN && sector_bytes <= SECTOR_BYTES_MAX &&
           (sector_bytes & (sector_bytes - 1)) == 0;
}

bool file_header_read(const void *page0, struct file_header_info *out)
{
    uint8_t page[PAGE_BYTES];
    struct row_reader r;
    struct file_header_info info;

    memcpy(page, page0, sizeof(page));
    const struct page_header *header = page_header_of(page);
    if (header->header_version != 1 || header->type != PAGE_TYPE_FILE_HEADER ||
        header->page_no != 0 || header->slot_count == 0)
        return false;
    if (header->flags & PAGE_FLAG_TORN)
        torn_restore(page);
    if (!row_open(&r, page) || !row_column(&r, COLUMN_FILE_ID, &info.file_id, 2) ||
        !row_column(&r, COLUMN_SIZE, &info.size_pages, 4) ||
        !row_column(&r, COLUMN_SECTOR, &info.sector_bytes, 4))
        return false;
    if (!sector_size_sane(info.sector_bytes))
        return false;
    *out = info;
    return true;
}
