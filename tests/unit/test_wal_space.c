/* test_wal_space.c - the log space that a plan counts on is what the log really has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "patterns/rng.h"
#include "sim/wal.h"
#include "sim/wal_space.h"
#include "tests/scale.h"

/* 8 MiB: 4 VLFs; 8,380,416 bytes after page 0, / 4 = 2,095,104, down to 64 KiB = 2,031,616; the
 * last takes the rest, 8,380,416 - 3 * 2,031,616 = 2,285,568.  Each loses 8,192 + 61,440.  The
 * largest may be the head: 3 * (2,031,616 - 69,632) = 5,885,952 are certain; half of that less 128
 * KiB. */
static void an_8_mib_log_gives_2_877_440_bytes_to_a_transaction(void **state)
{
    (void)state;
    assert_int_equal(wal_log_transaction_max(8u << 20), (5885952 - 131072) / 2);
}

static void a_log_too_small_for_two_vlfs_gives_nothing(void **state)
{
    (void)state;
    assert_int_equal(wal_log_transaction_max(LOG_FILE_BYTES_MIN - 1), 0);
}

/* Two VLFs of 248 KiB: one is certain, 253,952 - 69,632 = 184,320; (184,320 - 131,072) / 2. */
static void the_smallest_log_gives_26_624_bytes(void **state)
{
    (void)state;
    assert_int_equal(wal_log_transaction_max(LOG_FILE_BYTES_MIN), 26624);
}

/* The log itself, over a file of that size, on a worker that never runs. */
static void check_against_a_log(uint64_t file_bytes)
{
    enum phase phase = PHASE_create;
    struct clock clock;
    clock_init_real(&clock);
    struct io_engine_config config = {.clock = &clock, .depth = 1};
    struct worker *worker = calloc(1, sizeof *worker);
    struct wal *wal = calloc(1, sizeof *wal);
    assert_non_null(worker);
    assert_non_null(wal);
    assert_int_equal(worker_init(worker, 0, &engine_sync, &config, &phase), 0);
    struct file file = {.target = {.fd = -1}, .mark = {.sector_bytes = 512, .file_uid = 1}};
    atomic_init(&file.target.size_bytes, file_bytes);
    struct run_identity run = run_identity_make((const uint8_t[RUN_ID_BYTES]){1}, 1, 0);
    assert_int_equal(wal_init(wal, &clock, NULL, &file, 1, &run, worker), 0);
    assert_int_equal(wal_log_transaction_max(file_bytes), wal_transaction_max(wal));
    wal_free(wal);
    worker_free(worker);
    free(wal);
    free(worker);
}

/* Sizes of every layout: 2, 4, 8 and 16 VLFs. */
static void the_plan_and_the_log_agree(void **state)
{
    static const uint64_t mib[] = {1, 2, 8, 50, 64, 65, 512, 1024, 1025, 4096};
    (void)state;
    check_against_a_log(LOG_FILE_BYTES_MIN);
    for (size_t i = 0; i < sizeof mib / sizeof mib[0]; i++)
        check_against_a_log(mib[i] << 20);
}

/* What a transaction really reserves (two marks of 16 bytes, a 32-byte head at least in each
 * change), however the payload is spread. */
static void the_need_bounds_every_way_to_spread_the_payload(void **state)
{
    static const size_t sectors[] = {512, 4096};
    uint64_t seed;
    struct rng rng;
    (void)state;
    assert_int_equal(getrandom(&seed, sizeof seed, 0), sizeof seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    rng_seed(&rng, seed);
    for (unsigned long round = 0; round < test_scaled(200); round++) {
        size_t sector = sectors[rng_below(&rng, 2)];
        uint64_t changes = 1 + rng_below(&rng, 120), payload = 0;
        uint64_t cost = 2 * log_record_cost(16, sector);
        for (uint64_t i = 0; i < changes; i++) {
            uint64_t bytes = rng_below(&rng, LOG_RECORD_BYTES_MAX - 32);
            payload += bytes;
            cost += log_record_cost((size_t)bytes + 32, sector);
        }
        if (wal_transaction_need(payload, changes + 2, sector) < cost)
            fail_msg("round %lu: the bound is below %llu", round, (unsigned long long)cost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_8_mib_log_gives_2_877_440_bytes_to_a_transaction),
        cmocka_unit_test(a_log_too_small_for_two_vlfs_gives_nothing),
        cmocka_unit_test(the_smallest_log_gives_26_624_bytes),
        cmocka_unit_test(the_plan_and_the_log_agree),
        cmocka_unit_test(the_need_bounds_every_way_to_spread_the_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
