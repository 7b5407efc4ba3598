/*
 * write_check.c - see write_check.h.
 *
 *   (a gather) -> NEXT run of pages that owe something -> READ and JUDGE each -> NEXT ... -> the
 *   gather goes on
 *
 * Invariant: while a checker has a gather nobody else writes its pages, so a read of them overlaps
 * nothing; only a quarantine or a failed flush changes what the ledger says of them meanwhile.
 */
#include "sim/write_check.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/page_batch.h"
#include "sim/writeback.h"

#define CHECKERS      8  /* of a worker: gathers that are checked at a time */
#define CHECK_PAGES   32 /* read at once: 256 KiB */
#define OVERLAP_TRIES 16
#define BUFFER_ALIGN  4096

struct write_checkers;

struct write_checker {
    struct task task;
    struct write_checkers *of;
    struct write_checker *next; /* free ones */
    enum task_result (*step)(struct write_checker *checker);
    struct gather *gather;                /* that waits for it; NULL: free */
    void (*go_on)(struct gather *gather); /* what comes after the check */
    unsigned next_page;                   /* of the gather: pages before it were looked at */
    unsigned again;                       /* tries left for an overlapped page */
    struct page_reader reader;
    struct page_batch batch;
    struct iovec iov[CHECK_PAGES];
    struct ledger_view before[CHECK_PAGES];
    uint8_t *buffer; /* CHECK_PAGES pages */
};

struct write_checkers {
    struct write_checker *free_list;
    struct gather_line line;
    struct write_checker list[CHECKERS];
};

struct write_checks {
    unsigned worker_count;
    struct write_checkers *of_worker;
};

static enum task_result next_run(struct write_checker *checker);
static enum task_result judge(struct write_checker *checker);

/* ---- gathers come and go ---- */

/* Before the write its images are not in the ledger; after it they are what the device owes. */
static void checker_begin(struct write_checker *checker, struct gather *gather)
{
    bool written = gather->settled;
    checker->gather = gather;
    checker->go_on = written ? writeback_release : writeback_go_on;
    checker->reader.actor = written ? "read back" : "check before overwrite";
    checker->next_page = 0;
    checker->step = next_run;
}

/* Of struct data_file, both moments. */
static bool keep(struct gather *gather)
{
    struct write_checkers *of = &gather->file->checks->of_worker[gather->worker->index];
    struct write_checker *checker = of->free_list;
    if (checker) {
        of->free_list = checker->next;
        checker_begin(checker, gather);
        task_wake(&checker->task);
        return true;
    }
    gather_line_add(&of->line, gather);
    return true;
}

static enum task_result checker_next(struct write_checker *checker)
{
    struct write_checkers *of = checker->of;
    struct gather *gather = gather_line_take(&of->line);
    if (!gather) {
        checker->gather = NULL;
        checker->next = of->free_list;
        of->free_list = checker;
        return TASK_PARK;
    }
    checker_begin(checker, gather);
    return TASK_AGAIN;
}

static enum task_result finish(struct write_checker *checker)
{
    struct gather *gather = checker->gather;
    void (*go_on)(struct gather * gather) = checker->go_on;
    enum task_result result = checker_next(checker);
    go_on(gather);
    return result;
}

/* ---- checking ---- */

static bool is_owed(const struct write_checker *checker, uint32_t page_no)
{
    const struct data_file *file = checker->gather->file;
    struct ledger_view view =
        ledger_view(file->database->ledger, file->file.mark.file_uid, page_no);
    return view.state == LEDGER_QUIET || view.state == LEDGER_INDETERMINATE;
}

static enum task_result next_run(struct write_checker *checker)
{
    const struct gather *gather = checker->gather;
    struct page_batch_pages pages = {.file = gather->file, .stream = STREAM_check_read};
    while (checker->next_page < gather->count && pages.count < CHECK_PAGES) {
        uint32_t page_no = gather->first_page + checker->next_page;
        bool owed = is_owed(checker, page_no);
        if (!owed && pages.count)
            break;
        checker->next_page++;
        if (owed && pages.count++ == 0)
            pages.first_page = page_no;
    }
    if (pages.count == 0)
        return finish(checker);
    page_batch_iov(&checker->batch, checker->buffer, pages.count);
    page_batch_send(&checker->batch, &pages);
    checker->again = OVERLAP_TRIES;
    checker->step = judge;
    return TASK_PARK;
}

static enum task_result judge(struct write_checker *checker)
{
    for (;;) {
        switch (page_batch_step(&checker->batch)) {
        case PAGE_READ_WAIT:
            return TASK_PARK;
        case PAGE_READ_OVER:
            return next_run(checker);
        case PAGE_READ_OVERLAPPED:
            if (checker->again == 0)
                break;
            checker->again--;
            page_batch_again(&checker->batch, checker->gather->file);
            return TASK_PARK;
        case PAGE_READ_RIGHT:
        case PAGE_READ_WRONG:
            break;
        }
        checker->again = OVERLAP_TRIES;
    }
}

/* ---- life ---- */

static enum task_result checker_step(struct task *task)
{
    struct write_checker *checker = (struct write_checker *)task; /* first member */
    return checker->gather ? checker->step(checker) : TASK_PARK;
}

static int checker_init(struct write_checkers *of, unsigned index, struct run *run,
                        struct worker *worker)
{
    struct write_checker *checker = &of->list[index];
    checker->of = of;
    checker->next = of->free_list;
    of->free_list = checker;
    task_init(&checker->task, worker, checker_step);
    checker->buffer = aligned_alloc(BUFFER_ALIGN, CHECK_PAGES * PAGE_BYTES);
    int error = page_reader_init(&checker->reader, run, &checker->task, "check");
    if (!error && !checker->buffer)
        error = -ENOMEM;
    if (error)
        return error;
    checker->batch = (struct page_batch){
        .reader = &checker->reader, .iov = checker->iov, .before = checker->before};
    task_start(&checker->task);
    return 0;
}

int write_checks_create(struct run *run)
{
    const struct config_settings *settings = run->settings;
    bool back = settings->read_back == CONFIG_READ_BACK_IMMEDIATE;
    int error = 0;
    if (!back && !settings->verify_before_overwrite)
        return 0;
    struct write_checks *checks = run->write_checks = calloc(1, sizeof *checks);
    if (!checks)
        return -ENOMEM;
    checks->of_worker = calloc(run->worker_count, sizeof *checks->of_worker);
    if (!checks->of_worker)
        return -ENOMEM;
    checks->worker_count = run->worker_count;
    for (unsigned i = 0; i < run->worker_count; i++)
        for (unsigned j = 0; j < CHECKERS && !error; j++)
            error = checker_init(&checks->of_worker[i], j, run, &run->workers[i]);
    for (unsigned i = 0; i < run->file_count; i++) {
        struct data_file *file = run->files[i];
        file->checks = checks;
        file->check_old = settings->verify_before_overwrite ? keep : NULL;
        file->after_write = back ? keep : NULL;
    }
    return error;
}

/* A checker that was never made is zeroed. */
void write_checks_free(struct run *run)
{
    struct write_checks *checks = run->write_checks;
    if (!checks)
        return;
    for (unsigned i = 0; i < checks->worker_count; i++)
        for (unsigned j = 0; j < CHECKERS; j++) {
            page_reader_free(&checks->of_worker[i].list[j].reader);
            free(checks->of_worker[i].list[j].buffer);
        }
    free(checks->of_worker);
    free(checks);
    run->write_checks = NULL;
}
