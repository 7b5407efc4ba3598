/* test_stats.c - streams, phases and counters of a worker. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/stats.h"

static struct stats *new_stats(void)
{
    struct stats *stats = calloc(1, sizeof(*stats));
    assert_non_null(stats);
    return stats;
}

static void every_stream_has_a_name_of_its_own_and_a_text(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        assert_true(strlen(stream_text((enum stream)i)) > 0);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(stream_name((enum stream)i), stream_name((enum stream)j));
    }
    assert_string_equal(stream_name(STREAM_page_read), "page_read");
    assert_string_equal(stream_name(STREAM_log_write), "log_write");
}

static void every_phase_has_a_name_of_its_own_and_a_text(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PHASE_COUNT; i++) {
        assert_true(strlen(phase_text((enum phase)i)) > 0);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(phase_name((enum phase)i), phase_name((enum phase)j));
    }
    assert_string_equal(phase_name(PHASE_stress), "stress");
}

static void an_operation_counts_in_its_phase_and_stream_only(void **state)
{
    (void)state;
    struct stats *stats = new_stats();
    stats_add(stats, PHASE_stress, STREAM_log_write, 60 * 1024, 1000, 3000);
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            unsigned expected = p == PHASE_stress && s == STREAM_log_write ? 1 : 0;
            assert_int_equal(stats->streams[p][s].ops, expected);
            assert_int_equal(stats->streams[p][s].latency.count, expected);
            assert_int_equal(stats->streams[p][s].response.count, expected);
        }
    }
    free(stats);
}

static void latency_and_response_are_kept_apart(void **state)
{
    (void)state;
    struct stats *stats = new_stats();
    stats_add(stats, PHASE_audit, STREAM_audit_read, 8192, 1000, 3000);
    const struct stream_stats *s = &stats->streams[PHASE_audit][STREAM_audit_read];
    assert_int_equal(s->bytes, 8192);
    assert_int_equal(s->latency.max_ns, 1000);
    assert_int_equal(s->response.max_ns, 3000);
    free(stats);
}

static void a_merge_sums_streams(void **state)
{
    (void)state;
    struct stats *a = new_stats();
    struct stats *b = new_stats();
    stats_add(a, PHASE_stress, STREAM_page_read, 8192, 10, 20);
    stats_add(b, PHASE_stress, STREAM_page_read, 16384, 30, 40);
    stats_merge(a, b);
    const struct stream_stats *s = &a->streams[PHASE_stress][STREAM_page_read];
    assert_int_equal(s->ops, 2);
    assert_int_equal(s->bytes, 8192 + 16384);
    assert_int_equal(s->latency.sum_ns, 10 + 30);
    assert_int_equal(s->response.max_ns, 40);
    free(a);
    free(b);
}

static void a_merge_sums_every_counter(void **state)
{
    (void)state;
    struct stats *a = new_stats();
    struct stats *b = new_stats();
    uint64_t next = 1;
#define COUNTER(name, text)                                                                        \
    a->counters.name = 1000 * next;                                                                \
    b->counters.name = next++;
#include "sim/counters.def"
#undef COUNTER
    stats_merge(a, b);
    next = 1;
#define COUNTER(name, text) assert_int_equal(a->counters.name, 1001 * next++);
#include "sim/counters.def"
#undef COUNTER
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_has_a_name_of_its_own_and_a_text),
        cmocka_unit_test(every_phase_has_a_name_of_its_own_and_a_text),
        cmocka_unit_test(an_operation_counts_in_its_phase_and_stream_only),
        cmocka_unit_test(latency_and_response_are_kept_apart),
        cmocka_unit_test(a_merge_sums_streams),
        cmocka_unit_test(a_merge_sums_every_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
