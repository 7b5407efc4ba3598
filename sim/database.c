/* database.c - the table of system pages; see database.h. */
#include "sim/database.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/database_extents.h"

size_t syspage_count_of(uint32_t size_pages, bool primary)
{
    size_t pfs = size_pages / PFS_INTERVAL_PAGES + 1;
    size_t intervals = size_pages / GAM_INTERVAL_PAGES + 1;
    return 1 + pfs + 5 * intervals + (primary ? 1 : 0);
}

int data_file_init(struct data_file *file, struct database *database, unsigned index, bool primary)
{
    if (file->capacity_pages < file->file.size_pages)
        file->capacity_pages = file->file.size_pages;
    file->database = database;
    file->index = index;
    file->primary = primary;
    pthread_mutex_init(&file->lock, NULL);
    file->syspage_capacity = syspage_count_of(file->capacity_pages, primary);
    file->syspages = calloc(file->syspage_capacity, sizeof *file->syspages);
    if (file->initial_pages == 0)
        file->initial_pages = file->file.size_pages;
    return file->syspages ? extent_map_init(file) : -ENOMEM;
}

void syspages_forget(struct data_file *file)
{
    for (size_t i = 0; i < file->syspage_count; i++) {
        free(file->syspages[i].acked);
        free(file->syspages[i].issued);
    }
    file->syspage_count = 0;
}

void data_file_free(struct data_file *file)
{
    syspages_forget(file);
    if (file->database)
        pthread_mutex_destroy(&file->lock);
    free(file->syspages);
    extent_map_free(file);
    file_close(&file->file);
}

/* Position of page_no in the ordered table, or where it belongs. */
static size_t syspage_position(const struct data_file *file, uint32_t page_no)
{
    size_t low = 0, high = file->syspage_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (file->syspages[middle].page_no < page_no)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct syspage *find_locked(struct data_file *file, uint32_t page_no)
{
    size_t at = syspage_position(file, page_no);
    bool found = at < file->syspage_count && file->syspages[at].page_no == page_no;
    return found ? &file->syspages[at] : NULL;
}

static void image_build(struct data_file *file, enum syspage_kind kind, uint32_t page_no,
                        uint8_t *image)
{
    if (kind == SYSPAGE_FILE_HEADER)
        syspage_build_file_header(image, &file->file.mark);
    else if (kind == SYSPAGE_BOOT)
        syspage_build_boot(image, &file->file.mark, file->database->name);
    else
        syspage_build_map(image, kind, page_no, file->file.mark.file_id);
}

static struct syspage *place_locked(struct data_file *file, uint32_t page_no)
{
    enum syspage_kind kind = syspage_kind(page_no, file->primary);
    assert(kind != SYSPAGE_NONE && kind != SYSPAGE_RESERVED);
    assert(file->syspage_count < file->syspage_capacity);
    size_t at = syspage_position(file, page_no);
    memmove(&file->syspages[at + 1], &file->syspages[at],
            (file->syspage_count - at) * sizeof *file->syspages);
    file->syspage_count++;
    struct syspage *page = &file->syspages[at];
    memset(page, 0, sizeof *page);
    page->page_no = page_no;
    page->kind = kind;
    page->issued = calloc(1, PAGE_BYTES);
    page->acked = calloc(1, PAGE_BYTES);
    assert(page->issued && page->acked); /* once a system page, at its creation */
    return page;
}

static struct syspage *create_locked(struct data_file *file, uint32_t page_no)
{
    struct syspage *page = place_locked(file, page_no);
    page->frame =
        pool_add_system(file->database->pool, page_key(file->file.mark.file_uid, page_no));
    image_build(file, page->kind, page_no, page->frame->bytes);
    return page;
}

void syspage_place(struct data_file *file, uint32_t page_no)
{
    pthread_mutex_lock(&file->lock);
    if (!find_locked(file, page_no))
        place_locked(file, page_no);
    pthread_mutex_unlock(&file->lock);
}

struct frame *syspage_frame(struct data_file *file, uint32_t page_no)
{
    pthread_mutex_lock(&file->lock);
    struct syspage *page = find_locked(file, page_no);
    if (!page)
        page = create_locked(file, page_no);
    struct frame *frame = page->frame;
    pthread_mutex_unlock(&file->lock);
    return frame;
}

/* Under the frame's lock.  What stands there is as it was built: a clean frame must be right. */
static void retire_locked(struct pool *pool, struct frame *frame)
{
    frame_forget_change(pool, frame);
    frame->write_failures = 0;
    syspage_seal(frame->bytes, frame->lsn);
}

bool syspage_retire(struct data_file *file, uint32_t page_no, struct task *task)
{
    struct pool *pool = file->database->pool;
    pthread_mutex_lock(&file->lock);
    struct syspage *page = find_locked(file, page_no);
    struct frame *frame = page ? page->frame : NULL;
    pthread_mutex_unlock(&file->lock);
    if (!frame)
        return true;
    pthread_mutex_t *lock = frame_lock(pool, frame);
    pthread_mutex_lock(lock);
    bool writing = frame->state == FRAME_WRITING;
    if (writing)
        wait_list_add(&frame->waiters, task);
    else if (frame->state != FRAME_BAD)
        retire_locked(pool, frame);
    pthread_mutex_unlock(lock);
    if (writing)
        return false;
    pthread_mutex_lock(&file->lock);
    page = find_locked(file, page_no);
    page->has_acked = page->has_issued = page->older_issued = false;
    pthread_mutex_unlock(&file->lock);
    return true;
}

void syspage_images_copy(struct data_file *file, uint32_t page_no, struct syspage_images *images)
{
    images->has_acked = images->has_issued = false;
    pthread_mutex_lock(&file->lock);
    struct syspage *page = find_locked(file, page_no);
    if (page) {
        images->has_acked = page->has_acked;
        images->has_issued = page->has_issued && !page->older_issued;
        memcpy(images->acked, page->acked, PAGE_BYTES);
        memcpy(images->issued, page->issued, PAGE_BYTES);
    }
    pthread_mutex_unlock(&file->lock);
}

void syspage_issued(struct data_file *file, uint32_t page_no, const uint8_t *image)
{
    pthread_mutex_lock(&file->lock);
    struct syspage *page = find_locked(file, page_no);
    assert(page);
    bool was_acked = page->has_acked && memcmp(page->acked, page->issued, PAGE_BYTES) == 0;
    if (page->has_issued && !was_acked && memcmp(page->issued, image, PAGE_BYTES) != 0)
        page->older_issued = true;
    memcpy(page->issued, image, PAGE_BYTES);
    page->has_issued = true;
    pthread_mutex_unlock(&file->lock);
}

void syspage_acked(struct data_file *file, uint32_t page_no)
{
    pthread_mutex_lock(&file->lock);
    struct syspage *page = find_locked(file, page_no);
    assert(page && page->has_issued);
    memcpy(page->acked, page->issued, PAGE_BYTES);
    page->has_acked = true;
    page->older_issued = false;
    pthread_mutex_unlock(&file->lock);
}

/* ---- indirect checkpoints ---- */

int database_target_recovery(struct database *database, uint64_t target_ns, uint64_t now_ns)
{
    database->indirect = true;
    dirty_list_init(&database->dirty);
    recovery_target_init(&database->recovery, target_ns, now_ns);
    for (unsigned i = 0; i < database->file_count; i++) {
        uint16_t uid = database->files[i].file.mark.file_uid;
        int error = pool_list_dirty(database->pool, uid, &database->dirty);
        if (error)
            return error;
    }
    return 0;
}

bool database_recovery_is_due(struct database *database, uint64_t now_ns)
{
    if (!database->indirect)
        return false;
    struct dirty_list *list = &database->dirty;
    uint64_t allowed = recovery_target_look(&database->recovery, now_ns, dirty_list_entered(list));
    return dirty_list_count(list) > allowed;
}
