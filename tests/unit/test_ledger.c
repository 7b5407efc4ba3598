/*
 * test_ledger.c - the life of ledger entries: writes, doubt, flushes, wrap-around, concurrency.
 */
#include "ledger_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/scale.h"

#define PAGE 5

static struct ledger *ledger_of(void **state)
{
    return ((struct ledger_fixture *)*state)->ledger;
}

static struct ledger_view view(void **state)
{
    return ledger_view(ledger_of(state), DATA_UID, PAGE);
}

static void begin(void **state, uint64_t generation)
{
    ledger_begin(ledger_of(state), DATA_UID, PAGE, generation);
}

static void ack(void **state, bool durable)
{
    ledger_ack(ledger_of(state), DATA_UID, PAGE, durable, 9, 80);
}

static void write_page(void **state, uint64_t generation, bool durable)
{
    begin(state, generation);
    ack(state, durable);
}

static void fail_page(void **state, uint64_t generation)
{
    begin(state, generation);
    ledger_fail(ledger_of(state), DATA_UID, PAGE);
}

static void assert_generations(void **state, uint64_t durable, uint64_t acked, uint64_t issued)
{
    struct ledger_view v = view(state);
    assert_int_equal(v.durable, durable);
    assert_int_equal(v.acked, acked);
    assert_int_equal(v.issued, issued);
}

/* --- one write --- */

static void test_new_page_is_never_written(void **state)
{
    assert_int_equal(view(state).state, LEDGER_NEVER_WRITTEN);
    assert_generations(state, 0, 0, 0);
}

static void test_begin_issues_and_changes_the_epoch(void **state)
{
    uint32_t epoch = view(state).epoch;
    begin(state, 3);
    assert_int_equal(view(state).state, LEDGER_IN_FLIGHT);
    assert_generations(state, 0, 0, 3);
    assert_int_equal(view(state).epoch, epoch + 1);
}

static void test_ack_acknowledges_the_issued_generation(void **state)
{
    write_page(state, 3, false);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_generations(state, 0, 3, 3);
    assert_int_equal(view(state).epoch, 2);
}

static void test_write_through_ack_is_durable(void **state)
{
    write_page(state, 3, true);
    assert_generations(state, 3, 3, 3);
}

static void test_ack_records_actor_and_coarse_time(void **state)
{
    begin(state, 1);
    ledger_ack(ledger_of(state), DATA_UID, PAGE, true, 4096 + 17, 1007);
    assert_int_equal(view(state).actor, 17);    /* modulo 4096 */
    assert_int_equal(view(state).time_s, 1000); /* 125 units of 8 s */
}

static void test_time_wraps_at_18_bits_of_8_seconds(void **state)
{
    begin(state, 1);
    ledger_ack(ledger_of(state), DATA_UID, PAGE, true, 0, (262144 + 2) * 8);
    assert_int_equal(view(state).time_s, 16);
}

static void test_epoch_wraps_without_touching_generations(void **state)
{
    for (uint64_t g = 1; g <= 65536; g++) /* 2 epochs a write: 2^17 */
        write_page(state, g, true);
    assert_int_equal(view(state).epoch, 0);
    assert_generations(state, 65536, 65536, 65536);
    assert_int_equal(view(state).state, LEDGER_QUIET);
}

static void test_neighbours_are_not_touched(void **state)
{
    write_page(state, 3, true);
    assert_int_equal(ledger_view(ledger_of(state), DATA_UID, PAGE - 1).epoch, 0);
    assert_int_equal(ledger_view(ledger_of(state), DATA_UID, PAGE + 1).epoch, 0);
    assert_int_equal(ledger_view(ledger_of(state), 3, PAGE).epoch, 0);
}

static void test_largest_generation_is_kept(void **state)
{
    uint64_t top = (1ull << 40) - 1;
    begin(state, top - 1);
    ack(state, true);
    write_page(state, top, false);
    assert_generations(state, top - 1, top, top);
}

/* --- seen --- */

static void test_seen_holds_until_the_next_ack(void **state)
{
    write_page(state, 1, true);
    ledger_seen(ledger_of(state), DATA_UID, PAGE, view(state).epoch);
    assert_true(view(state).seen);
    begin(state, 2);
    ack(state, true);
    assert_false(view(state).seen);
}

static void test_seen_of_an_old_epoch_has_no_effect(void **state)
{
    write_page(state, 1, true);
    ledger_seen(ledger_of(state), DATA_UID, PAGE, view(state).epoch - 1);
    assert_false(view(state).seen);
}

static void test_seen_in_flight_has_no_effect(void **state)
{
    write_page(state, 1, true);
    begin(state, 2);
    ledger_seen(ledger_of(state), DATA_UID, PAGE, view(state).epoch);
    assert_false(view(state).seen);
}

static void test_view_before_begin_tells_overwritten_unread(void **state)
{
    write_page(state, 1, true);
    struct ledger_view before = view(state);
    assert_true(before.acked > 0 && !before.seen);
}

/* --- failure --- */

static void test_failed_write_is_indeterminate_from_durable_to_issued(void **state)
{
    write_page(state, 3, true);
    write_page(state, 4, false);
    fail_page(state, 6);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_generations(state, 3, 4, 6);
}

static void test_failed_write_through_rewrite_settles_at_once(void **state)
{
    fail_page(state, 2);
    write_page(state, 3, true);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_generations(state, 3, 3, 3);
}

static void test_rewrite_stays_indeterminate_until_flushed(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 1, true);
    fail_page(state, 2);
    write_page(state, 3, false);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_generations(state, 1, 3, 3);
    uint32_t epoch = view(state).epoch;
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_generations(state, 3, 3, 3);
    assert_int_not_equal(view(state).epoch, epoch); /* a read across the flush is not judged */
}

static void test_second_rewrite_keeps_the_doubt(void **state)
{
    fail_page(state, 2);
    write_page(state, 3, false);
    write_page(state, 4, false);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_generations(state, 0, 4, 4);
}

static void test_flush_does_not_settle_a_page_that_was_not_rewritten(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 1, true);
    fail_page(state, 2);
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_generations(state, 1, 1, 2);
}

static void test_rewrite_acked_during_a_flush_waits_for_the_next(void **state)
{
    struct ledger *l = ledger_of(state);

    fail_page(state, 2);
    uint32_t flush = ledger_flush_begin(l, DATA_UID);
    write_page(state, 3, false);
    ledger_flush_end(l, DATA_UID, flush, true);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
    assert_int_equal(view(state).state, LEDGER_QUIET);
}

/* --- flushes --- */

static void test_flush_makes_acknowledged_durable(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 5, false);
    uint32_t epoch = view(state).epoch;
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
    assert_generations(state, 5, 5, 5);
    assert_int_equal(view(state).epoch, epoch); /* nothing that a read may see has changed */
}

static void test_flush_of_another_file_does_not(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 5, false);
    ledger_flush_end(l, 3, ledger_flush_begin(l, 3), true);
    assert_generations(state, 0, 5, 5);
}

static void test_ack_during_the_flush_keeps_the_old_mark(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 5, true);
    uint32_t flush = ledger_flush_begin(l, DATA_UID);
    write_page(state, 6, false);
    ledger_flush_end(l, DATA_UID, flush, true);
    assert_generations(state, 5, 6, 6);
}

static void test_page_in_flight_becomes_durable_as_it_was_acknowledged(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 5, false);
    begin(state, 6);
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
    assert_generations(state, 5, 5, 6);
    ack(state, false);
    assert_generations(state, 5, 6, 6);
}

static void test_overlapping_flushes_claim_only_what_each_covers(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 1, true);
    uint32_t first = ledger_flush_begin(l, DATA_UID);
    write_page(state, 2, false);
    uint32_t second = ledger_flush_begin(l, DATA_UID);
    ledger_flush_end(l, DATA_UID, first, true);
    assert_generations(state, 1, 2, 2);
    ledger_flush_end(l, DATA_UID, second, true);
    assert_generations(state, 2, 2, 2);
}

static void test_flush_that_saw_many_others_begin_claims_nothing_wrong(void **state)
{
    struct ledger *l = ledger_of(state);

    uint32_t first = ledger_flush_begin(l, DATA_UID);
    write_page(state, 1, false);
    for (int i = 0; i < 9; i++) { /* stamps are modulo 4 */
        (void)!ledger_flush_begin(l, DATA_UID);
        ledger_flush_end(l, DATA_UID, first, true);
        assert_generations(state, 0, 1 + (uint64_t)i, 1 + (uint64_t)i);
        write_page(state, 2 + (uint64_t)i, false);
    }
}

static void test_stamps_of_many_flushes_ago_are_settled(void **state)
{
    struct ledger *l = ledger_of(state);

    for (uint64_t g = 1; g <= 9; g++) {
        write_page(state, g, false);
        ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
        assert_generations(state, g, g, g);
    }
}

static void test_failed_flush_puts_unflushed_pages_in_doubt(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 3, true);
    write_page(state, 5, false);
    uint32_t epoch = view(state).epoch;
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), false);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_generations(state, 3, 5, 5);
    assert_int_not_equal(view(state).epoch, epoch);
}

static void test_failed_flush_leaves_durable_pages_alone(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 3, true);
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), false);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_int_equal(ledger_view(l, DATA_UID, PAGE + 1).state, LEDGER_NEVER_WRITTEN);
}

static void test_later_good_flush_proves_nothing_after_a_failed_one(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 5, false);
    ledger_flush_failed(l, DATA_UID);
    ledger_flushed(l, DATA_UID);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_generations(state, 0, 5, 5);
}

static void test_write_in_flight_at_a_failed_flush_needs_a_flush_of_its_own(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 1, true);
    begin(state, 2);
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), false);
    assert_int_equal(view(state).state, LEDGER_IN_FLIGHT);
    ack(state, false);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    ledger_flushed(l, DATA_UID);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_generations(state, 2, 2, 2);
}

static void test_failed_flush_takes_settlement_back_from_a_rewrite(void **state)
{
    struct ledger *l = ledger_of(state);

    fail_page(state, 1);
    write_page(state, 2, false);
    ledger_flush_failed(l, DATA_UID);
    ledger_flushed(l, DATA_UID);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
}

/* --- spans --- */

static void test_span_limit_is_refused_until_flushed(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 1, true);
    write_page(state, 2, false);
    assert_true(ledger_span_ok(l, DATA_UID, PAGE, 1 + LEDGER_SPAN_MAX));
    assert_false(ledger_span_ok(l, DATA_UID, PAGE, 2 + LEDGER_SPAN_MAX));
    ledger_flushed(l, DATA_UID);
    assert_true(ledger_span_ok(l, DATA_UID, PAGE, 2 + LEDGER_SPAN_MAX));
}

static void test_widest_span_is_exact(void **state)
{
    write_page(state, 1000, true);
    write_page(state, 1001, false);
    begin(state, 1000 + LEDGER_SPAN_MAX);
    assert_generations(state, 1000, 1001, 1000 + LEDGER_SPAN_MAX);
    ack(state, false);
    assert_generations(state, 1000, 1000 + LEDGER_SPAN_MAX, 1000 + LEDGER_SPAN_MAX);
}

static void test_first_write_may_start_far_above_zero(void **state)
{
    uint64_t far = 1ull << 33;

    assert_true(ledger_span_ok(ledger_of(state), DATA_UID, PAGE, far));
    write_page(state, far, false);
    assert_generations(state, 0, far, far);
    write_page(state, far + 1, false);
    assert_generations(state, 0, far + 1, far + 1);
    ledger_flushed(ledger_of(state), DATA_UID);
    assert_generations(state, far + 1, far + 1, far + 1);
}

static void test_failed_far_step_allows_everything_older(void **state)
{
    write_page(state, 10, true);
    fail_page(state, 1000000);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
    assert_int_equal(view(state).durable, 0);
    assert_int_equal(view(state).issued, 1000000);
    write_page(state, 1000001, true);
    assert_generations(state, 1000001, 1000001, 1000001);
}

static void test_page_in_doubt_is_never_stuck_on_the_span(void **state)
{
    write_page(state, 1, true);
    fail_page(state, 2);
    assert_true(ledger_span_ok(ledger_of(state), DATA_UID, PAGE, 2 + LEDGER_SPAN_MAX));
    write_page(state, 2 + LEDGER_SPAN_MAX, true);
    assert_int_equal(view(state).state, LEDGER_QUIET);
}

/* --- freed, quarantined, adopted, settled --- */

static void test_freed_page_keeps_its_generations(void **state)
{
    write_page(state, 7, true);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 0);
    assert_int_equal(view(state).state, LEDGER_FREED);
    assert_generations(state, 7, 7, 7);
    write_page(state, 8, false);
    assert_int_equal(view(state).state, LEDGER_QUIET);
}

/* Generation 7 was written; 9 was in the log and in memory alone when the page was freed. */
static void test_freed_page_goes_on_above_what_was_never_written(void **state)
{
    write_page(state, 7, true);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 9);
    assert_int_equal(view(state).state, LEDGER_FREED);
    assert_int_equal(view(state).issued, 9);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 11); /* used and freed again, unwritten */
    assert_int_equal(view(state).issued, 11);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 8);
    assert_int_equal(view(state).issued, 11);
    write_page(state, 12, true);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_generations(state, 12, 12, 12);
}

static void test_freed_page_may_be_far_above_what_was_written(void **state)
{
    const uint64_t far = 7 + 3 * (uint64_t)LEDGER_SPAN_MAX;
    write_page(state, 7, true);
    ledger_free(ledger_of(state), DATA_UID, PAGE, far);
    assert_int_equal(view(state).state, LEDGER_FREED);
    assert_int_equal(view(state).issued, far);
    write_page(state, far + 1, false);
    assert_int_equal(view(state).acked, far + 1);
}

/* The end of its file may be cut off and grown again: then it is zeros, and rightly. */
static void test_zeros_are_right_of_a_page_both_freed_and_quarantined(void **state)
{
    write_page(state, 7, true);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 0);
    ledger_quarantine(ledger_of(state), DATA_UID, PAGE);
    assert_int_equal(view(state).state, LEDGER_QUARANTINED);
    assert_int_equal(view(state).durable, 0);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 0);
    assert_int_equal(view(state).state, LEDGER_QUARANTINED);
    assert_int_equal(view(state).durable, 0);
}

static void test_freeing_does_not_settle_doubt(void **state)
{
    write_page(state, 7, true);
    fail_page(state, 8);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 0);
    ledger_flushed(ledger_of(state), DATA_UID);
    write_page(state, 9, false);
    assert_int_equal(view(state).state, LEDGER_INDETERMINATE);
}

static void test_quarantine_sticks_through_writes_and_flushes(void **state)
{
    write_page(state, 1, true);
    ledger_quarantine(ledger_of(state), DATA_UID, PAGE);
    write_page(state, 2, true);
    ledger_flushed(ledger_of(state), DATA_UID);
    fail_page(state, 3);
    ledger_flush_failed(ledger_of(state), DATA_UID);
    ledger_free(ledger_of(state), DATA_UID, PAGE, 0);
    assert_int_equal(view(state).state, LEDGER_QUARANTINED);
    assert_int_equal(view(state).acked, 2);
}

static void test_quarantine_in_flight_outlives_the_ack(void **state)
{
    begin(state, 1);
    ledger_quarantine(ledger_of(state), DATA_UID, PAGE);
    ack(state, true);
    assert_int_equal(view(state).state, LEDGER_QUARANTINED);
    assert_generations(state, 1, 1, 1);
}

static void test_adopted_page_is_owed_but_unseen(void **state)
{
    ledger_adopt(ledger_of(state), DATA_UID, PAGE, 123456789);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_generations(state, 123456789, 123456789, 123456789);
    assert_false(view(state).seen);
}

static void test_settling_makes_only_pages_in_flight_indeterminate(void **state)
{
    struct ledger *l = ledger_of(state);

    write_page(state, 1, true);
    ledger_begin(l, DATA_UID, PAGE + 1, 4);
    ledger_settle_in_flight(l);
    assert_int_equal(view(state).state, LEDGER_QUIET);
    assert_int_equal(ledger_view(l, DATA_UID, PAGE + 1).state, LEDGER_INDETERMINATE);
    assert_int_equal(ledger_view(l, DATA_UID, PAGE + 1).issued, 4);
}

static void test_same_quiet_needs_equal_epochs_and_no_write_in_flight(void **state)
{
    write_page(state, 1, true);
    struct ledger_view before = view(state);
    assert_true(ledger_same_quiet(before, view(state)));
    begin(state, 2);
    assert_false(ledger_same_quiet(before, view(state)));
    assert_false(ledger_same_quiet(view(state), view(state)));
    ack(state, true);
    assert_false(ledger_same_quiet(before, view(state)));
}

static void test_count_sorts_pages_by_state(void **state)
{
    struct ledger *l = ledger_of(state);

    for (uint32_t page = 0; page < 6; page++) {
        ledger_begin(l, DATA_UID, page, 1);
        if (page != 5)
            ledger_ack(l, DATA_UID, page, true, 0, 0);
    }
    ledger_seen(l, DATA_UID, 0, ledger_view(l, DATA_UID, 0).epoch);
    ledger_begin(l, DATA_UID, 1, 2);
    ledger_fail(l, DATA_UID, 1);
    ledger_quarantine(l, DATA_UID, 2);
    ledger_free(l, DATA_UID, 3, 0);

    struct ledger_count c = ledger_count(l, DATA_UID);
    assert_int_equal(c.written, 4); /* 0, 1, 2, 4: 3 is freed, 5 not acknowledged */
    assert_int_equal(c.seen, 1);
    assert_int_equal(c.unseen, 1); /* 4: 1 and 2 are in doubt */
    assert_int_equal(c.indeterminate, 1);
    assert_int_equal(c.quarantined, 1);
    assert_int_equal(c.freed, 1);
    assert_int_equal(c.in_flight, 1);
    assert_int_equal(c.never_written, FIXTURE_PAGES - 6);
}

/* --- against a model --- */

/* What the header promises, in plain fields; one page, any order of calls. */
struct model {
    uint64_t durable, acked, issued;
    bool in_flight, doubt, rewritten;
    bool late; /* acknowledged since the open flush began */
};

static void model_flush(struct model *m, bool ok)
{
    if (!ok) {
        if (m->in_flight || m->rewritten || m->durable != m->acked) {
            m->doubt = true;
            m->rewritten = false;
        }
        return;
    }
    if (m->late || (m->doubt && !(m->rewritten && !m->in_flight)))
        return; /* keeps its mark */
    m->durable = m->acked;
    m->doubt = m->rewritten = false;
}

static void model_end(struct model *m, bool ok, bool durable)
{
    m->in_flight = false;
    m->rewritten = false;
    if (!ok) {
        m->doubt = true;
        return;
    }
    m->acked = m->issued;
    m->late = true;
    m->rewritten = m->doubt && !durable;
    if (durable) {
        m->durable = m->acked;
        m->doubt = false;
    }
}

static void assert_model(const struct ledger_view *v, const struct model *m)
{
    assert_int_equal(v->acked, m->acked);
    assert_int_equal(v->issued, m->issued);
    assert_int_equal(v->durable, m->durable);
    assert_int_equal(v->state == LEDGER_IN_FLIGHT, m->in_flight);
    if (!m->in_flight)
        assert_int_equal(v->state == LEDGER_INDETERMINATE, m->doubt);
}

static void test_random_histories_agree_with_a_plain_model(void **state)
{
    struct ledger *l = ledger_of(state);
    uint64_t random = fixture_seed("ledger model");
    struct model m = {0};
    uint32_t flush = 0;
    bool flushing = false;

    for (unsigned long i = 0; i < test_scaled(300000); i++) {
        unsigned choice = (unsigned)(fixture_random(&random) % 8);
        if (!m.in_flight && choice < 5) {
            uint64_t step = fixture_random(&random) % 3 + 1;
            if (!ledger_span_ok(l, DATA_UID, PAGE, m.issued + step))
                continue;
            /* far steps have tests of their own */
            if (m.issued + step - m.durable > LEDGER_SPAN_MAX)
                continue;
            m.issued += step;
            m.in_flight = true;
            begin(state, m.issued);
        } else if (m.in_flight && choice < 5) {
            bool ok = choice != 0, durable = choice == 1;
            if (ok)
                ack(state, durable);
            else
                ledger_fail(l, DATA_UID, PAGE);
            model_end(&m, ok, durable);
        } else if (choice == 5 && !flushing) {
            flush = ledger_flush_begin(l, DATA_UID);
            flushing = true;
            m.late = false;
        } else if (flushing) {
            bool ok = choice == 6;
            ledger_flush_end(l, DATA_UID, flush, ok);
            model_flush(&m, ok);
            flushing = false;
        }
        struct ledger_view v = view(state);
        assert_model(&v, &m);
    }
}

/* --- concurrency --- */

#define THREADS_READ 2

struct race {
    struct ledger *ledger;
    _Atomic bool stop;
    _Atomic uint64_t completed; /* last write that the device completed: before its ack */
    _Atomic unsigned long bad, views, flushes;
};

/* The writer makes everything a function of the generation, so that one view can be checked alone:
 * two epochs a write, actor and time from the generation. */
static uint16_t race_actor(uint64_t generation)
{
    return (uint16_t)(generation * 7 % 4096);
}

static uint64_t race_time_s(uint64_t generation)
{
    return generation * 13 % 262144 * 8;
}

static bool race_view_ok(const struct ledger_view *v)
{
    if (v->durable > v->acked || v->acked > v->issued)
        return false;
    if (v->state == LEDGER_IN_FLIGHT)
        return v->epoch == (v->acked * 2 + 1) % 131072 && v->issued <= v->acked + 1;
    if (v->state == LEDGER_NEVER_WRITTEN)
        return v->acked == 0 && v->epoch == 0;
    return v->state == LEDGER_QUIET && v->issued == v->acked && v->epoch == v->acked * 2 % 131072 &&
           v->actor == race_actor(v->acked) && v->time_s == race_time_s(v->acked);
}

static void *race_read(void *argument)
{
    struct race *race = argument;
    uint64_t acked = 0, durable = 0;

    while (!atomic_load(&race->stop)) {
        struct ledger_view v = ledger_view(race->ledger, DATA_UID, PAGE);
        bool ok = race_view_ok(&v) && v.acked >= acked && v.durable >= durable;
        acked = v.acked;
        durable = v.durable;
        atomic_fetch_add(&race->bad, !ok);
        atomic_fetch_add(&race->views, 1);
        ledger_seen(race->ledger, DATA_UID, PAGE, v.epoch);
    }
    return NULL;
}

static void *race_flush(void *argument)
{
    struct race *race = argument;

    while (!atomic_load(&race->stop)) {
        uint32_t flush = ledger_flush_begin(race->ledger, DATA_UID);
        uint64_t completed = atomic_load(&race->completed); /* when the flush is submitted */
        ledger_flush_end(race->ledger, DATA_UID, flush, true);
        uint64_t durable = ledger_view(race->ledger, DATA_UID, PAGE).durable;
        bool write_through = durable % 8 == 0;
        atomic_fetch_add(&race->bad, durable > completed && !write_through);
        atomic_fetch_add(&race->flushes, 1);
    }
    return NULL;
}

static void test_views_are_consistent_under_a_writer_and_flushes(void **state)
{
    struct race race = {.ledger = ledger_of(state)};
    pthread_t readers[THREADS_READ], flusher;
    uint64_t last = test_scaled(200000);

    for (int i = 0; i < THREADS_READ; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, race_read, &race), 0);
    assert_int_equal(pthread_create(&flusher, NULL, race_flush, &race), 0);
    while (atomic_load(&race.views) == 0 || atomic_load(&race.flushes) == 0)
        sched_yield();
    for (uint64_t g = 1; g <= last; g++) {
        ledger_begin(race.ledger, DATA_UID, PAGE, g);
        atomic_store(&race.completed, g);
        ledger_ack(race.ledger, DATA_UID, PAGE, g % 8 == 0, race_actor(g), race_time_s(g));
    }
    atomic_store(&race.stop, true);
    for (int i = 0; i < THREADS_READ; i++)
        pthread_join(readers[i], NULL);
    pthread_join(flusher, NULL);
    assert_int_equal(atomic_load(&race.bad), 0);
    assert_int_equal(view(state).acked, last);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_new_page_is_never_written),
        T(test_begin_issues_and_changes_the_epoch),
        T(test_ack_acknowledges_the_issued_generation),
        T(test_write_through_ack_is_durable),
        T(test_ack_records_actor_and_coarse_time),
        T(test_time_wraps_at_18_bits_of_8_seconds),
        T(test_epoch_wraps_without_touching_generations),
        T(test_neighbours_are_not_touched),
        T(test_largest_generation_is_kept),
        T(test_seen_holds_until_the_next_ack),
        T(test_seen_of_an_old_epoch_has_no_effect),
        T(test_seen_in_flight_has_no_effect),
        T(test_view_before_begin_tells_overwritten_unread),
        T(test_failed_write_is_indeterminate_from_durable_to_issued),
        T(test_failed_write_through_rewrite_settles_at_once),
        T(test_rewrite_stays_indeterminate_until_flushed),
        T(test_second_rewrite_keeps_the_doubt),
        T(test_flush_does_not_settle_a_page_that_was_not_rewritten),
        T(test_rewrite_acked_during_a_flush_waits_for_the_next),
        T(test_flush_makes_acknowledged_durable),
        T(test_flush_of_another_file_does_not),
        T(test_ack_during_the_flush_keeps_the_old_mark),
        T(test_page_in_flight_becomes_durable_as_it_was_acknowledged),
        T(test_overlapping_flushes_claim_only_what_each_covers),
        T(test_flush_that_saw_many_others_begin_claims_nothing_wrong),
        T(test_stamps_of_many_flushes_ago_are_settled),
        T(test_failed_flush_puts_unflushed_pages_in_doubt),
        T(test_failed_flush_leaves_durable_pages_alone),
        T(test_later_good_flush_proves_nothing_after_a_failed_one),
        T(test_write_in_flight_at_a_failed_flush_needs_a_flush_of_its_own),
        T(test_failed_flush_takes_settlement_back_from_a_rewrite),
        T(test_span_limit_is_refused_until_flushed),
        T(test_widest_span_is_exact),
        T(test_first_write_may_start_far_above_zero),
        T(test_failed_far_step_allows_everything_older),
        T(test_page_in_doubt_is_never_stuck_on_the_span),
        T(test_freed_page_keeps_its_generations),
        T(test_freed_page_goes_on_above_what_was_never_written),
        T(test_freed_page_may_be_far_above_what_was_written),
        T(test_zeros_are_right_of_a_page_both_freed_and_quarantined),
        T(test_freeing_does_not_settle_doubt),
        T(test_quarantine_sticks_through_writes_and_flushes),
        T(test_quarantine_in_flight_outlives_the_ack),
        T(test_adopted_page_is_owed_but_unseen),
        T(test_settling_makes_only_pages_in_flight_indeterminate),
        T(test_same_quiet_needs_equal_epochs_and_no_write_in_flight),
        T(test_count_sorts_pages_by_state),
        T(test_random_histories_agree_with_a_plain_model),
        T(test_views_are_consistent_under_a_writer_and_flushes),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
