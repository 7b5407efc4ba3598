/* run_reuse.c - see run_reuse.h. */
#include "sim/run_reuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/database_extents.h"
#include "sim/exit_code.h"

void run_reuse_ledger(struct run *run)
{
    const struct reuse *reuse = run->config.reuse;
    ledger_header_of(run->ledger)->session = ledger_header_of(reuse->ledger)->session + 1;
    for (unsigned i = 0; i < run->file_count; i++)
        reuse_adopt(reuse, run->ledger, run->files[i]->file.mark.file_uid,
                    run->files[i]->database->tempdb);
}

static int page_load(struct run *run, struct data_file *file, uint32_t page_no, uint8_t *image)
{
    const struct file_mark *mark = &file->file.mark;
    struct iovec iov = {image, PAGE_BYTES};
    struct io_req req = {.op = IO_READ,
                         .stream = STREAM_audit_read,
                         .target = &file->file.target,
                         .offset = (uint64_t)page_no * PAGE_BYTES,
                         .iov = &iov,
                         .iov_count = 1};
    int error = io_run(&run->io, &req);
    if (!error &&
        !syspage_check(image, syspage_kind(page_no, file->primary), page_no, mark->file_id))
        error = -EBADMSG;
    if (error) {
        snprintf(run->message, sizeof run->message,
                 "%s: system page %" PRIu32 " of the earlier run cannot be used (%s). `pagestorm "
                 "verify` on its result folder says more.",
                 file->file.path, page_no, error == -EBADMSG ? "it is damaged" : strerror(-error));
        run->exit_code = EXIT_CODE_INCOMPLETE;
        return error;
    }
    struct frame *frame = syspage_frame(file, page_no);
    memcpy(frame->bytes, image, PAGE_BYTES);
    frame->generation = ledger_view(run->ledger, mark->file_uid, page_no).acked;
    syspage_issued(file, page_no, frame->bytes);
    syspage_acked(file, page_no);
    return 0;
}

static enum ledger_state state_of(const struct run *run, const struct data_file *file,
                                  uint32_t page_no)
{
    return ledger_view(run->ledger, file->file.mark.file_uid, page_no).state;
}

/* A system page that was given back: the next change of it goes on above the last. */
static void page_freed(struct run *run, struct data_file *file, uint32_t page_no)
{
    struct ledger_view view = ledger_view(run->ledger, file->file.mark.file_uid, page_no);
    syspage_frame(file, page_no)->generation = view.issued;
}

/* ---- extents beyond the initial ones ---- */

static bool is_free(struct run *run, struct data_file *file, uint32_t extent)
{
    uint32_t gam = syspage_interval_page(extent * EXTENT_PAGES, SYSPAGE_GAM);
    return state_of(run, file, gam) != LEDGER_QUIET ||
           bitmap_get(syspage_frame(file, gam)->bytes, extent);
}

static bool is_whole(const struct run *run, const struct data_file *file, uint32_t extent)
{
    for (uint32_t i = 0; i < EXTENT_PAGES; i++)
        if (state_of(run, file, extent * EXTENT_PAGES + i) != LEDGER_QUIET)
            return false;
    return true;
}

/* As the maps say.  An extent whose load did not come to its end is used by nobody until the next
 * one frees it. */
static void extents_adopt(struct run *run, struct data_file *file)
{
    uint32_t first = file->extents.first, end = file->file.size_pages / EXTENT_PAGES;
    for (uint32_t extent = first; extent < end; extent++) {
        struct extent_run one = {.file = file, .first = extent, .count = 1};
        if (extent_state_of(file, extent) == EXTENT_SYSTEM || is_free(run, file, extent))
            continue;
        extents_set(&one, is_whole(run, file, extent) ? EXTENT_USED : EXTENT_FAILED);
    }
    extents_set_end(file, end);
}

int run_reuse_system_pages(struct run *run, struct data_file *file)
{
    uint8_t *image = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
    int error = image ? 0 : -ENOMEM;
    for (uint32_t page_no = 0; page_no < file->capacity_pages && !error; page_no++) {
        enum syspage_kind kind = syspage_kind(page_no, file->primary);
        enum ledger_state state = state_of(run, file, page_no);
        if (kind == SYSPAGE_NONE || kind == SYSPAGE_RESERVED)
            continue;
        if (state == LEDGER_FREED)
            page_freed(run, file, page_no);
        else if (state != LEDGER_NEVER_WRITTEN)
            error = page_load(run, file, page_no, image);
    }
    free(image);
    if (!error && !file->database->tempdb)
        extents_adopt(run, file);
    return error;
}

/* ---- tempdb ---- */

/* Its first page, as a new file has it: the mark alone, so that at no moment it looks foreign. */
static int header_write(struct run *run, struct data_file *file)
{
    struct frame *frame = syspage_frame(file, 0);
    uint16_t uid = file->file.mark.file_uid;
    uint64_t now_s = (clock_realtime_ns(run->clock) - run->session_start_ns) / NS_PER_S;
    struct iovec iov = {frame->bytes, PAGE_BYTES};
    struct io_req req = {.op = IO_WRITE,
                         .stream = STREAM_create_write,
                         .target = &file->file.target,
                         .iov = &iov,
                         .iov_count = 1};
    syspage_seal(frame->bytes, (struct lsn){0});
    frame->generation = ledger_view(run->ledger, uid, 0).issued + 1;
    ledger_begin(run->ledger, uid, 0, frame->generation);
    syspage_issued(file, 0, frame->bytes);
    int error = io_run(&run->io, &req);
    if (error) {
        ledger_fail(run->ledger, uid, 0);
        return error;
    }
    syspage_acked(file, 0);
    ledger_ack(run->ledger, uid, 0, file->file.target.dsync, 0, now_s);
    return 0;
}

/* All but the first page is given back, and comes again as zeros. */
static int file_empty(struct run *run, struct data_file *file)
{
    uint64_t bytes = (uint64_t)file->file.size_pages * PAGE_BYTES;
    int error = file_cut(&file->file, PAGE_BYTES);
    if (!error)
        error = file_grow(&file->file, bytes, false);
    if (error == -EOPNOTSUPP)
        error = file_grow(&file->file, bytes, true);
    return error ? error : header_write(run, file);
}

int run_reuse_tempdb(struct run *run)
{
    for (unsigned i = run->user_file_count; i < run->file_count; i++) {
        struct data_file *file = run->files[i];
        int error = file_empty(run, file);
        if (error) {
            snprintf(run->message, sizeof run->message, "%s: tempdb cannot be made anew: %s",
                     file->file.path, strerror(-error));
            run->exit_code = EXIT_CODE_INCOMPLETE;
            return error;
        }
    }
    return 0;
}

int run_reuse_taken(struct run *run)
{
    int error = reuse_taken(run->config.reuse);
    if (!error)
        return 0;
    const char *ledger = run->config.reuse->ledger_path;
    if (error == -ENOENT)
        snprintf(run->message, sizeof run->message,
                 "%s is gone since it was read: another run took its files over meanwhile. Nothing "
                 "was changed. Name the folder of the last run.",
                 ledger);
    else
        snprintf(run->message, sizeof run->message,
                 "%s cannot be removed (%s), and it must not stay: it knows nothing of what this "
                 "run will write. Nothing was changed.",
                 ledger, strerror(-error));
    run->exit_code = EXIT_CODE_USAGE;
    return error;
}
