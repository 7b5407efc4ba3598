/*
 * frame_check.c - OP_FRAME_CHECK: validate clean pages, in memory or on the disk.
 *
 * In memory: the frame is copied under its partition lock while it is CLEAN and nobody has it
 * pinned, and the copy is checked at leisure.  Every way into CLEAN (pool.h) left a sealed image of
 * the frame's generation there, and every change of bytes makes the frame DIRTY under that lock;
 * so a copy that is not that image was changed by nobody who may: memory_changed, SQL Server's 832.
 * DIRTY and WRITING frames are not checked: they are sealed only when they are written.
 *
 * A finding quarantines the page (findings.c), though its disk copy may be right: it is evidence
 * now.  The frame is given up; a system page, whose frame cannot be, gets its acknowledged image
 * back, so that the damage does not go to the disk under a right checksum.
 *
 * On the disk: the page is read into a buffer of ours and judged by the ledger, as an audit does.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/page_fault.h"

#define CHECK_PAGES 3

struct frame_check {
    size_t cursor;
    struct frame_copy copy;
    struct data_file *file;
    uint32_t page_no;
    uint8_t *memory; /* CHECK_PAGES pages */
    uint8_t *expected, *disk;
};

/* ---- the finding ---- */

/* The image that the frame must hold, as far as it can be made again; the time of the write is
 * taken from the copy. */
static void expected_image(struct actor *actor, struct ledger_view owed)
{
    struct frame_check *check = actor->frame_check;
    const struct frame_copy *copy = &check->copy;
    const struct file_mark *mark = &check->file->file.mark;
    if (copy->system) {
        struct syspage_images images = {.acked = check->expected, .issued = check->disk};
        memset(check->expected, 0, PAGE_BYTES);
        syspage_images_copy(check->file, check->page_no, &images);
        return;
    }
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id,
                                     check->page_no, copy->generation};
    page_fill(check->expected, &actor->run->identity, &identity, owed.actor);
    page_seal(check->expected, copy->lsn, page_stamp_of(copy->bytes)->write_time_ns);
}

static void describe(struct frame_check *check, struct finding *finding)
{
    unsigned differing = 0, first = 0;
    for (unsigned i = PAGE_BYTES; i-- > 0;)
        if (check->copy.bytes[i] != check->expected[i]) {
            differing++;
            first = i;
        }
    finding->why.first_bad_offset = differing ? (int)first : -1;
    snprintf(finding->detail, sizeof finding->detail,
             "%u bytes of the clean page in memory are not what was read or written, the first at "
             "offset %u; its copy on the disk is not concerned. Test the memory of this machine",
             differing, first);
}

static void report(struct actor *actor, struct ledger_view owed, const struct expectation *expect)
{
    struct frame_check *check = actor->frame_check;
    struct finding finding = {
        .verdict = VERDICT_memory_changed,
        .file_uid = check->file->file.mark.file_uid,
        .has_page = true,
        .page_no = check->page_no,
        .offset = (uint64_t)check->page_no * PAGE_BYTES,
        .size_bytes = PAGE_BYTES,
        .writer = owed.actor,
        .written_s = owed.time_s,
    };
    if (!check->copy.system)
        explain(check->copy.bytes, 0, expect, &finding.why);
    finding.why.verdict = VERDICT_memory_changed;
    expected_image(actor, owed);
    describe(check, &finding);
    snprintf(finding.file, sizeof finding.file, "%s", check->file->file.path);
    snprintf(finding.actor, sizeof finding.actor, "%s", actor->name);
    struct finding_images images = {.read_image = check->copy.bytes,
                                    .expected_image = check->expected,
                                    .size_bytes = PAGE_BYTES};
    finding_report(&actor->run->findings, &finding, &images);
    pool_give_up_clean(&actor->run->pool, &check->copy, check->expected);
}

/* ---- in memory ---- */

static bool is_right(struct actor *actor, const struct expectation *expect)
{
    struct frame_check *check = actor->frame_check;
    if (!check->copy.system)
        return explain_is_right(check->copy.bytes, expect);
    return syspage_check(check->copy.bytes, syspage_kind(check->page_no, check->file->primary),
                         check->page_no, check->file->file.mark.file_id);
}

static void check_memory(struct actor *actor)
{
    struct frame_check *check = actor->frame_check;
    struct ledger_view owed =
        ledger_view(actor->run->ledger, check->file->file.mark.file_uid, check->page_no);
    if (owed.state == LEDGER_QUARANTINED) /* its finding stands */
        return;
    owed.acked = owed.issued = owed.durable = check->copy.generation;
    owed.state = LEDGER_QUIET;
    struct expectation expect = page_expectation(&actor->reader, check->file, check->page_no, owed);
    relaxed_add(&actor->task.worker->stats.counters.frames_checked, 1);
    if (!is_right(actor, &expect))
        report(actor, owed, &expect);
}

/* ---- on the disk ---- */

static enum task_result read_step(struct actor *actor)
{
    actor->execute = read_step;
    return page_read_step(&actor->reader) == PAGE_READ_WAIT ? TASK_PARK : TASK_DONE;
}

static enum task_result check_disk(struct actor *actor)
{
    struct frame_check *check = actor->frame_check;
    file_use_begin(&actor->use, check->file);
    if (check->page_no >= check->file->file.size_pages) /* the file has shrunk meanwhile */
        return TASK_DONE;
    page_read_start(&actor->reader, check->file, check->page_no, check->disk, STREAM_audit_read);
    return read_step(actor);
}

/* ---- the walk ---- */

static bool next_clean(struct actor *actor)
{
    struct frame_check *check = actor->frame_check;
    struct pool *pool = &actor->run->pool;
    size_t total = pool->frame_count + pool->system_count;
    for (unsigned i = 0; i < FRAME_CHECK_FRAMES; i++) {
        size_t index = check->cursor++ % total;
        if (pool_copy_clean(pool, index, &check->copy))
            return true;
    }
    return false;
}

static void place(struct actor *actor)
{
    struct frame_check *check = actor->frame_check;
    check->file = run_file_by_uid(actor->run, (uint16_t)(check->copy.key >> 32));
    check->page_no = (uint32_t)check->copy.key;
}

static enum task_result check_range(struct actor *actor)
{
    struct pool *pool = &actor->run->pool;
    size_t total = pool->frame_count + pool->system_count;
    size_t end = (size_t)actor->op.first_page + actor->op.page_count;
    for (size_t i = actor->op.first_page; i < end && i < total; i++) {
        if (run_stopping(actor->run) || !pool_copy_clean(pool, i, &actor->frame_check->copy))
            continue;
        place(actor);
        check_memory(actor);
    }
    return TASK_DONE;
}

enum task_result frame_check_begin(struct actor *actor)
{
    if (actor->op.page_count)
        return check_range(actor);
    if (!next_clean(actor))
        return TASK_DONE;
    place(actor);
    if (actor->op.on_disk)
        return check_disk(actor);
    check_memory(actor);
    return TASK_DONE;
}

/* ---- life ---- */

int frame_check_create(struct actor *actor, unsigned share, unsigned shares)
{
    struct frame_check *check = calloc(1, sizeof *check);
    if (!check)
        return -ENOMEM;
    actor->frame_check = check;
    check->memory = aligned_alloc(4096, CHECK_PAGES * PAGE_BYTES);
    if (!check->memory)
        return -ENOMEM;
    check->copy.bytes = check->memory;
    check->expected = check->memory + PAGE_BYTES;
    check->disk = check->memory + 2 * PAGE_BYTES;
    check->cursor = actor->run->pool.frame_count * (share % shares) / shares;
    return 0;
}

void frame_check_free(struct actor *actor)
{
    if (actor->frame_check)
        free(actor->frame_check->memory);
    free(actor->frame_check);
    actor->frame_check = NULL;
}
