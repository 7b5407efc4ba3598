/* run_reuse.c - see run_reuse.h. */
#include "sim/run_reuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exit_code.h"

void run_reuse_ledger(struct run *run)
{
    const struct reuse *reuse = run->config.reuse;
    ledger_header_of(run->ledger)->session = ledger_header_of(reuse->ledger)->session + 1;
    for (unsigned i = 0; i < run->file_count; i++)
        reuse_adopt(reuse, run->ledger, run->files[i]->file.mark.file_uid);
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

static bool was_written(const struct run *run, const struct data_file *file, uint32_t page_no)
{
    enum syspage_kind kind = syspage_kind(page_no, file->primary);
    return kind != SYSPAGE_NONE && kind != SYSPAGE_RESERVED &&
           ledger_view(run->ledger, file->file.mark.file_uid, page_no).state !=
               LEDGER_NEVER_WRITTEN;
}

int run_reuse_system_pages(struct run *run, struct data_file *file)
{
    uint8_t *image = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
    int error = image ? 0 : -ENOMEM;
    for (uint32_t page_no = 0; page_no < file->file.size_pages && !error; page_no++)
        if (was_written(run, file, page_no))
            error = page_load(run, file, page_no, image);
    free(image);
    return error;
}

int run_reuse_taken(struct run *run)
{
    int error = reuse_taken(run->config.reuse);
    if (!error)
        return 0;
    snprintf(run->message, sizeof run->message,
             "%s cannot be removed (%s), and it must not stay: it knows nothing of what this run "
             "will write. Nothing was changed.",
             run->config.reuse->ledger_path, strerror(-error));
    run->exit_code = EXIT_CODE_USAGE;
    return error;
}
