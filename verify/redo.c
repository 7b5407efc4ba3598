/* redo.c - see redo.h. */
#include "verify/redo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/syspage_hash.h"

#define CAPACITY_STEP_PAGES 8192

void redo_init(struct redo *redo, const struct run_identity *run, const char *database)
{
    memset(redo, 0, sizeof *redo);
    redo->run = *run;
    strncpy(redo->database, database, sizeof redo->database - 1);
}

struct redo_file *redo_add_file(struct redo *redo, const struct file_mark *mark, bool primary)
{
    if (redo->file_count == REDO_FILES_MAX)
        return NULL;
    struct redo_file *file = &redo->files[redo->file_count++];
    *file = (struct redo_file){.mark = *mark, .primary = primary};
    return file;
}

struct redo_file *redo_file_of(const struct redo *redo, uint16_t uid)
{
    for (size_t i = 0; i < redo->file_count; i++)
        if (redo->files[i].mark.file_uid == uid)
            return (struct redo_file *)(uintptr_t)&redo->files[i];
    return NULL;
}

void redo_free(struct redo *redo)
{
    for (size_t i = 0; i < redo->file_count; i++)
        free(redo->files[i].pages);
    free(redo->changes);
    memset(redo, 0, sizeof *redo);
}

/* ---- noting ---- */

static int make_room(struct redo_file *file, uint32_t pages)
{
    if (pages > file->page_count)
        file->page_count = pages;
    if (pages <= file->capacity_pages)
        return 0;
    uint64_t capacity = 2 * (uint64_t)file->capacity_pages + CAPACITY_STEP_PAGES;
    capacity = capacity < pages ? pages : capacity > UINT32_MAX ? UINT32_MAX : capacity;
    struct redo_page_entry *grown = realloc(file->pages, capacity * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    memset(grown + file->capacity_pages, 0, (capacity - file->capacity_pages) * sizeof *grown);
    file->pages = grown;
    file->capacity_pages = (uint32_t)capacity;
    return 0;
}

static void note_pages(struct redo_file *file, const struct log_page_change *change, struct lsn lsn)
{
    for (uint32_t i = 0; i < change->page_count; i++) {
        struct redo_page_entry *entry = &file->pages[change->page_no + i];
        bool data = syspage_kind(change->page_no + i, file->primary) == SYSPAGE_NONE;
        if (data && change->generation >= entry->generation) /* = a record in two parts */
            *entry = (struct redo_page_entry){change->generation, lsn};
    }
}

static int note_system(struct redo *redo, const struct log_page_change *change,
                       const struct log_record_view *record)
{
    if (redo->change_count == redo->change_capacity) {
        size_t capacity = 2 * redo->change_capacity + 64;
        struct redo_change *grown = realloc(redo->changes, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        redo->changes = grown;
        redo->change_capacity = capacity;
    }
    struct redo_change *to = &redo->changes[redo->change_count];
    size_t delta_bytes = record->payload_bytes - sizeof *change;
    if (delta_bytes > sizeof to->delta)
        return -EBADMSG;
    *to = (struct redo_change){.file_uid = change->file_uid,
                               .page_no = change->page_no,
                               .lsn = record->lsn,
                               .generation = change->generation,
                               .xxh3 = change->image_xxh3,
                               .delta_bytes = (uint16_t)delta_bytes};
    memcpy(to->delta, record->payload + sizeof *change, delta_bytes);
    redo->change_count++;
    return 0;
}

int redo_note(struct redo *redo, const struct log_record_view *record)
{
    struct log_page_change change;
    if (!log_record_change(record, &change))
        return 0;
    struct redo_file *file = redo_file_of(redo, change.file_uid);
    if (!file)
        return 0;
    uint64_t end = (uint64_t)change.page_no + change.page_count;
    if (change.page_count == 0 || change.page_count > EXTENT_PAGES || end > UINT32_MAX ||
        change.incarnation != file->mark.incarnation)
        return -EBADMSG;
    int error = make_room(file, (uint32_t)end);
    if (error)
        return error;
    redo->records++;
    if (record->op == LOG_OP_SET_BITS)
        return note_system(redo, &change, record);
    note_pages(file, &change, record->lsn);
    return 0;
}

static int compare_place(const struct redo_change *a, uint16_t uid, uint32_t page_no)
{
    if (a->file_uid != uid)
        return a->file_uid < uid ? -1 : 1;
    return a->page_no == page_no ? 0 : a->page_no < page_no ? -1 : 1;
}

static int compare_changes(const void *left, const void *right)
{
    const struct redo_change *a = left, *b = right;
    int place = compare_place(a, b->file_uid, b->page_no);
    return place ? place : lsn_compare(a->lsn, b->lsn);
}

void redo_prepare(struct redo *redo)
{
    if (redo->change_count)
        qsort(redo->changes, redo->change_count, sizeof *redo->changes, compare_changes);
}

/* ---- redoing ---- */

static enum redo_result redo_data(const struct redo *redo, const struct redo_file *file,
                                  uint32_t page_no, void *page, uint64_t write_time_ns)
{
    if (page_no >= file->capacity_pages || file->pages[page_no].generation == 0)
        return REDO_KEPT;
    const struct redo_page_entry *newest = &file->pages[page_no];
    bool formatted = !page_is_zero(page, PAGE_BYTES);
    if (formatted && page_stamp_of(page)->generation >= newest->generation)
        return REDO_KEPT;
    struct page_identity identity = {file->mark.file_uid, file->mark.incarnation,
                                     file->mark.file_id, page_no, newest->generation};
    page_fill(page, &redo->run, &identity, 0);
    page_seal(page, newest->lsn, write_time_ns);
    return REDO_CHANGED;
}

static void build_fresh(const struct redo *redo, const struct redo_file *file,
                        enum syspage_kind kind, uint32_t page_no, void *page)
{
    if (kind == SYSPAGE_FILE_HEADER)
        syspage_build_file_header(page, &file->mark);
    else if (kind == SYSPAGE_BOOT)
        syspage_build_boot(page, &file->mark, redo->database);
    else
        syspage_build_map(page, kind, page_no, file->mark.file_id);
}

/* The first change of the page, or where it would stand. */
static size_t first_change(const struct redo *redo, uint16_t uid, uint32_t page_no)
{
    size_t low = 0, high = redo->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_place(&redo->changes[middle], uid, page_no) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum redo_result redo_system(const struct redo *redo, const struct redo_file *file,
                                    enum syspage_kind kind, uint32_t page_no, uint8_t *page)
{
    uint16_t uid = file->mark.file_uid;
    enum redo_result result = REDO_KEPT;
    bool formatted = !page_is_zero(page, PAGE_BYTES);
    struct lsn have = page_lsn(page), lsn = {0};
    for (size_t i = first_change(redo, uid, page_no);
         i < redo->change_count && compare_place(&redo->changes[i], uid, page_no) == 0; i++) {
        const struct redo_change *change = &redo->changes[i];
        if (formatted && lsn_compare(change->lsn, have) <= 0)
            continue;
        if (!formatted)
            build_fresh(redo, file, kind, page_no, page);
        formatted = true;
        if (!syspage_delta_apply(page, change->delta, change->delta_bytes) ||
            syspage_content_xxh3(page) != change->xxh3)
            return REDO_IMPOSSIBLE;
        lsn = change->lsn;
        result = REDO_CHANGED;
    }
    if (result == REDO_CHANGED)
        syspage_seal(page, lsn);
    return result;
}

enum redo_result redo_page(const struct redo *redo, const struct redo_file *file, uint32_t page_no,
                           void *page, uint64_t write_time_ns)
{
    enum syspage_kind kind = syspage_kind(page_no, file->primary);
    if (kind == SYSPAGE_RESERVED)
        return REDO_KEPT;
    if (kind == SYSPAGE_NONE)
        return redo_data(redo, file, page_no, page, write_time_ns);
    return redo_system(redo, file, kind, page_no, page);
}
