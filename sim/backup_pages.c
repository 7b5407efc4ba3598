/*
 * backup_pages.c - the pages of a full backup: read ahead through the ring, judged, handed on.
 *
 * A page is judged by the ledger as every read is.  One that was being written meanwhile may be
 * taken as it is when it is whole: a fuzzy backup may have the page from before or after that
 * write, since the log that makes it the newest is in the backup.  A torn one is read again.
 */
#include <string.h>

#include "sim/allocation.h"
#include "sim/backup.h"

#define FLOOR_PAGES_PER_TURN 65536

static enum task_result pages_step(struct actor *actor);
static enum task_result floors_step(struct actor *actor);

/* ---- what is read next ---- */

static bool extent_is_allocated(struct data_file *file, uint32_t page_no)
{
    uint32_t gam = syspage_interval_page(page_no, SYSPAGE_GAM);
    if (syspage_kind(gam, file->primary) != SYSPAGE_GAM || gam >= file->file.size_pages)
        return true; /* the interval has none */
    struct frame *frame = syspage_frame(file, gam);
    pthread_mutex_t *lock = frame_lock(file->database->pool, frame);
    pthread_mutex_lock(lock);
    bool is_free = bitmap_get(frame->bytes, page_no / EXTENT_PAGES);
    pthread_mutex_unlock(lock);
    return !is_free;
}

/* Allocated extents from `from` on, at most `most` pages; returns how many. */
static uint32_t allocated_run(struct data_file *file, uint32_t from, uint32_t most)
{
    uint32_t size = file->file.size_pages, count = 0;
    while (count < most && from + count < size && extent_is_allocated(file, from + count))
        count += EXTENT_PAGES - (from + count) % EXTENT_PAGES;
    count = count < most ? count : most;
    return count < size - from ? count : size - from;
}

/* Index of the volume of a file; more volumes than buffers would help nobody. */
static unsigned volume_of(const struct backup *b, const struct data_file *file)
{
    for (unsigned i = 0; i < b->volume_count; i++)
        if (b->volumes[i].device == file->file.device)
            return i;
    return 0;
}

/* The next run of the volume into row; false: it has no more. */
static bool volume_next(struct backup *b, struct backup_volume *volume, struct backup_block *row,
                        struct data_file **out)
{
    uint32_t most = (uint32_t)(b->settings->transfer_bytes / PAGE_BYTES);
    for (; volume->file < b->database->file_count; volume->file++, volume->next_page = 0) {
        struct data_file *file = &b->database->files[volume->file];
        if (volume_of(b, file) != volume - b->volumes)
            continue;
        while (volume->next_page < file->file.size_pages) {
            uint32_t count = allocated_run(file, volume->next_page, most);
            uint32_t first = volume->next_page;
            volume->next_page += count ? count : EXTENT_PAGES - first % EXTENT_PAGES;
            if (count == 0)
                continue;
            *row = (struct backup_block){.kind = BACKUP_BLOCK_PAGES,
                                         .file_uid = file->file.mark.file_uid,
                                         .first = first,
                                         .count = count,
                                         .bytes = count * PAGE_BYTES};
            *out = file;
            return true;
        }
    }
    volume->done = true;
    return false;
}

/* From the volumes in turn. */
static bool next_run(struct backup *b, struct backup_block *row, struct data_file **file)
{
    for (unsigned i = 0; i < b->volume_count; i++) {
        struct backup_volume *volume = &b->volumes[b->volume_turn++ % b->volume_count];
        if (!volume->done && volume_next(b, volume, row, file))
            return true;
    }
    return false;
}

/* ---- reading ---- */

static void read_submit(struct backup_buffer *buffer)
{
    struct page_batch_pages pages = {.file = buffer->file,
                                     .first_page = buffer->row.first,
                                     .count = buffer->row.count,
                                     .stream = STREAM_backup_read};
    buffer->batch_iov = (struct iovec){buffer->memory, buffer->row.bytes};
    buffer->state = BACKUP_BUFFER_READING;
    buffer->backup->busy++;
    page_batch_send(&buffer->batch, &pages);
}

/* False: no more is to be read now. */
static bool read_more(struct backup *b)
{
    struct backup_buffer *buffer = backup_free_buffer(b);
    if (!buffer || backup_directory_is_full(b) || b->failed || b->error ||
        !next_run(b, &buffer->row, &buffer->file))
        return false;
    if (!backup_place(b, &buffer->row)) {
        b->failed = true;
        snprintf(b->why, sizeof b->why,
                 "the database has become larger than its backup file (SQL Server: 3202)");
        return false;
    }
    read_submit(buffer);
    return true;
}

/* ---- judging ---- */

/* Is the image one that the page had, whichever? */
static bool is_whole(const struct backup *b, const struct data_file *file, uint32_t page_no,
                     const uint8_t *image)
{
    enum syspage_kind kind = syspage_kind(page_no, file->primary);
    if (page_is_zero(image, PAGE_BYTES)) /* its first write was under way */
        return true;
    if (kind != SYSPAGE_NONE)
        return syspage_check(image, kind, page_no, file->file.mark.file_id);
    if (page_check(image) != PAGE_OK)
        return false;
    const struct page_stamp *stamp = page_stamp_of(image);
    return stamp->page_no == page_no && stamp->file_uid == file->file.mark.file_uid &&
           memcmp(stamp->run_id, b->actor->run->run_id, sizeof stamp->run_id) == 0;
}

static void damaged(struct backup *b, const struct data_file *file, uint32_t page_no)
{
    b->failed = true;
    snprintf(b->why, sizeof b->why, "page %u of %.90s is damaged (SQL Server: 3043)", page_no,
             file->file.path);
}

static bool at_is_whole(const struct backup_buffer *buffer)
{
    const struct page_batch *batch = &buffer->batch;
    return is_whole(buffer->backup, buffer->file, batch->first_page + batch->at,
                    page_batch_image(batch, batch->at));
}

static void at_is_damaged(struct backup_buffer *buffer)
{
    damaged(buffer->backup, buffer->file, buffer->batch.first_page + buffer->batch.at);
}

/* The page was being written.  False: it is read again. */
static bool take_overlapped(struct backup_buffer *buffer)
{
    struct backup *b = buffer->backup;
    if (at_is_whole(buffer) || b->failed)
        return true;
    if (++b->overlaps > BACKUP_OVERLAPS_MAX) {
        at_is_damaged(buffer);
        return true;
    }
    page_batch_again(&buffer->batch, buffer->file);
    return false;
}

/* False: its page is read again. */
static bool take(struct backup_buffer *buffer, enum page_read_result result)
{
    if (result == PAGE_READ_OVERLAPPED)
        return take_overlapped(buffer);
    /* nobody judges a page any more on which a finding stands */
    bool quarantined = page_batch_before(&buffer->batch).state == LEDGER_QUARANTINED;
    if (result == PAGE_READ_WRONG || (quarantined && !at_is_whole(buffer)))
        at_is_damaged(buffer);
    return true;
}

/* False: it goes on later. */
static bool judge(struct backup_buffer *buffer)
{
    struct backup *b = buffer->backup;
    struct page_batch *batch = &buffer->batch;
    if (batch->in_flight)
        return false;
    if (!page_batch_holds_reader(batch))
        b->overlaps = 0;
    while (!b->failed || page_batch_holds_reader(batch)) {
        enum page_read_result result = page_batch_step(batch);
        if (result == PAGE_READ_WAIT)
            return false;
        if (result == PAGE_READ_OVER)
            return true;
        if (!take(buffer, result))
            return false;
        b->overlaps = 0;
    }
    return true;
}

static void buffer_judge(struct backup_buffer *buffer)
{
    struct backup *b = buffer->backup;
    if (!judge(buffer))
        return;
    if (b->failed || b->error || run_stopping(b->actor->run)) {
        buffer->state = BACKUP_BUFFER_FREE;
        b->busy--;
        return;
    }
    backup_block_write(buffer);
}

/* What was read.  False: a page is in the ladder. */
static bool judge_all(struct backup *b)
{
    struct page_reader *reader = &b->reader;
    if (reader->batch)
        buffer_judge(reader->batch->context);
    for (unsigned i = 0; i < b->buffer_count && !reader->batch; i++)
        if (b->buffers[i].state == BACKUP_BUFFER_READING)
            buffer_judge(&b->buffers[i]);
    return !reader->batch;
}

/* ---- the step ---- */

static bool pages_left(const struct backup *b)
{
    for (unsigned i = 0; i < b->volume_count; i++)
        if (!b->volumes[i].done)
            return true;
    return false;
}

/* The phase is over, or the run: a backup is not carried on into the next one. */
static bool must_end(const struct actor *actor)
{
    return run_stopping(actor->run) || atomic_load(&((struct actor *)(uintptr_t)actor)->leaving) ||
           clock_now_ns(actor->run->clock) >= actor->run->phase_deadline_ns;
}

static enum task_result pages_step(struct actor *actor)
{
    struct backup *b = actor->backup;
    actor->execute = pages_step;
    if (!b->failed && must_end(actor)) {
        b->failed = true;
        snprintf(b->why, sizeof b->why, "the main part ended first");
    }
    if (!judge_all(b))
        return TASK_PARK;
    while (read_more(b))
        ;
    if (b->busy)
        return TASK_PARK;
    if (b->error)
        return backup_fail(actor, "a write failed: %s", strerror(-b->error));
    if (b->failed)
        return backup_fail(actor, "%s", b->why);
    if (pages_left(b))
        return backup_write_directory(actor, pages_step);
    b->floor_file = 0;
    b->floor_page = 0;
    return actor_go(actor, floors_step);
}

/* What the device has acknowledged by now is on it with its log durable: the end LSN, which is
 * taken after this, is behind it. */
static enum task_result floors_step(struct actor *actor)
{
    struct backup *b = actor->backup;
    struct backup_media *media = b->media;
    unsigned left = FLOOR_PAGES_PER_TURN;
    for (; media->floors && b->floor_file < b->database->file_count;
         b->floor_file++, b->floor_page = 0) {
        struct data_file *file = &b->database->files[b->floor_file];
        uint32_t size = file->file.size_pages, most = media->floor_pages[b->floor_file];
        size = size < most ? size : most;
        for (; b->floor_page < size && left; b->floor_page++, left--)
            media->floors[b->floor_file][b->floor_page] =
                ledger_view(actor->run->ledger, file->file.mark.file_uid, b->floor_page).acked;
        if (!left) {
            actor->execute = floors_step;
            return TASK_AGAIN;
        }
    }
    return backup_log_begin(actor);
}

static void volumes_find(struct backup *b)
{
    b->volume_count = b->volume_turn = 0;
    for (unsigned i = 0; i < b->database->file_count; i++) {
        uint64_t device = b->database->files[i].file.device;
        unsigned at = 0;
        while (at < b->volume_count && b->volumes[at].device != device)
            at++;
        if (at == b->volume_count && at < BACKUP_VOLUMES_MAX)
            b->volumes[b->volume_count++] = (struct backup_volume){.device = device};
    }
}

enum task_result backup_pages_begin(struct actor *actor)
{
    struct backup *b = actor->backup;
    volumes_find(b);
    return actor_go(actor, pages_step);
}
