/* test_engine_memory.c - which memory is registered: pieces of 1 GiB, in order, within a budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/engine_memory.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)

/* Addresses only: nothing is touched. */
static struct iovec region(uintptr_t at, uint64_t size_bytes)
{
    return (struct iovec){(void *)at, size_bytes}; /* NOLINT */
}

static void a_region_becomes_pieces_of_at_most_1_gib(void **state)
{
    (void)state;
    struct iovec pieces[ENGINE_PIECES_MAX];
    struct iovec memory = region(GIB, 2 * GIB + 3 * MIB);
    assert_int_equal(engine_memory_cut(pieces, &memory, 1, UINT64_MAX), 3);
    assert_int_equal(pieces[0].iov_len, GIB);
    assert_int_equal(pieces[1].iov_len, GIB);
    assert_int_equal(pieces[2].iov_len, 3 * MIB);
    assert_int_equal((uintptr_t)pieces[1].iov_base, 2 * GIB);
    assert_int_equal((uintptr_t)pieces[2].iov_base, 3 * GIB);
}

static void a_budget_cuts_the_end_off_at_an_extent(void **state)
{
    (void)state;
    struct iovec pieces[ENGINE_PIECES_MAX];
    struct iovec memory[] = {region(GIB, MIB), region(4 * GIB, GIB)};
    /* 1 MiB for the first; 100,000 bytes are left: one extent of 65,536 */
    assert_int_equal(engine_memory_cut(pieces, memory, 2, MIB + 100000), 2);
    assert_int_equal(pieces[0].iov_len, MIB);
    assert_int_equal(pieces[1].iov_len, 65536);
}

static void a_budget_below_an_extent_registers_nothing(void **state)
{
    (void)state;
    struct iovec pieces[ENGINE_PIECES_MAX];
    struct iovec memory = region(GIB, GIB);
    assert_int_equal(engine_memory_cut(pieces, &memory, 1, 65535), 0);
    assert_int_equal(engine_memory_cut(pieces, &memory, 0, UINT64_MAX), 0);
}

static void more_memory_than_pieces_is_left_out(void **state)
{
    (void)state;
    struct iovec pieces[ENGINE_PIECES_MAX];
    struct iovec memory = region(GIB, (ENGINE_PIECES_MAX + 5) * GIB);
    assert_int_equal(engine_memory_cut(pieces, &memory, 1, UINT64_MAX), ENGINE_PIECES_MAX);
}

static void a_refused_registration_is_halved_down_to_nothing(void **state)
{
    (void)state;
    struct iovec pieces[4] = {region(GIB, MIB), region(2 * GIB, MIB), region(3 * GIB, MIB),
                              region(4 * GIB, MIB)};
    unsigned count = engine_memory_halve(pieces, 4);
    assert_int_equal(count, 2);
    count = engine_memory_halve(pieces, count);
    assert_int_equal(count, 1);
    assert_int_equal(pieces[0].iov_len, MIB);
    count = engine_memory_halve(pieces, count);
    assert_int_equal(count, 1);
    assert_int_equal(pieces[0].iov_len, MIB / 2);
    for (unsigned i = 0; i < 3; i++) /* 512, 256, 128, 64 KiB */
        count = engine_memory_halve(pieces, count);
    assert_int_equal(pieces[0].iov_len, 65536);
    assert_int_equal(engine_memory_halve(pieces, count), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_becomes_pieces_of_at_most_1_gib),
        cmocka_unit_test(a_budget_cuts_the_end_off_at_an_extent),
        cmocka_unit_test(a_budget_below_an_extent_registers_nothing),
        cmocka_unit_test(more_memory_than_pieces_is_left_out),
        cmocka_unit_test(a_refused_registration_is_halved_down_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
