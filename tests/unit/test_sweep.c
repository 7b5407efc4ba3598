/* test_sweep.c - the schedule of sweep.h.  A caller whose reads take no time, and one that is late.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "patterns/sweep.h"

#define MS         1000000ull
#define PAGES      100000
#define SLICE      8192
#define PERIOD_MS  5000
#define PAGES_A_MS (PAGES / PERIOD_MS)

static const struct pattern_file files[] = {{.size_pages = 60000}, {.size_pages = 40000}};

static struct op take(struct sweep *sweep, const struct pattern_view *view)
{
    struct op op = {.kind = OP_AUDIT};

    assert_true(sweep_take(sweep, view, PERIOD_MS * MS, SLICE, &op));
    return op;
}

/* A slice begins when it is due, 20 pages a millisecond (time cut to milliseconds); four periods go
 * over all pages four times. */
static void it_comes_round_once_in_a_period(void **state)
{
    struct pattern_view view = {.now_ns = 1000 * MS, .files = files, .file_count = 2};
    const uint64_t start_ns = view.now_ns;
    struct sweep sweep;
    uint64_t pages = 0;

    (void)state;
    sweep_init(&sweep, 45, 1, 0);
    while (view.now_ns < start_ns + 4 * PERIOD_MS * MS) {
        const struct op op = take(&sweep, &view);

        if (op.kind == OP_THINK) {
            view.now_ns += (uint64_t)op.think_ns;
            continue;
        }
        assert_true(op.page_count > 0 && op.page_count <= SLICE);
        assert_true(op.first_page + op.page_count <= files[op.file].size_pages);
        assert_true(pages <= ((view.now_ns - start_ns) / MS + 1) * PAGES_A_MS);
        pages += op.page_count;
    }
    assert_int_equal(pages, 4 * PAGES);
}

/* Late by a minute: no burst of the twelve rounds missed; the rest of the late round, and the first
 * slice of the next one. */
static void a_lag_is_not_made_up_for(void **state)
{
    struct pattern_view view = {.now_ns = 1000 * MS, .files = files, .file_count = 2};
    struct sweep sweep;
    uint64_t pages;

    (void)state;
    sweep_init(&sweep, 46, 1, 0);
    pages = take(&sweep, &view).page_count;
    view.now_ns += 60000 * MS;
    for (struct op op = take(&sweep, &view); op.kind == OP_AUDIT; op = take(&sweep, &view))
        pages += op.page_count;
    assert_in_range(pages, PAGES + 1, PAGES + SLICE);
}

static void without_pages_there_is_nothing_to_take(void **state)
{
    const struct pattern_view view = {.now_ns = MS};
    struct sweep sweep;
    struct op op = {.kind = OP_AUDIT};

    (void)state;
    sweep_init(&sweep, 47, 1, 0);
    assert_false(sweep_take(&sweep, &view, PERIOD_MS * MS, SLICE, &op));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_round_once_in_a_period),
        cmocka_unit_test(a_lag_is_not_made_up_for),
        cmocka_unit_test(without_pages_there_is_nothing_to_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
