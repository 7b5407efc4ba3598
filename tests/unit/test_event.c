/* test_event.c - what a run tells: names, numbers, findings as events, thread and time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/finding_event.h"
#include "tests/sim_fixture.h"

static void the_user_is_named_as_sqliosim_does(void **state)
{
    /* reference: "CPU Idle User", "Display Monitor", "System" */
    static const char *const names[][2] = {
        {"RandomUser 3", "Random User"},
        {"CPU Idle User", "CPU Idle User"},
        {"log audit", "Log Audit"},
        {"Checkpoint", "Checkpoint"},
        {"LogWriter", "Log Writer"},
        {"", "System"},
        {"12", "12"},
    };
    char out[EVENT_USER_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        event_user_name(names[i][0], out);
        assert_string_equal(out, names[i][1]);
    }
}

static void a_long_name_is_cut(void **state)
{
    char name[3 * EVENT_USER_MAX], out[EVENT_USER_MAX];
    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    event_user_name(name, out);
    assert_true(strlen(out) < EVENT_USER_MAX);
}

static void an_errno_has_windows_number(void **state)
{
    (void)state;
    /* HRESULT_FROM_WIN32(x) = 0x80070000 | x: ERROR_DISK_FULL is 112 = 0x70, ERROR_IO_DEVICE is
     * 1117 = 0x45d */
    assert_int_equal(event_hresult_of_errno(ENOSPC), 0x80070070);
    assert_int_equal(event_hresult_of_errno(EIO), 0x8007045d);
    assert_int_equal(event_hresult_of_errno(ELOOP), 0x80004005);
}

static struct finding damaged_page(void)
{
    struct finding finding = {.verdict = VERDICT_bit_flip,
                              .file = "/data/x.mdx",
                              .has_page = true,
                              .page_no = 4711,
                              .offset = 4711 * 8192ull,
                              .actor = "AuditUser 1"};
    finding.why.damaged_bits = 1;
    finding.why.first_bad_offset = 8;
    return finding;
}

static void a_wrong_page_is_told_in_sqliosims_words(void **state)
{
    struct finding finding = damaged_page();
    struct finding_event told;
    (void)state;
    finding_event_make(&finding, &told);
    static const char begin[] = "Buffer validation failed on /data/x.mdx Page: 4711, offset 0x8\n";
    assert_memory_equal(told.text, begin, strlen(begin));
    assert_int_equal(told.event.type, EVENT_ERROR);
    assert_string_equal(told.event.user, "Audit User");
    assert_int_equal(told.event.hresult, 0x80070467);
    assert_string_equal(told.event.system_text, "Input/output error");
    assert_non_null(strstr(told.text, verdict_info(VERDICT_bit_flip)->sentence));
}

static void a_wrong_page_whose_first_byte_is_unknown_has_no_offset(void **state)
{
    struct finding finding = damaged_page();
    struct finding_event told;
    (void)state;
    finding.verdict = VERDICT_lost_write;
    finding.why.damaged_bits = 0;
    finding_event_make(&finding, &told);
    static const char begin[] = "Buffer validation failed on /data/x.mdx Page: 4711\n";
    assert_memory_equal(told.text, begin, strlen(begin));
}

static void a_healed_read_is_an_error_but_no_validation_failure(void **state)
{
    struct finding finding = damaged_page();
    struct finding_event told;
    (void)state;
    finding.verdict = VERDICT_transient_damage;
    finding.healed = true;
    finding_event_make(&finding, &told);
    assert_int_equal(told.event.type, EVENT_ERROR);
    assert_null(strstr(told.text, "Buffer validation failed"));
    assert_int_equal(told.event.hresult, HRESULT_OK);
}

static void what_the_system_said_is_beside_it(void **state)
{
    struct finding finding = {.verdict = VERDICT_no_space, .file = "/x", .error = ENOSPC};
    struct finding_event told;
    (void)state;
    finding_event_make(&finding, &told);
    assert_int_equal(told.event.type, EVENT_ERROR);
    assert_int_equal(told.event.hresult, 0x80070070);
    assert_string_equal(told.event.system_text, "No space left on device");
}

static void a_warning_is_no_error(void **state)
{
    struct finding finding = {.verdict = VERDICT_stalled_io, .file = "/x"};
    struct finding_event told;
    (void)state;
    finding_event_make(&finding, &told);
    assert_int_equal(told.event.type, EVENT_WARNING);
}

/* ---- in a run ---- */

struct heard {
    unsigned count, errors;
    unsigned thread;
    uint64_t realtime_ns;
    char user[EVENT_USER_MAX], file[64];
};

static void on_event(void *context, const struct event *event)
{
    struct heard *heard = context;
    heard->count++;
    if (event->type != EVENT_ERROR || heard->errors++)
        return;
    heard->thread = event->thread;
    heard->realtime_ns = event->realtime_ns;
    snprintf(heard->user, sizeof heard->user, "%s", event->user);
    snprintf(heard->file, sizeof heard->file, "%s", event->place.file);
}

static void a_finding_of_a_run_is_told_with_worker_and_time(void **state)
{
    struct heard heard = {0};
    struct sim_options options = {.with_faults = true,
                                  .event = on_event,
                                  .context = &heard,
                                  /* nobody overwrites the page unread */
                                  .settings = {{"BulkUpdateUser", "UserCount", "0"}}};
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_FLIP,
                                               .op = IO_WRITE,
                                               .file_uid = 1,
                                               .low = 40 * PAGE_BYTES,
                                               .high = 41 * PAGE_BYTES,
                                               .a = 5000,
                                               .b = 1});
    sim_run(&sim);
    assert_int_equal(heard.errors, 1);
    assert_in_range(heard.thread, 1, 2); /* two workers */
    assert_int_equal(sim.run->findings.count, 1);
    assert_true(heard.realtime_ns >= sim.run->findings.list[0].found_ns);
    assert_true(heard.realtime_ns > CLOCK_VIRTUAL_EPOCH_NS);
    assert_string_equal(heard.file, sim.run->findings.list[0].place.file);
    assert_string_equal(heard.file, "page_fault.c");
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_user_is_named_as_sqliosim_does),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(an_errno_has_windows_number),
        cmocka_unit_test(a_wrong_page_is_told_in_sqliosims_words),
        cmocka_unit_test(a_wrong_page_whose_first_byte_is_unknown_has_no_offset),
        cmocka_unit_test(a_healed_read_is_an_error_but_no_validation_failure),
        cmocka_unit_test(what_the_system_said_is_beside_it),
        cmocka_unit_test(a_warning_is_no_error),
        cmocka_unit_test(a_finding_of_a_run_is_told_with_worker_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
