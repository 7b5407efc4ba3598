/*
 * explain_fixture.h - images and expectations for the explain tests.
 */
#ifndef TESTS_EXPLAIN_FIXTURE_H
#define TESTS_EXPLAIN_FIXTURE_H

#include "page_fixture.h"

#include "verify/explain.h"

#define SERIAL 4711u
#define UID    3u
#define PAGE   1234u

static const struct lsn fixture_lsn = {50, 16, 1};

static inline const struct run_identity *own_run(void)
{
    static struct run_identity run;
    run = fixture_run(1, 0);
    return &run;
}

static inline void build(void *page, const struct run_identity *run, uint16_t uid, uint32_t page_no,
                         uint64_t generation)
{
    struct page_identity id = {uid, 1, 1, page_no, generation};
    page_fill(page, run, &id, 5);
    page_seal(page, fixture_lsn, 1000 + generation);
}

static inline void build_own(void *page, uint64_t generation)
{
    build(page, own_run(), UID, PAGE, generation);
}

/* A quiet page of ours. */
static inline struct expectation owed(uint64_t generation)
{
    return (struct expectation){
        .run = own_run(),
        .file_uid = UID,
        .incarnation = 1,
        .file_id = 1,
        .page_no = PAGE,
        .owed = {.acked = generation,
                 .issued = generation,
                 .durable = generation,
                 .state = LEDGER_QUIET},
        .created_by_us = true,
    };
}

static inline struct expectation owed_never(void)
{
    struct expectation e = owed(0);
    e.owed.state = LEDGER_NEVER_WRITTEN;
    return e;
}

static inline struct expectation owed_doubt(uint64_t durable, uint64_t acked, uint64_t issued)
{
    struct expectation e = owed(acked);
    e.owed.durable = durable;
    e.owed.issued = issued;
    e.owed.state = LEDGER_INDETERMINATE;
    return e;
}

static inline void copy_sectors(void *to, const void *from, unsigned first, unsigned end)
{
    memcpy((uint8_t *)to + (size_t)first * PAGE_SECTOR_BYTES,
           (const uint8_t *)from + (size_t)first * PAGE_SECTOR_BYTES,
           (size_t)(end - first) * PAGE_SECTOR_BYTES);
}

static inline struct explanation explained(const void *page, const struct expectation *expect)
{
    struct explanation out;

    explain(page, SERIAL, expect, &out);
    assert_int_equal(out.verdict == VERDICT_NONE, explain_is_right(page, expect));
    assert_int_equal(strlen(out.sectors), PAGE_SECTORS);
    return out;
}

static inline void assert_verdict(const struct explanation *e, enum verdict verdict)
{
    if (e->verdict != verdict)
        print_error("sectors %s: %s\n", e->sectors, verdict_info(e->verdict)->name);
    assert_int_equal(e->verdict, verdict);
}

#endif
