/* database_syspage.c - see database_syspage.h. */
#include "sim/database_syspage.h"

#include <errno.h>
#include <string.h>

#include "sim/page_change.h"

/* Under the frame's lock. */
static int edit_locked(struct data_file *file, struct frame *frame, uint32_t page_no,
                       const uint8_t *image, struct xact *xact, struct task *task)
{
    struct page_identity identity = {.file_uid = file->file.mark.file_uid,
                                     .incarnation = file->file.mark.incarnation,
                                     .page_no = page_no,
                                     .generation = frame->generation + 1};
    struct syspage_change change;
    struct log_record record = syspage_change_record(&change, &identity, frame->bytes, image);
    record.xact_id = xact->id;
    record.previous = xact->last;
    struct lsn lsn;
    int error = wal_append(&file->database->wal, xact, &record, 1, &lsn, task);
    if (error)
        return error;
    memcpy(frame->bytes, image, PAGE_BYTES);
    frame->generation++;
    frame_mark_dirty(file->database->pool, frame, lsn);
    return 0;
}

int syspage_edit(struct data_file *file, uint32_t page_no, syspage_edit_fn edit, void *context,
                 struct xact *xact, struct task *task)
{
    struct frame *frame = syspage_frame(file, page_no);
    pthread_mutex_t *lock = frame_lock(file->database->pool, frame);
    int error = -EAGAIN;
    pthread_mutex_lock(lock);
    if (frame->state == FRAME_WRITING) {
        wait_list_add(&frame->waiters, task);
    } else if (frame->state == FRAME_BAD) {
        error = 0; /* its finding stands */
    } else {
        uint8_t image[PAGE_BYTES];
        memcpy(image, frame->bytes, PAGE_BYTES);
        edit(context, image);
        error = edit_locked(file, frame, page_no, image, xact, task);
    }
    pthread_mutex_unlock(lock);
    return error;
}
