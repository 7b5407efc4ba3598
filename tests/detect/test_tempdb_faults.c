/*
 * test_tempdb_faults.c - faults on what goes to tempdb past the pool, through the pool, and on its
 * log are found and named; nothing else is reported.
 *
 * Each case runs one kind of user alone, so that the n-th write of a tempdb file is one of its.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/model/tempdb_run.h"

#define ALWAYS  UINT32_MAX
#define IN_LOAD 40 /* writes of a file: behind its creation */

struct tempdb_fault {
    const char *name;
    const char *user, *value; /* of TempDbUser; who works alone */
    enum verdict expected;
    uint16_t uid;
    struct fault_rule rule;
};

/* One page of the range that sorts and hashes use from the start of the file on. */
#define PAGE_OF(n) .low = (n)*8192ull, .high = ((n) + 1) * 8192ull
#define SORTS      "Sorts", "1"
#define HASHES     "Hashes", "1"
#define VERSIONS   "VersionStoreRate", "700" /* of 1,024 pages: each is used again soon */
#define HOME       PAGE_OF(40)
#define DATA       TEMPDB_FILE_FIRST
/* The extent before: of the same object, written just before and read after it.  A free page would
 * be written again before anybody looks, and the other end be gone. */
#define BESIDE (-8 * 8192)

static const struct tempdb_fault cases[] = {
    {"sort: bit flip",
     SORTS,
     VERDICT_bit_flip,
     DATA,
     {FAULT_FLIP, IO_WRITE, HOME, .nth = 2, .a = 5000, .b = 3}},
    {"sort: lost write", SORTS, VERDICT_lost_write, DATA, {FAULT_LOST, IO_WRITE, HOME, .nth = 2}},
    {"sort: torn write",
     SORTS,
     VERDICT_torn_page,
     DATA,
     {FAULT_TORN, IO_WRITE, HOME, .nth = 2, .a = 4096}},
    {"sort: zeroed",
     SORTS,
     VERDICT_zeroed,
     DATA,
     {FAULT_FILL, IO_WRITE, HOME, .nth = 2, .b = 8192}},
    {"sort: misdirected write",
     SORTS,
     VERDICT_misdirected_write,
     DATA,
     {FAULT_MISDIRECT_WRITE, IO_WRITE, HOME, .nth = 2, .a = BESIDE}},
    {"sort: stale read", SORTS, VERDICT_stale_read, DATA, {FAULT_STALE, IO_READ, HOME, .nth = 2}},
    {"sort: misdirected read",
     SORTS,
     VERDICT_misdirected_read,
     DATA,
     {FAULT_MISDIRECT_READ, IO_READ, HOME, .nth = 2, .a = 16 * 8192}},
    {"sort: bytes not read",
     SORTS,
     VERDICT_bytes_not_read,
     DATA,
     {FAULT_NOT_READ, IO_READ, HOME, .nth = 2}},
    {"hash: bit flip",
     HASHES,
     VERDICT_bit_flip,
     DATA,
     {FAULT_FLIP, IO_WRITE, HOME, .nth = 2, .a = 5000, .b = 3}},
    {"hash: lost write", HASHES, VERDICT_lost_write, DATA, {FAULT_LOST, IO_WRITE, HOME, .nth = 2}},
    {"hash: torn write",
     HASHES,
     VERDICT_torn_page,
     DATA,
     {FAULT_TORN, IO_WRITE, HOME, .nth = 2, .a = 512}},
    {"hash: misdirected write",
     HASHES,
     VERDICT_misdirected_write,
     DATA,
     {FAULT_MISDIRECT_WRITE, IO_WRITE, HOME, .nth = 2, .a = BESIDE}},
    {"version store: bit flip",
     VERSIONS,
     VERDICT_bit_flip,
     DATA,
     {FAULT_FLIP, IO_WRITE, HOME, .count = ALWAYS, .a = 5000, .b = 3}},
    {"version store: lost write",
     VERSIONS,
     VERDICT_lost_write,
     DATA,
     {FAULT_LOST, IO_WRITE, HOME, .nth = 2, .count = ALWAYS}},
    {"version store: torn write",
     VERSIONS,
     VERDICT_torn_page,
     DATA,
     {FAULT_TORN, IO_WRITE, HOME, .nth = 2, .count = ALWAYS, .a = 1024}},
    {"log: bit flip in a block",
     SORTS,
     VERDICT_log_torn,
     TEMPDB_LOG,
     {FAULT_FLIP, IO_WRITE, .low = 0x4000, .high = UINT64_MAX, .nth = IN_LOAD, .count = ALWAYS,
      .a = 700, .b = 1}},
    {"log: blocks not written",
     SORTS,
     VERDICT_log_lost,
     TEMPDB_LOG,
     {FAULT_LOST, IO_WRITE, .low = 0x4000, .high = UINT64_MAX, .nth = IN_LOAD, .count = ALWAYS}},
};

static void begin(struct sim *sim, const struct tempdb_fault *f)
{
    static const char *const keys[] = {"Sorts", "Hashes", "VersionStoreRate", "WorktableRate"};
    struct sim_options options = tempdb_options(1);
    options.with_faults = true;
    options.duration_ns = (strcmp(f->user, "VersionStoreRate") == 0 ? 4 : 2) * NS_PER_S;
    unsigned n = 0;
    for (unsigned i = 0; options.settings[i].section; i++) {
        struct sim_setting s = options.settings[i];
        for (unsigned k = 0; k < 4; k++)
            if (strcmp(s.key, keys[k]) == 0)
                s.value = strcmp(s.key, f->user) == 0 ? f->value : "0";
        if (strcmp(s.key, "UserCount") == 0)
            s.value = "0";
        options.settings[n++] = s;
    }
    sim_begin(sim, &options);
    struct fault_rule rule = f->rule;
    rule.file_uid = f->uid;
    fault_add(sim->faults, &rule);
}

/* Found and named, in a file of tempdb; every other finding is the same fault, met again. */
static void check(struct sim *sim, const struct tempdb_fault *f)
{
    const struct findings *findings = &sim->run->findings;
    bool found = false, other = false;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (finding->amended) /* one end of a misdirection, told with the other */
            continue;
        bool here = finding->file_uid >= TEMPDB_FILE_FIRST;
        found = found || (here && finding->verdict == f->expected);
        other = other || !here || finding->verdict != f->expected;
    }
    if (!found || other || sim->faults->truth_count == 0) {
        print_error("%s: %u faults applied, %u findings\n", f->name, sim->faults->truth_count,
                    findings->count);
        sim_print_findings(sim);
    }
    assert_true(sim->faults->truth_count > 0);
    assert_true(found);
    assert_false(other);
}

static void every_fault_is_found_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim sim;
        print_message("  %s\n", cases[i].name);
        begin(&sim, &cases[i]);
        sim_run(&sim);
        check(&sim, &cases[i]);
        sim_end(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
