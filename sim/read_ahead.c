/*
 * read_ahead.c - OP_READ_AHEAD: a scan's read-ahead of consecutive pages into the pool.
 *
 * ForceReadAhead=TRUE reads every page of the range, FALSE leaves out what is in the pool at both
 * ends of a request (SQL Server's rule).  Reading, judging and dropping is page_scan.h's.
 */
#include "sim/actor.h"

static enum task_result read_pages(struct actor *actor)
{
    struct page_scan *scan = &actor->scan;
    atomic_store(&actor->sleeping, true); /* it may wait for its share: whoever ends it wakes it */
    if (page_scan_step(scan) == TASK_PARK)
        return TASK_PARK;
    atomic_store(&actor->sleeping, false);
    struct counters *counters = &actor->task.worker->stats.counters;
    relaxed_add(&counters->read_ahead_pages, scan->kept);
    relaxed_add(&counters->read_ahead_dropped, scan->dropped);
    return TASK_DONE;
}

static bool is_over(const struct task *task)
{
    return actor_is_over((const struct actor *)task); /* first member */
}

enum task_result read_ahead_begin(struct actor *actor)
{
    bool force = actor->settings->force_read_ahead;
    struct page_scan_range range = {
        .file = actor->run->files[actor->op.file],
        .first_page = actor->op.first_page,
        .page_count = actor->op.page_count,
        .stream = STREAM_read_ahead,
        .cached = force ? SCAN_CACHED_READ : SCAN_CACHED_TRIM,
        .first_request_pages = actor->op.first_request_pages,
        .share = actor->share.gate ? &actor->share : NULL,
        .is_over = actor->op.may_be_cut ? is_over : NULL,
    };
    page_scan_start(&actor->scan, &range);
    return actor_go(actor, read_pages);
}
