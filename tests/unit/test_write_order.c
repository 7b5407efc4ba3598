/* test_write_order.c - the order of writes and verifications, and what it says of a neighbour. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/neighbour.h"

#define UID   1
#define PAGES 4096

static int order_make(void **state)
{
    *state = write_order_create();
    return *state ? 0 : -1;
}

static int order_free(void **state)
{
    write_order_free(*state);
    return 0;
}

static void writes_are_numbered_from_one_over_all_files(void **state)
{
    struct write_order *order = *state;
    write_order_written(order, 1, 7);
    write_order_written(order, 2, 7);
    write_order_written(order, 1, 7);
    assert_int_equal(write_order_of(order, 1, 7).written, 3);
    assert_int_equal(write_order_of(order, 2, 7).written, 2);
    assert_int_equal(write_order_now(order), 3);
}

static void a_page_that_was_never_written_is_not_known(void **state)
{
    struct write_order *order = *state;
    write_order_written(order, 1, 7);
    assert_int_equal(write_order_of(order, 1, 8).written, 0);
    assert_int_equal(write_order_of(order, 1, 7).verified, 0);
}

static void a_verification_has_the_number_of_the_last_write_of_any_page(void **state)
{
    struct write_order *order = *state;
    write_order_written(order, 1, 7);
    write_order_written(order, 1, 8);
    write_order_verified(order, 1, 7);
    assert_int_equal(write_order_of(order, 1, 7).verified, 2);
}

/* Ten times more pages than slots: what is still known is right, and about a slot's worth.  (Of
 * 655,360 questions 0.04 would be answered with another page's number: the tag has 24 bits.) */
static void what_is_remembered_of_many_pages_is_right(void **state)
{
    struct write_order *order = *state;
    uint32_t pages = 10 * WRITE_ORDER_SLOTS, known = 0;
    for (uint32_t page = 0; page < pages; page++)
        write_order_written(order, 3, page);
    for (uint32_t page = 0; page < pages; page++) {
        uint64_t written = write_order_of(order, 3, page).written;
        if (written == 0)
            continue;
        known++;
        assert_int_equal(written, page + 1);
    }
    assert_true(known <= WRITE_ORDER_SLOTS && known > WRITE_ORDER_SLOTS / 2);
}

/* ---- the neighbour ---- */

struct world {
    char path[64];
    struct ledger *ledger;
};

static void acknowledge(struct world *w, uint32_t page_no, uint64_t generation)
{
    ledger_begin(w->ledger, UID, page_no, generation);
    ledger_ack(w->ledger, UID, page_no, true, 1, 0);
}

static void verify(struct world *w, uint32_t page_no)
{
    ledger_seen(w->ledger, UID, page_no, ledger_view(w->ledger, UID, page_no).epoch);
}

static int world_make(void **state)
{
    static struct world w;
    static const uint8_t run_id[RUN_ID_BYTES] = "neighbour test.", boot_id[16] = "boot";
    struct run_identity run = run_identity_make(run_id, 7, 0);
    struct ledger_file_spec spec = {
        .incarnation = 1, .file_id = 1, .database_id = 5, .capacity_pages = PAGES, .path = "/x"};
    snprintf(w.path, sizeof w.path, "/tmp/pagestorm-neighbour-%d", (int)getpid());
    unlink(w.path);
    *state = &w;
    return ledger_create(&w.ledger, w.path, &run, 7, 0, boot_id, &spec, 1);
}

static int world_free(void **state)
{
    struct world *w = *state;
    ledger_close(w->ledger, true);
    unlink(w->path);
    return 0;
}

static bool asked(struct world *w, uint32_t page_no, enum verdict verdict, uint32_t *neighbour)
{
    return neighbour_written(w->ledger, UID, page_no, PAGES, verdict, neighbour);
}

/* Page 100 is right, then page 103 of the same eight is written. */
static void a_write_beside_it_since_it_was_right_is_to_blame(void **state)
{
    struct world *w = *state;
    uint32_t neighbour = 0;
    acknowledge(w, 100, 1);
    verify(w, 100);
    acknowledge(w, 103, 1);
    assert_true(asked(w, 100, VERDICT_garbage, &neighbour));
    assert_int_equal(neighbour, 103);
    assert_true(asked(w, 100, VERDICT_torn_page, &neighbour));
    assert_false(asked(w, 100, VERDICT_bit_flip, &neighbour));
    assert_false(asked(w, 100, VERDICT_lost_write, &neighbour));
}

static void a_write_that_is_still_under_way_counts(void **state)
{
    struct world *w = *state;
    uint32_t neighbour = 0;
    acknowledge(w, 100, 1);
    verify(w, 100);
    ledger_begin(w->ledger, UID, 97, 1);
    assert_true(asked(w, 100, VERDICT_zeroed, &neighbour));
    assert_int_equal(neighbour, 97);
}

static void a_write_before_it_was_last_right_does_not_count(void **state)
{
    struct world *w = *state;
    uint32_t neighbour = 0;
    acknowledge(w, 100, 1);
    acknowledge(w, 103, 1);
    verify(w, 100);
    assert_false(asked(w, 100, VERDICT_garbage, &neighbour));
}

static void a_page_that_was_not_read_since_its_write_may_have_been_damaged_by_that(void **state)
{
    struct world *w = *state;
    uint32_t neighbour = 0;
    acknowledge(w, 100, 1);
    verify(w, 100);
    acknowledge(w, 100, 2);
    acknowledge(w, 103, 1);
    assert_false(asked(w, 100, VERDICT_garbage, &neighbour));
}

/* 96 .. 103 are one block of 64 KiB. */
static void the_next_block_is_no_neighbour(void **state)
{
    struct world *w = *state;
    uint32_t neighbour = 0;
    acknowledge(w, 103, 1);
    verify(w, 103);
    acknowledge(w, 104, 1);
    assert_false(asked(w, 103, VERDICT_garbage, &neighbour));
}

#define ORDER(name) cmocka_unit_test_setup_teardown(name, order_make, order_free)
#define WORLD(name) cmocka_unit_test_setup_teardown(name, world_make, world_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ORDER(writes_are_numbered_from_one_over_all_files),
        ORDER(a_page_that_was_never_written_is_not_known),
        ORDER(a_verification_has_the_number_of_the_last_write_of_any_page),
        ORDER(what_is_remembered_of_many_pages_is_right),
        WORLD(a_write_beside_it_since_it_was_right_is_to_blame),
        WORLD(a_write_that_is_still_under_way_counts),
        WORLD(a_write_before_it_was_last_right_does_not_count),
        WORLD(a_page_that_was_not_read_since_its_write_may_have_been_damaged_by_that),
        WORLD(the_next_block_is_no_neighbour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
