/*
 * dbcc_check.c - OP_CHECKDB: one thread's part of a pass of DBCC CHECKDB.
 *
 *   JOIN (the first one opens the pass: no shrinking, CHECKPOINT, snapshots begin) -> READ page
 *   sets, many requests under way, each page judged by the ledger -> LEAVE (the last one closes the
 *   pass: snapshots end) -> wait for the others -> done
 *
 * Reads go past the pool, up to 64 pages each, as many under way as the settings say, across the
 * ends of page sets: DBCC means to saturate the disk.
 *
 * With snapshots each page is read where it stands (snapshot.h), so what is checked is the database
 * of one moment, whatever users do meanwhile.  A page that is being written at that moment is
 * waited for.  Without, a page that was being written is read again alone, a few times; what stays
 * busy is left to the final audit.
 *
 * What it does not do: look into the pool, or check what pages say of each other.
 */
#include "sim/dbcc_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"

#define OVERLAP_TRIES      3
#define SNAPSHOT_TRIES     1000 /* for a write that was under way when the snapshot began */
#define SNAPSHOT_PAUSE     NS_PER_MS
#define SUSPECT_REST_NS    NS_PER_S /* a full disk is still full a moment later */
#define BUFFER_ALIGN       4096
#define CHECKPOINT_LOOK_NS (100 * NS_PER_MS)

static enum task_result join(struct actor *actor);
static enum task_result open_pass(struct actor *actor);
static enum task_result wait_checkpoint(struct actor *actor);
static enum task_result begin(struct actor *actor);
static enum task_result read_sets(struct actor *actor);
static enum task_result leave(struct actor *actor);
static enum task_result close_pass(struct actor *actor);
static enum task_result wait_for_others(struct actor *actor);

static bool is_over(const struct actor *actor)
{
    const struct run *run = actor->run;
    return atomic_load(&((struct actor *)(uintptr_t)actor)->leaving) || run_stopping(run) ||
           clock_now_ns(run->clock) >= run->phase_deadline_ns;
}

/* ---- where pages stand ---- */

static const struct snapshot *snapshot_of(const struct dbcc_check *check,
                                          const struct data_file *source)
{
    return check->pass->snapshot ? source->snapshot : NULL;
}

static enum snapshot_place place_of(const struct dbcc_check *check, const struct data_file *source,
                                    uint32_t page_no)
{
    const struct snapshot *snapshot = snapshot_of(check, source);
    return snapshot ? snapshot_place_of(snapshot, page_no) : SNAPSHOT_SOURCE;
}

/* Was the image that was read from the source the snapshot's?  (snapshot.h) */
static bool has_moved(const struct dbcc_request *r, const struct data_file *read, uint32_t page_no)
{
    return read == r->source && place_of(r->check, r->source, page_no) != SNAPSHOT_SOURCE;
}

/* Pages at the start of the set that stand nowhere are left out. */
static void set_skip(struct dbcc_check *check)
{
    struct dbcc_set *set = &check->set;
    while (set->page_count && place_of(check, set->file, set->first_page) == SNAPSHOT_NONE) {
        set->first_page++;
        set->page_count--;
    }
}

/* Pages that stand together at the start of the set, as many as go into a request. */
static unsigned set_run(const struct dbcc_check *check, enum snapshot_place place)
{
    const struct dbcc_set *set = &check->set;
    unsigned most = set->page_count < check->request_pages ? set->page_count : check->request_pages;
    unsigned count = 1;
    while (count < most && place_of(check, set->file, set->first_page + count) == place)
        count++;
    return count;
}

/* ---- one request ---- */

/* False: the page moved away from the snapshot's reach this moment. */
static bool request_send(struct dbcc_check *check, struct dbcc_request *r)
{
    struct dbcc_set *set = &check->set;
    enum snapshot_place place = place_of(check, set->file, set->first_page);
    if (place == SNAPSHOT_NONE)
        return false;
    struct page_batch_pages pages = {.file = place == SNAPSHOT_HERE ? &set->file->snapshot->file
                                                                    : set->file,
                                     .first_page = set->first_page,
                                     .count = set_run(check, place),
                                     .stream = STREAM_dbcc_read};
    r->source = set->file;
    r->busy = true;
    set->first_page += pages.count;
    set->page_count -= pages.count;
    check->busy++;
    page_batch_iov(&r->batch, r->buffer, pages.count);
    page_batch_send(&r->batch, &pages);
    return true;
}

/* ---- judging ---- */

static uint32_t page_of(const struct dbcc_request *r)
{
    return r->batch.first_page + r->batch.at;
}

/* Read the page by itself, where it stands now.  True: it stands nowhere. */
static bool page_alone(struct dbcc_check *check, struct dbcc_request *r)
{
    enum snapshot_place place = place_of(check, r->source, page_of(r));
    if (place == SNAPSHOT_NONE)
        return true;
    page_batch_again(&r->batch, place == SNAPSHOT_HERE ? &r->source->snapshot->file : r->source);
    return false;
}

/* It was being written.  True: it is left to the final audit. */
static bool page_again(struct dbcc_check *check, struct dbcc_request *r)
{
    if (check->again-- == 0)
        return true;
    if (!snapshot_of(check, r->source) || place_of(check, r->source, page_of(r)) != SNAPSHOT_SOURCE)
        return page_alone(check, r);
    check->again_ns = clock_now_ns(check->actor->run->clock) + SNAPSHOT_PAUSE;
    check->waiting = r;
    task_sleep_until(&check->actor->task, check->again_ns);
    return false;
}

static void tries_renew(struct dbcc_check *check, const struct dbcc_request *r)
{
    check->again = snapshot_of(check, r->source) ? SNAPSHOT_TRIES : OVERLAP_TRIES;
}

/* A page that was read: true: it is settled. */
static bool page_settle(struct dbcc_check *check, struct dbcc_request *r,
                        enum page_read_result result)
{
    if (result == PAGE_READ_OVERLAPPED)
        return page_again(check, r);
    if (result != PAGE_READ_RIGHT)
        return true;
    if (has_moved(r, page_batch_file(&r->batch), page_of(r)))
        return page_alone(check, r);
    relaxed_add(&check->actor->task.worker->stats.counters.dbcc_pages, 1);
    return true;
}

/* As far as its pages have come.  Pages that are read again keep the reader, or wait. */
static void request_judge(struct dbcc_check *check, struct dbcc_request *r)
{
    if (!page_batch_holds_reader(&r->batch))
        tries_renew(check, r);
    for (;;) {
        enum page_read_result result = page_batch_step(&r->batch);
        if (result == PAGE_READ_WAIT)
            return;
        if (result == PAGE_READ_OVER) {
            r->busy = false;
            check->busy--;
            return;
        }
        if (!page_settle(check, r, result))
            return;
        tries_renew(check, r);
    }
}

/* The page that was being written when the snapshot began is due again.  False: it is not yet. */
static bool waiting_done(struct dbcc_check *check)
{
    struct dbcc_request *r = check->waiting;
    if (!r)
        return true;
    if (clock_now_ns(check->actor->run->clock) < check->again_ns) {
        task_sleep_until(&check->actor->task, check->again_ns);
        return false;
    }
    check->waiting = NULL;
    if (page_alone(check, r))
        request_judge(check, r);
    return true;
}

/* What has completed. */
static void judge_all(struct dbcc_check *check)
{
    struct page_reader *reader = &check->actor->reader;
    if (!waiting_done(check))
        return;
    if (reader->batch)
        request_judge(check, reader->batch->context);
    for (unsigned i = 0; i < check->request_count && !reader->batch && !check->waiting; i++)
        if (check->requests[i].busy)
            request_judge(check, &check->requests[i]);
}

/* ---- a pass ---- */

/* One that comes when the others are through has nothing left to do. */
static bool came_through(struct actor *actor)
{
    if (!dbcc_pass_is_through(actor->dbcc->pass, actor->op_until))
        return false;
    actor_came_through(actor);
    return true;
}

static enum task_result join(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = join;
    if (is_over(actor) || came_through(actor))
        return TASK_DONE;
    switch (dbcc_pass_join(check->pass, check->request_pages, actor->op_until, &actor->task)) {
    case DBCC_JOIN_WAIT:
        return TASK_PARK;
    case DBCC_JOIN_OPEN:
        return actor_go(actor, open_pass);
    case DBCC_JOIN_IN:
        break;
    }
    return actor_go(actor, begin);
}

/* Has the database snapshots, and is the pass to use them? */
static bool on_snapshot(const struct actor *actor)
{
    const struct database *database = actor->dbcc->pass->database;
    return actor->op.snapshot && database->files[0].snapshot && !is_over(actor);
}

/* No file of it shrinks while the pass lasts, so what a page set names exists. */
static enum task_result open_pass(struct actor *actor)
{
    struct dbcc_pass *pass = actor->dbcc->pass;
    actor->execute = open_pass;
    if (!shrink_forbid(pass->database, &actor->task))
        return TASK_PARK;
    if (on_snapshot(actor)) {
        pass->ticket = checkpoint_ask(pass->database);
        return actor_go(actor, wait_checkpoint);
    }
    dbcc_pass_opened(pass, false);
    return actor_go(actor, begin);
}

/* A database that has stopped needs no snapshot: the run stops. */
static enum task_result wait_checkpoint(struct actor *actor)
{
    struct dbcc_pass *pass = actor->dbcc->pass;
    struct database *database = pass->database;
    actor->execute = wait_checkpoint;
    switch (checkpoint_wait(database, pass->ticket, &actor->task)) {
    case CHECKPOINT_PENDING:
        if (!is_over(actor)) {
            /* nobody tells that the phase is over */
            task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + CHECKPOINT_LOOK_NS);
            return TASK_PARK;
        }
        checkpoint_wait_forget(database, &actor->task); /* there may be no log for it */
        dbcc_pass_opened(pass, false);
        return actor_go(actor, begin);
    case CHECKPOINT_FAILED:
        dbcc_pass_opened(pass, false);
        return actor_go(actor, begin);
    case CHECKPOINT_SERVED:
        break;
    }
    for (unsigned i = 0; i < database->file_count; i++) {
        int error = snapshot_begin(database->files[i].snapshot);
        if (error)
            snapshot_fail(database->files[i].snapshot, error);
    }
    dbcc_pass_opened(pass, true);
    return actor_go(actor, begin);
}

static enum task_result begin(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    check->number = check->pass->number; /* stays while this thread is in it */
    check->set = (struct dbcc_set){0};
    check->early = check->suspect = false;
    return actor_go(actor, read_sets);
}

/* Are there pages to read? */
static bool set_ready(struct dbcc_check *check)
{
    set_skip(check);
    while (check->set.page_count == 0) {
        if (!dbcc_pass_take(check->pass, &check->set))
            return false;
        set_skip(check);
    }
    check->suspect = dbcc_pass_is_suspect(check->pass);
    check->early = check->suspect || is_over(check->actor);
    return !check->early;
}

static void send_more(struct dbcc_check *check)
{
    for (unsigned i = 0; i < check->request_count && !check->early; i++) {
        struct dbcc_request *r = &check->requests[i];
        if (r->busy)
            continue;
        do {
            if (!set_ready(check))
                return;
        } while (!request_send(check, r));
    }
}

static enum task_result read_sets(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = read_sets;
    judge_all(check);
    send_more(check);
    return check->busy ? TASK_PARK : actor_go(actor, leave);
}

/* ---- its end ---- */

static enum task_result leave(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    check->closing = 0;
    bool last = dbcc_pass_leave(check->pass, check->early);
    return actor_go(actor, last ? close_pass : wait_for_others);
}

static enum task_result rest_step(struct actor *actor)
{
    bool over = is_over(actor) || clock_now_ns(actor->run->clock) >= actor->think_until_ns;
    actor->execute = rest_step;
    atomic_store(&actor->sleeping, !over);
    if (over)
        return TASK_DONE;
    task_sleep_until(&actor->task, actor->think_until_ns);
    return TASK_PARK;
}

static enum task_result rest(struct actor *actor)
{
    if (came_through(actor) || !actor->dbcc->suspect)
        return TASK_DONE;
    actor->think_until_ns = clock_now_ns(actor->run->clock) + SUSPECT_REST_NS;
    return rest_step(actor);
}

static enum task_result close_pass(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    struct dbcc_pass *pass = check->pass;
    struct database *database = pass->database;
    actor->execute = close_pass;
    while (pass->snapshot && check->closing < database->file_count) {
        if (!snapshot_end(database->files[check->closing].snapshot, &actor->task))
            return TASK_PARK;
        check->closing++;
    }
    shrink_allow(database);
    if (dbcc_pass_closed(pass))
        relaxed_add(&actor->task.worker->stats.counters.dbcc_passes, 1);
    return rest(actor);
}

static enum task_result wait_for_others(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = wait_for_others;
    bool over = dbcc_pass_is_over(check->pass, check->number, &actor->task);
    return over ? rest(actor) : TASK_PARK;
}

enum task_result dbcc_check_begin(struct actor *actor)
{
    assert(actor->dbcc && actor->dbcc->busy == 0); /* the pattern said that it reads */
    return actor_go(actor, join);
}

/* ---- life ---- */

static void request_init(struct dbcc_check *check, unsigned index)
{
    struct dbcc_request *r = &check->requests[index];
    size_t first = (size_t)index * check->request_pages;
    r->check = check;
    r->buffer = check->buffer + first * PAGE_BYTES;
    r->batch.reader = &check->actor->reader;
    r->batch.iov = &check->iov[first];
    r->batch.before = &check->before[first];
    r->batch.context = r;
}

struct dbcc_check *dbcc_check_create(struct actor *actor, struct pattern_reads reads)
{
    struct run *run = actor->run;
    if (!run->dbcc)
        run->dbcc = dbcc_pass_create(run);
    struct dbcc_check *check = calloc(1, sizeof *check);
    if (!run->dbcc || !check) {
        free(check);
        return NULL;
    }
    size_t pages = (size_t)reads.outstanding * reads.pages;
    check->actor = actor;
    check->pass = run->dbcc;
    dbcc_pass_actors(check->pass, 1);
    check->request_count = reads.outstanding;
    check->request_pages = reads.pages;
    check->requests = calloc(reads.outstanding, sizeof *check->requests);
    check->buffer = aligned_alloc(BUFFER_ALIGN, pages * PAGE_BYTES);
    check->iov = calloc(pages, sizeof *check->iov);
    check->before = calloc(pages, sizeof *check->before);
    if (!check->requests || !check->buffer || !check->iov || !check->before) {
        dbcc_check_free(check);
        return NULL;
    }
    for (unsigned i = 0; i < reads.outstanding; i++)
        request_init(check, i);
    return check;
}

/* Busy requests are left only where a run gave up one that never ended (run_watch.h). */
void dbcc_check_free(struct dbcc_check *check)
{
    if (!check)
        return;
    dbcc_pass_actors(check->pass, -1);
    free(check->requests);
    free(check->buffer);
    free(check->iov);
    free(check->before);
    free(check);
}
