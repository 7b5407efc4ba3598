/* snapshot.c - the files and the moments of snapshots; see snapshot.h. */
#include "sim/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/os_errors.h"
#include "sim/snapshot_copy.h"

#define HEADER_PAGES 1 /* page 0 with the mark: what an empty snapshot has */

/* ---- size ---- */

/* The file has no pages but its header; then it is a hole of that size. */
static int resize(struct snapshot *snapshot, uint32_t size_pages)
{
    struct io_target *target = &snapshot->file.file.target;
    uint64_t bytes = (uint64_t)size_pages * PAGE_BYTES;
    int r;
    do {
        r = ftruncate(target->fd, (off_t)bytes);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return -errno;
    atomic_store(&target->size_bytes, bytes);
    snapshot->file.file.size_pages = size_pages;
    return 0;
}

/* ---- use ---- */

int snapshot_begin(struct snapshot *snapshot)
{
    assert(!atomic_load(&snapshot->active) && snapshot->kept_back == 0);
    uint32_t size = snapshot->source->file.size_pages;
    int error = resize(snapshot, size);
    if (error)
        return error;
    memset((void *)snapshot->places, SNAPSHOT_SOURCE, size);
    snapshot_place_set(snapshot, 0, SNAPSHOT_NONE);
    snapshot->size_pages = size;
    atomic_store(&snapshot->suspect, false);
    atomic_store(&snapshot->active, true);
    return 0;
}

static bool nobody_copies(struct snapshot *snapshot, struct task *task)
{
    pthread_mutex_lock(&snapshot->lock);
    atomic_store(&snapshot->active, false);
    bool over = snapshot->kept_back == 0;
    if (!over)
        wait_list_add(&snapshot->waiters, task);
    pthread_mutex_unlock(&snapshot->lock);
    return over;
}

bool snapshot_end(struct snapshot *snapshot, struct task *task)
{
    if (!nobody_copies(snapshot, task))
        return false;
    int error = resize(snapshot, HEADER_PAGES);
    if (error)
        run_warn(snapshot->run, "%s: its space could not be returned: %s", snapshot->file.file.path,
                 strerror(-error));
    ledger_restart(snapshot->run->ledger, snapshot->file.file.mark.file_uid);
    syspages_forget(&snapshot->file);
    return true;
}

/* ---- copying ---- */

void snapshot_place_set(struct snapshot *snapshot, uint32_t page_no, enum snapshot_place place)
{
    atomic_store(&snapshot->places[page_no], (uint8_t)place);
}

bool snapshot_wants(const struct snapshot *snapshot, const struct gather *gather)
{
    if (!atomic_load(&snapshot->active) || snapshot_is_suspect(snapshot))
        return false;
    for (unsigned i = 0; i < gather->count; i++) {
        uint32_t page_no = gather->first_page + i;
        if (page_no < snapshot->size_pages &&
            snapshot_place_of(snapshot, page_no) == SNAPSHOT_SOURCE)
            return true;
    }
    return false;
}

/* Of struct data_file. */
static bool before_write(struct gather *gather)
{
    struct snapshot *snapshot = gather->file->snapshot;
    if (!snapshot_wants(snapshot, gather))
        return false;
    pthread_mutex_lock(&snapshot->lock);
    bool active = atomic_load(&snapshot->active); /* it may have ended this moment */
    snapshot->kept_back += active;
    pthread_mutex_unlock(&snapshot->lock);
    if (active)
        snapshot_copy(snapshot, gather);
    return active;
}

void snapshot_let_go(struct snapshot *snapshot)
{
    pthread_mutex_lock(&snapshot->lock);
    assert(snapshot->kept_back > 0);
    if (--snapshot->kept_back == 0)
        wait_list_wake_all(&snapshot->waiters);
    pthread_mutex_unlock(&snapshot->lock);
}

void snapshot_fail(struct snapshot *snapshot, int error)
{
    if (atomic_exchange(&snapshot->suspect, true))
        return;
    run_warn(snapshot->run,
             "%s: a page could not be written into the snapshot (%s; SQL Server: 17053). The "
             "snapshot is suspect: this pass of DBCC CHECKDB ends, the run goes on.%s",
             snapshot->file.file.path, strerror(-error),
             os_error_is_no_space(error) ? " A pass needs room beside each data file for the pages "
                                           "that change while it lasts."
                                         : "");
}

/* ---- life ---- */

static int place_make(struct snapshot *snapshot)
{
    snapshot->places = calloc(snapshot->source->capacity_pages, sizeof *snapshot->places);
    return snapshot->places ? 0 : -ENOMEM;
}

static int file_make(struct run *run, struct snapshot *snapshot, const char *path, uint16_t uid)
{
    const struct file *source = &snapshot->source->file;
    struct file_mark mark = source->mark;
    mark.file_uid = uid;
    mark.kind = FILE_KIND_SNAPSHOT;
    struct file_open how = {
        .path = path,
        .direct = run->settings->no_buffering,
        .dsync = run->settings->write_through,
        .coalesced = run->settings->alternate_write_through,
        .sparse = true,
        .delete_own = run->settings->delete_files_at_startup,
        .forced_sector_bytes = source->mark.sector_bytes,
    };
    return file_create(&snapshot->file.file, &how, &mark, HEADER_PAGES, run->message);
}

static int snapshot_make(struct run *run, unsigned index,
                         int (*made)(struct run *run, struct file *file))
{
    const struct plan *plan = run->config.plan;
    const struct plan_snapshot *planned = &plan->snapshots[index];
    struct snapshot *snapshot = &run->snapshots->list[index];
    struct data_file *source = run_file_by_uid(run, (uint16_t)(planned->source + 1));
    snapshot->run = run;
    snapshot->source = source;
    pthread_mutex_init(&snapshot->lock, NULL);
    run->snapshots->count++;
    int error = file_make(run, snapshot, planned->path,
                          (uint16_t)(plan->file_count + plan->backup_count + index + 1));
    if (error)
        return error;
    snapshot->file.capacity_pages = source->capacity_pages;
    error = data_file_init(&snapshot->file, source->database, index, source->primary);
    if (!error)
        error = place_make(snapshot);
    if (!error)
        error = made(run, &snapshot->file.file);
    snapshot->file.snapshot_of = source;
    source->snapshot = snapshot;
    source->before_write = before_write;
    return error;
}

int snapshots_create(struct run *run, int (*made)(struct run *run, struct file *file))
{
    unsigned count = run->config.plan->snapshot_count;
    int error = 0;
    if (count == 0)
        return 0;
    run->snapshots = calloc(1, sizeof *run->snapshots);
    if (!run->snapshots)
        return -ENOMEM;
    run->snapshots->list = calloc(count, sizeof *run->snapshots->list);
    if (!run->snapshots->list)
        return -ENOMEM;
    for (unsigned i = 0; i < count && !error; i++)
        error = snapshot_make(run, i, made);
    return error ? error : snapshot_copiers_create(run);
}

/* Nobody has the file open any more. */
static void snapshot_free(struct snapshot *snapshot)
{
    char message[FILE_MESSAGE_MAX];
    struct run *run = snapshot->run;
    char *path = snapshot->file.file.path ? strdup(snapshot->file.file.path) : NULL;
    data_file_free(&snapshot->file);
    if (path && !run->config.leave_like_killed && file_delete_own(path, run->run_id, message))
        run_warn(run, "%s", message);
    free(path);
    free((void *)snapshot->places);
    pthread_mutex_destroy(&snapshot->lock);
}

void snapshots_free(struct run *run)
{
    struct snapshots *snapshots = run->snapshots;
    if (!snapshots)
        return;
    snapshot_copiers_free(snapshots);
    for (unsigned i = 0; i < snapshots->count; i++)
        snapshot_free(&snapshots->list[i]);
    free(snapshots->list);
    free(snapshots);
    run->snapshots = NULL;
}
