/* rewrite.c - see rewrite.h. */
#include "sim/rewrite.h"

#include "sim/buffer_sum.h"
#include "sim/database_use.h"
#include "verify/ledger.h"

enum rewritten { REWRITE_DIRTY, REWRITE_ABSENT, REWRITE_BUSY };

/* As it is in memory. */
static enum rewritten from_memory(struct pool *pool, uint64_t key)
{
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    struct frame *frame = pool_find_locked(pool, key);
    enum rewritten result = frame ? REWRITE_DIRTY : REWRITE_ABSENT;
    /* Its reader will find the page in doubt; who overwrites it may let go of it. */
    if (frame && (frame->state == FRAME_READING || frame->state == FRAME_FORMATTING))
        result = REWRITE_BUSY;
    if (frame && frame->state == FRAME_CLEAN)
        frame_mark_dirty(pool, frame, frame->lsn);
    pthread_mutex_unlock(lock);
    return result;
}

/* False: no frame is free. */
static bool from_generation(struct data_file *file, uint32_t page_no, struct ledger_view view)
{
    struct pool *pool = file->database->pool;
    const struct file_mark *mark = &file->file.mark;
    struct frame *frame = pool_take(pool, page_key(mark->file_uid, page_no));
    if (!frame)
        return false;
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id, page_no,
                                     view.issued};
    page_fill(frame->bytes, file->database->run, &identity, view.actor);
    buffer_built(file->database, frame->bytes);
    frame->actor = view.actor;
    pool_read_done(pool, frame, true, view.issued);
    pthread_mutex_t *lock = frame_lock(pool, frame);
    pthread_mutex_lock(lock);
    frame_mark_dirty(pool, frame, (struct lsn){0});
    pthread_mutex_unlock(lock);
    pool_unpin(pool, frame);
    return true;
}

/* False: no frame is free. */
static bool rewrite_page(struct data_file *file, uint32_t page_no)
{
    struct database *database = file->database;
    uint16_t uid = file->file.mark.file_uid;
    struct ledger_view view = ledger_view(database->ledger, uid, page_no);
    if (view.state != LEDGER_INDETERMINATE)
        return true;
    switch (from_memory(database->pool, page_key(uid, page_no))) {
    case REWRITE_DIRTY:
        return true;
    case REWRITE_BUSY:
        atomic_store(&database->in_doubt, true); /* the next checkpoint looks again */
        return true;
    case REWRITE_ABSENT:
        break;
    }
    return from_generation(file, page_no, view);
}

bool rewrite_step(struct database *database, struct rewrite *at)
{
    for (; at->file < database->file_count; at->file++, at->page_no = 0) {
        struct data_file *file = &database->files[at->file];
        bool all = true;
        struct file_use use = {0};
        file_use_begin(&use, file);
        while (all && at->page_no < file->file.size_pages) {
            all = rewrite_page(file, at->page_no);
            at->page_no += all;
        }
        file_use_end(&use);
        if (!all)
            return false;
    }
    return true;
}
