/*
 * test_command_verify.c - `pagestorm verify` on real SQL Server files, on a small run's own files,
 * and on damaged copies of both; against mdfcheck.py where that is at hand.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "patterns/pattern.h"
#include "sim/boot_id.h"
#include "sim/command_verify.h"
#include "sim/engine_mem.h"
#include "sim/run.h"

#define MDF_FOLDER SOURCE_DIR "/../shared/data/mdf/"
#define MDFCHECK   SOURCE_DIR "/../shared/tools/mdfcheck.py"
#define SEED       11
#define SEED_TEXT  "11"

/* A run that ended in order, made once; tests put back what they change. */
struct world {
    char dir[64], out[80], data[96], log[96], ledger[96], json[96], copy[96];
};

/* ---- small tools ---- */

static int system_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int system_of(const char *format, ...)
{
    char command[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    int status = system(command);
    return status < 0 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

static bool mdfcheck_there(void)
{
    if (access(MDFCHECK, R_OK) == 0 && system_of("python3 -c pass 2>/dev/null") == 0)
        return true;
    print_message("SKIP: python3 or ../shared/tools/mdfcheck.py is not here\n");
    return false;
}

static bool real_files_there(void)
{
    if (access(MDF_FOLDER, R_OK) == 0)
        return true;
    print_message("SKIP: the real files of ../shared/data/mdf are not here\n");
    return false;
}

/* mdfcheck's counts of one file; NULL with exit status in *status when it printed none. */
static json_t *mdfcheck(const char *path, int *status, const char *json_path)
{
    *status = system_of("python3 " MDFCHECK " --json '%s' > '%s' 2>/dev/null", path, json_path);
    char line[1 << 16];
    FILE *file = fopen(json_path, "re");
    assert_non_null(file);
    bool got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    json_t *all = got ? json_loads(line, 0, NULL) : NULL;
    json_t *counts = all ? json_incref(json_object_get(all, "counts")) : NULL;
    json_decref(all);
    return counts;
}

/* The exit code; the report is in w->json. */
static int verify(const struct world *w, const char *path)
{
    char name[] = "verify", option[] = "--json", json[96], argument[512];
    snprintf(json, sizeof json, "%s", w->json);
    snprintf(argument, sizeof argument, "%s", path);
    char *argv[] = {name, argument, option, json, NULL};
    unlink(w->json);
    return command_verify(4, argv);
}

static json_t *report_of(const struct world *w)
{
    json_t *report = json_load_file(w->json, 0, NULL);
    assert_non_null(report);
    return report;
}

static json_int_t count_of(const json_t *report, size_t file, const char *name)
{
    json_t *set = json_array_get(json_object_get(report, "sets"), 0);
    json_t *files = json_object_get(set, "files");
    json_t *value = json_object_get(json_object_get(json_array_get(files, file), "counts"), name);
    assert_non_null(value);
    return json_integer_value(value);
}

/* The one finding there must be, by class and page (-1: none). */
static void assert_one_finding(const struct world *w, const char *class, long page)
{
    json_t *report = report_of(w);
    json_t *findings = json_object_get(report, "findings");
    json_t *only = json_array_get(findings, 0);
    if (json_array_size(findings) != 1 ||
        strcmp(json_string_value(json_object_get(only, "class")), class) != 0)
        json_dumpf(findings, stdout, JSON_INDENT(2));
    assert_int_equal(json_array_size(findings), 1);
    assert_string_equal(json_string_value(json_object_get(only, "class")), class);
    json_t *at = json_object_get(only, "page");
    assert_int_equal(at ? (long)json_integer_value(at) : -1, page);
    json_decref(report);
}

static uint8_t byte_at(const char *path, uint64_t offset)
{
    uint8_t byte = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
    return byte;
}

static void flip_byte(const char *path, uint64_t offset)
{
    uint8_t byte = byte_at(path, offset) ^ 0x21;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

static void page_get(const char *path, uint32_t page_no, uint8_t page[PAGE_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, page, PAGE_BYTES, (off_t)page_no * PAGE_BYTES), PAGE_BYTES);
    close(fd);
}

static void page_put(const char *path, uint32_t page_no, const uint8_t page[PAGE_BYTES])
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, page, PAGE_BYTES, (off_t)page_no * PAGE_BYTES), PAGE_BYTES);
    close(fd);
}

/* ---- the run ---- */

static struct profile *profile_of(const struct world *w)
{
    static const char *const settings[][3] = {
        {"CONFIG", "StopOnError", "FALSE"},       {"CONFIG", "CPUCount", "1"},
        {"CONFIG", "MaxMemoryMB", "16"},          {"CONFIG", "Reserve", "1"},
        {"CONFIG", "TestCycleDuration", "1"},     {"CONFIG", "Seed", SEED_TEXT},
        {"RandomUser", "UserCount", "2"},         {"RandomUser", "MaxIOChainLength", "8"},
        {"RandomUser", "MaxLogPerBuffer", "512"}, {"AuditUser", "UserCount", "0"},
    };
    const struct opt_section *sections[64];
    struct opt_where where = {.source = "test"};
    struct profile *profile = profile_create(sections, pattern_sections(sections, 64));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(
            profile_set(profile, settings[i][0], settings[i][1], settings[i][2], where), 0);
    assert_int_equal(profile_add_file(profile, w->data, false, 4 << 20, 4 << 20, 1, where), 0);
    assert_int_equal(profile_add_file(profile, w->log, true, 16 << 20, 16 << 20, 1, where), 0);
    assert_int_equal(profile_finish(profile), 0);
    return profile;
}

static void overwrite_log_page_0(const struct world *w)
{
    static _Alignas(16) uint8_t wrong[PAGE_BYTES];
    memset(wrong, 0xa5, sizeof wrong);
    page_put(w->log, 0, wrong);
}

/* damage: what happens to the files before the load begins, or NULL. */
static void run_with(const struct world *w, void (*damage)(const struct world *w),
                     enum verdict expected)
{
    char message[PLAN_MESSAGE_MAX];
    int exit_code = 0;
    struct clock clock;
    struct mem_device *device;
    struct mem_device_config model = {.seed = SEED};
    struct plan plan = {0};
    struct profile *profile = profile_of(w);
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    assert_int_equal(plan_make(&plan, profile, message, &exit_code), 0);
    clock_init_virtual(&clock);
    assert_int_equal(mem_device_create(&device, &clock, &model), 0);
    struct run_config config = {.profile = profile,
                                .plan = &plan,
                                .out_dir = w->out,
                                .engine = &engine_mem,
                                .engine_device = device,
                                .virtual_clock = true,
                                .clock = &clock};
    assert_int_equal(run_create(run, &config), 0);
    if (damage)
        damage(w);
    assert_int_equal(run_execute(run), 0);
    assert_int_equal(run->findings.count, expected != VERDICT_NONE);
    if (expected != VERDICT_NONE)
        assert_int_equal(run->findings.list[0].verdict, expected);
    run_destroy(run);
    free(run);
    mem_device_free(device);
    plan_free(&plan);
    profile_free(profile);
}

static struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    snprintf(w->dir, sizeof w->dir, "/tmp/pagestorm-verify-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->out, sizeof w->out, "%s/out", w->dir);
    snprintf(w->data, sizeof w->data, "%s/v.mdx", w->dir);
    snprintf(w->log, sizeof w->log, "%s/v.ldx", w->dir);
    snprintf(w->ledger, sizeof w->ledger, "%s/ledger", w->out);
    snprintf(w->json, sizeof w->json, "%s/report.json", w->dir);
    snprintf(w->copy, sizeof w->copy, "%s/copy", w->dir);
    assert_int_equal(mkdir(w->out, 0700), 0);
    return w;
}

static int world_make(void **state)
{
    struct world *w = world_new();
    run_with(w, NULL, VERDICT_NONE);
    *state = w;
    return 0;
}

static int world_free(void **state)
{
    struct world *w = *state;
    assert_int_equal(system_of("rm -r '%s'", w->dir), 0);
    free(w);
    return 0;
}

/* ---- real files ---- */

/* Ours and mdfcheck's names of the same count. */
static const char *const same_counts[][2] = {
    {"allocated_zero", "alloc_zero"},
    {"unallocated_zero", "unalloc_zero"},
    {"unallocated_garbage", "unalloc_garbage"},
    {"allocated_checksum_ok", "alloc_cksum_ok"},
    {"allocated_checksum_bad", "alloc_cksum_BAD"},
    {"unallocated_checksum_ok", "unalloc_cksum_ok"},
    {"unallocated_checksum_bad", "unalloc_cksum_BAD"},
    {"allocated_torn_ok", "alloc_torn_ok"},
    {"allocated_torn_bad", "alloc_torn_BAD"},
    {"unallocated_torn_ok", "unalloc_torn_ok"},
    {"unallocated_torn_bad", "unalloc_torn_BAD"},
    {"allocated_unprotected", "alloc_unprotected"},
    {"unallocated_unprotected", "unalloc_unprotected"},
    {"slot_arrays_ok", "alloc_slots_ok"},
    {"slot_arrays_bad", "alloc_slots_BAD"},
    {"gam_pfs_ok", "gam_pfs_ok"},
    {"gam_pfs_bad", "gam_pfs_BAD"},
    {"vlfs", "vlf"},
    {"log_blocks", "blocks"},
    {"log_sectors", "sectors"},
    {"log_records", "records"},
};

static void assert_same_counts(const struct world *w, const char *path)
{
    char json_path[128];
    int status;
    snprintf(json_path, sizeof json_path, "%s/mdfcheck.json", w->dir);
    json_t *theirs = mdfcheck(path, &status, json_path);
    assert_non_null(theirs);
    assert_int_equal(status, 0);
    json_t *ours = report_of(w);
    for (size_t i = 0; i < sizeof same_counts / sizeof *same_counts; i++) {
        json_int_t their = json_integer_value(json_object_get(theirs, same_counts[i][1]));
        if (their != count_of(ours, 0, same_counts[i][0]))
            print_message("%s: %s\n", path, same_counts[i][0]);
        assert_int_equal(count_of(ours, 0, same_counts[i][0]), their);
    }
    json_int_t checksums = json_integer_value(json_object_get(theirs, "cksum_1sector_ok")) +
                           json_integer_value(json_object_get(theirs, "cksum_multi_ok"));
    assert_int_equal(count_of(ours, 0, "log_blocks_with_checksum"), checksums);
    json_decref(theirs);
    json_decref(ours);
}

static void real_files_are_right_and_counted_as_mdfcheck_counts_them(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"northwnd_2008_checksum.mdf",
                                        "northwnd_2008_checksum_log.ldf", "pubs_2005_torn.mdf",
                                        "pubs_2005_torn_log.ldf"};
    if (!real_files_there() || !mdfcheck_there())
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", MDF_FOLDER, names[i]);
        assert_int_equal(verify(w, path), 0);
        assert_same_counts(w, path);
    }
}

struct damage {
    const char *what, *name;
    uint64_t offset;
};

/* Damaged copy of a real file: 1 from us and from mdfcheck. */
static void assert_both_fail(const struct world *w, const struct damage *damage)
{
    char copy[128], json_path[128];
    int status;
    snprintf(copy, sizeof copy, "%s/%s", w->dir, damage->name);
    snprintf(json_path, sizeof json_path, "%s/mdfcheck.json", w->dir);
    assert_int_equal(
        system_of("cp '%s%s' '%s' && chmod u+w '%s'", MDF_FOLDER, damage->name, copy, copy), 0);
    flip_byte(copy, damage->offset);
    print_message("%s of %s\n", damage->what, damage->name);
    assert_int_equal(verify(w, copy), 1);
    json_decref(mdfcheck(copy, &status, json_path));
    assert_int_equal(status, 1);
    unlink(copy);
}

/* Offsets from the reference: page n at n * 8192; PFS bytes from 0x64, GAM bitmap from 0xC2; the
 * first VLF header at 0x2000, its first block at 0x4000, whose offset array ends at used_bytes
 * (+4). */
static void one_damaged_byte_of_a_real_file_fails_here_and_in_mdfcheck(void **state)
{
    struct world *w = *state;
    if (!real_files_there() || !mdfcheck_there())
        skip();
    char log[512];
    snprintf(log, sizeof log, "%snorthwnd_2008_checksum_log.ldf", MDF_FOLDER);
    uint16_t used = (uint16_t)(byte_at(log, 0x4004) | byte_at(log, 0x4005) << 8);
    const struct damage damages[] = {
        {"a data page", "northwnd_2008_checksum.mdf", 100 * 8192 + 3000},
        {"the PFS page", "northwnd_2008_checksum.mdf", 1 * 8192 + 0x64 + 60},
        {"the GAM page", "northwnd_2008_checksum.mdf", 2 * 8192 + 0xC2 + 4},
        {"torn-page bits", "pubs_2005_torn.mdf", 50 * 8192 + 7 * 512 + 511},
        {"a VLF header", "northwnd_2008_checksum_log.ldf", 0x2000},
        {"a log block", "northwnd_2008_checksum_log.ldf", 0x4000 + 0x60},
        {"a record array", "northwnd_2008_checksum_log.ldf", 0x4000 + used - 1u},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        assert_both_fail(w, &damages[i]);
}

/* ---- a run's own files ---- */

static void a_clean_run_is_right_by_its_ledger(void **state)
{
    struct world *w = *state;
    assert_int_equal(verify(w, w->out), 0);
    json_t *report = report_of(w);
    /* 4 MiB are 512 pages: the reserved 4 and 5 are never written, all others are */
    assert_int_equal(count_of(report, 0, "pages"), 512);
    assert_int_equal(count_of(report, 0, "pages_right"), 510);
    assert_int_equal(count_of(report, 0, "pages_never_written"), 2);
    assert_int_equal(count_of(report, 0, "pages_indeterminate"), 0);
    assert_true(count_of(report, 1, "log_blocks") > 0);
    assert_int_equal(count_of(report, 1, "log_blocks"), count_of(report, 1, "log_blocks_chained"));
    json_decref(report);
}

static void its_files_alone_are_counted_as_mdfcheck_counts_them(void **state)
{
    struct world *w = *state;
    if (!mdfcheck_there())
        skip();
    assert_int_equal(verify(w, w->data), 0);
    assert_same_counts(w, w->data);
    assert_int_equal(verify(w, w->log), 0);
    assert_same_counts(w, w->log);
}

/* Offset of a byte, and the class and page that the ledger makes of it. */
static void one_damaged_byte_of_its_files_fails_here_and_in_mdfcheck(void **state)
{
    struct world *w = *state;
    uint16_t used = (uint16_t)(byte_at(w->log, 0x4004) | byte_at(w->log, 0x4005) << 8);
    const struct {
        const char *path;
        uint64_t offset;
        const char *class;
        long page;
    } damages[] = {
        {w->data, 100 * 8192 + 3000, "bit_flip", 100},
        {w->data, 1 * 8192 + 0x64 + 60, "bit_flip", 1},
        {w->data, 2 * 8192 + 0xC2 + 4, "bit_flip", 2},
        {w->data, 9 * 8192 + 0x1BC, "bit_flip", 9},
        {w->log, 0x2000, "log_torn", -1},
        {w->log, 0x4000 + 0x60, "log_torn", -1},
        {w->log, 0x4000 + used - 1u, "log_torn", -1},
    };
    bool oracle = mdfcheck_there();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char json_path[128];
        int status;
        snprintf(json_path, sizeof json_path, "%s/mdfcheck.json", w->dir);
        flip_byte(w->data == damages[i].path ? w->data : w->log, damages[i].offset);
        int code = verify(w, w->out);
        json_decref(oracle ? mdfcheck(damages[i].path, &status, json_path) : NULL);
        flip_byte(damages[i].path, damages[i].offset);
        assert_int_equal(code, 1);
        assert_one_finding(w, damages[i].class, damages[i].page);
        if (oracle)
            assert_int_equal(status, 1);
    }
    assert_int_equal(verify(w, w->out), 0);
}

/* What no checksum shows: the older image is whole.  The audit had seen the newer one. */
static void an_older_image_of_a_page_that_was_seen_newer_is_a_replay(void **state)
{
    struct world *w = *state;
    static _Alignas(16) uint8_t now[PAGE_BYTES], old[PAGE_BYTES];
    const char *reason;
    struct ledger *ledger;
    assert_int_equal(ledger_open(&ledger, w->ledger, false, &reason), 0);
    const struct ledger_header *header = ledger_header_of(ledger);
    struct run_identity run = run_identity_make(header->run_id, header->seed, header->compressible);
    uint32_t page_no = 16;
    while (page_no < 511 && ledger_view(ledger, 1, page_no).acked < 2)
        page_no++;
    uint64_t acked = ledger_view(ledger, 1, page_no).acked;
    ledger_close(ledger, false);
    assert_true(acked > 1); /* a page that the run changed */
    page_get(w->data, page_no, now);
    const struct page_stamp *stamp = page_stamp_of(now);
    struct page_identity id = {stamp->file_uid, stamp->incarnation, 1, page_no, acked - 1};
    page_fill(old, &run, &id, 0);
    page_seal(old, page_lsn(now), stamp->write_time_ns);
    page_put(w->data, page_no, old);
    int code = verify(w, w->out);
    page_put(w->data, page_no, now);
    assert_int_equal(code, 1);
    assert_one_finding(w, "replayed_write", (long)page_no);
}

/* Bit 3 of the DIFF page's map, checksum right: only the log record's hash tells. */
static void a_system_page_that_was_never_logged_so_is_found_by_its_hash(void **state)
{
    struct world *w = *state;
    static _Alignas(16) uint8_t now[PAGE_BYTES], wrong[PAGE_BYTES];
    page_get(w->data, 6, now);
    memcpy(wrong, now, PAGE_BYTES);
    wrong[0xC2 + 5] ^= 0x08;
    page_protect_checksum(wrong);
    page_put(w->data, 6, wrong);
    int code = verify(w, w->out);
    page_put(w->data, 6, now);
    assert_int_equal(code, 1);
    assert_one_finding(w, "garbage", 6);
}

static void a_boot_page_that_names_no_checkpoint_is_found(void **state)
{
    struct world *w = *state;
    static _Alignas(16) uint8_t now[PAGE_BYTES], wrong[PAGE_BYTES];
    page_get(w->data, BOOT_PAGE, now);
    memcpy(wrong, now, PAGE_BYTES);
    struct lsn lsn = boot_get_checkpoint(wrong);
    lsn.slot++;
    boot_set_checkpoint(wrong, lsn);
    page_protect_checksum(wrong);
    page_put(w->data, BOOT_PAGE, wrong);
    int code = verify(w, w->out);
    page_put(w->data, BOOT_PAGE, now);
    assert_int_equal(code, 1);
    assert_one_finding(w, "lost_write", BOOT_PAGE);
}

/* Blocks of the first VLF back to back from 0x4000, size at +6 of each; offset of the third last.
 */
static uint64_t third_last_block(const char *log)
{
    uint64_t at[3] = {0}, next = 0x4000;
    while ((byte_at(log, next) & 0x10) != 0) { /* a block begins here: no 0xC0 stamp, no zeros */
        at[0] = at[1];
        at[1] = at[2];
        at[2] = next;
        next += (uint64_t)(byte_at(log, next + 6) | byte_at(log, next + 7) << 8);
    }
    assert_true(at[0] != 0);
    return at[0];
}

/* Without a ledger a hole this near to the end may be what a kill left; the boot page, written
 * after the last block, proves that it is not. */
static void a_hole_near_the_end_of_the_log_is_proven_by_a_newer_page(void **state)
{
    struct world *w = *state;
    char name[] = "verify", option[] = "--json", json[96], data[96], log[96];
    char *argv[] = {name, data, log, option, json, NULL};
    uint64_t offset = third_last_block(w->log) + 0x60;
    snprintf(json, sizeof json, "%s", w->json);
    snprintf(data, sizeof data, "%s", w->data);
    snprintf(log, sizeof log, "%s", w->log);
    flip_byte(w->log, offset);
    int together = command_verify(5, argv);
    json_t *report = report_of(w);
    int alone = verify(w, w->log);
    int with_ledger = verify(w, w->out);
    assert_one_finding(w, "log_torn", -1);
    flip_byte(w->log, offset);
    assert_int_equal(together, 1);
    json_t *findings = json_object_get(report, "findings");
    assert_int_equal(json_array_size(findings), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(findings, 0), "class")),
                        "torn_in_flight");
    assert_string_equal(json_string_value(json_object_get(json_array_get(findings, 1), "class")),
                        "page_ahead_of_log");
    json_decref(report);
    assert_int_equal(alone, 0);
    assert_int_equal(with_ledger, 1);
}

static void a_cut_file_is_named_with_its_ledger(void **state)
{
    struct world *w = *state;
    assert_int_equal(system_of("cp --sparse=never '%s' '%s'", w->data, w->copy), 0);
    assert_int_equal(truncate(w->data, 2 << 20), 0);
    int code = verify(w, w->out);
    assert_int_equal(system_of("cat '%s' > '%s'", w->copy, w->data), 0);
    assert_int_equal(code, 1);
    assert_one_finding(w, "truncated_file", -1);
    assert_int_equal(verify(w, w->out), 0);
}

/* 4 MiB of data and 16 MiB of log, as profile_of asks. */
#define DATA_BYTES (4 << 20)
#define LOG_BYTES  (16 << 20)

static void file_save(const struct world *w, const char *path)
{
    assert_int_equal(system_of("cp --sparse=never '%s' '%s'", path, w->copy), 0);
}

/* Into the same inode. */
static void file_restore(const struct world *w, const char *path)
{
    assert_int_equal(system_of("cat '%s' > '%s'", w->copy, path), 0);
}

static void assert_cut_is_named(const struct world *w, const char *path, off_t size)
{
    assert_int_equal(truncate(path, size), 0);
    assert_int_equal(verify(w, w->out), 1);
    assert_one_finding(w, "truncated_file", -1);
    if (size < 2 * PAGE_BYTES) { /* nothing in it says what it was */
        assert_int_equal(verify(w, path), 2);
        return;
    }
    assert_int_equal(verify(w, path), 1);
    assert_one_finding(w, "truncated_file", -1);
}

static void a_log_cut_anywhere_is_one_truncated_file(void **state)
{
    static const off_t sizes[] = {LOG_BYTES - 1,   LOG_BYTES - 512, 4 << 20,
                                  (1 << 20) + 512, 100000,          0};
    struct world *w = *state;
    file_save(w, w->log);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_cut_is_named(w, w->log, sizes[i]);
        file_restore(w, w->log);
    }
    assert_int_equal(verify(w, w->out), 0);
}

static void a_data_file_cut_anywhere_is_one_truncated_file(void **state)
{
    static const off_t sizes[] = {DATA_BYTES - 1,  DATA_BYTES - 512, 2 << 20,
                                  (1 << 20) + 512, 100000,           0};
    struct world *w = *state;
    file_save(w, w->data);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_cut_is_named(w, w->data, sizes[i]);
        file_restore(w, w->data);
    }
    assert_int_equal(verify(w, w->out), 0);
}

static void what_was_appended_to_a_file_is_one_foreign_write(void **state)
{
    struct world *w = *state;
    assert_int_equal(system_of("head -c 1000000 /dev/zero | tr '\\0' 'x' >> '%s'", w->data), 0);
    int code = verify(w, w->out);
    json_t *report = report_of(w);
    assert_int_equal(count_of(report, 0, "pages"), DATA_BYTES / PAGE_BYTES);
    json_decref(report);
    assert_int_equal(truncate(w->data, DATA_BYTES), 0);
    assert_int_equal(code, 3);
    assert_one_finding(w, "foreign_write", -1);
}

/* What the ledger says of a data file's inode; 0 is not known. */
static void ledger_set_inode(const struct world *w, uint64_t inode)
{
    const char *reason;
    struct ledger *ledger;
    assert_int_equal(ledger_open(&ledger, w->ledger, true, &reason), 0);
    for (uint16_t uid = 1; uid <= 2; uid++)
        if (ledger_file_at(ledger, uid)->kind == FILE_KIND_DATA)
            ledger_file_at(ledger, uid)->inode = inode;
    ledger_close(ledger, true);
}

static void another_inode_with_the_same_content_is_right(void **state)
{
    struct world *w = *state;
    ledger_set_inode(w, 1);
    int code = verify(w, w->out);
    ledger_set_inode(w, 0);
    assert_int_equal(code, 0);
}

/* Every page from 64 to 127 zero: as damage each would be a finding of its own. */
static void another_inode_with_other_content_is_one_file_replaced(void **state)
{
    struct world *w = *state;
    file_save(w, w->data);
    assert_int_equal(system_of("dd if=/dev/zero of='%s' bs=8192 seek=64 count=64 conv=notrunc "
                               "status=none",
                               w->data),
                     0);
    int same = verify(w, w->out);
    json_t *report = report_of(w);
    size_t found = json_array_size(json_object_get(report, "findings"));
    json_decref(report);
    ledger_set_inode(w, 1);
    int other = verify(w, w->out);
    ledger_set_inode(w, 0);
    file_restore(w, w->data);
    assert_int_equal(same, 1);
    assert_true(found > 1);
    assert_int_equal(other, 3);
    assert_one_finding(w, "file_replaced", -1);
}

/* 4,096 bytes of header, 576 a row of two files: the entries begin at 8,192. */
static void by_a_damaged_ledger_nothing_is_judged(void **state)
{
    struct world *w = *state;
    flip_byte(w->ledger, 8192 + 16 * 64 + 5);
    int code = verify(w, w->out);
    json_t *report = report_of(w);
    size_t found = json_array_size(json_object_get(report, "findings"));
    json_decref(report);
    flip_byte(w->ledger, 8192 + 16 * 64 + 5);
    assert_int_equal(code, 3);
    assert_int_equal(found, 0);
    assert_int_equal(verify(w, w->out), 0);
}

/* The same as a ledger of an earlier run: its run id is not that of the files. */
static void files_of_another_run_are_not_compared(void **state)
{
    struct world *w = *state;
    const char *reason;
    struct ledger *ledger;
    assert_int_equal(ledger_open(&ledger, w->ledger, true, &reason), 0);
    ledger_header_of(ledger)->run_id[0] ^= 1;
    ledger_close(ledger, true);
    int code = verify(w, w->out);
    json_t *report = report_of(w);
    size_t found = json_array_size(json_object_get(report, "findings"));
    json_decref(report);
    assert_int_equal(ledger_open(&ledger, w->ledger, true, &reason), 0);
    ledger_header_of(ledger)->run_id[0] ^= 1;
    ledger_close(ledger, true);
    assert_int_equal(code, 3);
    assert_int_equal(found, 0);
    assert_int_equal(verify(w, w->out), 0);
}

static void a_run_and_verify_both_find_an_overwritten_page_0_of_the_log(void **state)
{
    (void)state;
    struct world *w = world_new();
    void *made = w;
    run_with(w, overwrite_log_page_0, VERDICT_garbage);
    int code = verify(w, w->out);
    assert_int_equal(code, 1);
    assert_one_finding(w, "garbage", 0);
    world_free(&made);
}

static void nothing_is_changed_by_looking(void **state)
{
    struct world *w = *state;
    struct stat before[3], after[3];
    const char *paths[3] = {w->data, w->log, w->ledger};
    assert_int_equal(system_of("cd '%s' && sha256sum v.mdx v.ldx out/ledger > sums", w->dir), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(stat(paths[i], &before[i]), 0);
    assert_int_equal(verify(w, w->out), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(stat(paths[i], &after[i]), 0);
        assert_int_equal(after[i].st_mtim.tv_sec, before[i].st_mtim.tv_sec);
        assert_int_equal(after[i].st_mtim.tv_nsec, before[i].st_mtim.tv_nsec);
    }
    assert_int_equal(system_of("cd '%s' && sha256sum --quiet -c sums", w->dir), 0);
}

/* ---- refusals ---- */

static void a_path_that_does_not_exist_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(verify(w, "/tmp/pagestorm-no-such-file.mdf"), 2);
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(system_of("head -c 65536 /dev/zero | tr '\\0' 'x' > '%s'", w->copy), 0);
    assert_int_equal(verify(w, w->copy), 2);
}

static void no_path_is_refused(void **state)
{
    (void)state;
    char name[] = "verify";
    char *argv[] = {name, NULL};
    assert_int_equal(command_verify(1, argv), 2);
}

static void a_file_that_a_run_is_using_is_refused(void **state)
{
    struct world *w = *state;
    int fd = open(w->data, O_RDWR | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
    int code = verify(w, w->out);
    close(fd);
    assert_int_equal(code, 2);
}

static void a_run_that_was_killed_while_it_created_its_files_is_incomplete(void **state)
{
    struct world *w = *state;
    const char *reason;
    struct ledger *ledger;
    assert_int_equal(ledger_open(&ledger, w->ledger, true, &reason), 0);
    uint16_t phase = ledger_header_of(ledger)->phase;
    ledger_header_of(ledger)->phase = LEDGER_PHASE_CREATING;
    ledger_close(ledger, false);
    int code = verify(w, w->out);
    assert_int_equal(ledger_open(&ledger, w->ledger, true, &reason), 0);
    ledger_header_of(ledger)->phase = phase;
    ledger_close(ledger, true);
    assert_int_equal(code, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_are_right_and_counted_as_mdfcheck_counts_them),
        cmocka_unit_test(one_damaged_byte_of_a_real_file_fails_here_and_in_mdfcheck),
        cmocka_unit_test(a_clean_run_is_right_by_its_ledger),
        cmocka_unit_test(its_files_alone_are_counted_as_mdfcheck_counts_them),
        cmocka_unit_test(one_damaged_byte_of_its_files_fails_here_and_in_mdfcheck),
        cmocka_unit_test(an_older_image_of_a_page_that_was_seen_newer_is_a_replay),
        cmocka_unit_test(a_system_page_that_was_never_logged_so_is_found_by_its_hash),
        cmocka_unit_test(a_boot_page_that_names_no_checkpoint_is_found),
        cmocka_unit_test(a_hole_near_the_end_of_the_log_is_proven_by_a_newer_page),
        cmocka_unit_test(a_cut_file_is_named_with_its_ledger),
        cmocka_unit_test(a_log_cut_anywhere_is_one_truncated_file),
        cmocka_unit_test(a_data_file_cut_anywhere_is_one_truncated_file),
        cmocka_unit_test(what_was_appended_to_a_file_is_one_foreign_write),
        cmocka_unit_test(another_inode_with_the_same_content_is_right),
        cmocka_unit_test(another_inode_with_other_content_is_one_file_replaced),
        cmocka_unit_test(by_a_damaged_ledger_nothing_is_judged),
        cmocka_unit_test(files_of_another_run_are_not_compared),
        cmocka_unit_test(a_run_and_verify_both_find_an_overwritten_page_0_of_the_log),
        cmocka_unit_test(nothing_is_changed_by_looking),
        cmocka_unit_test(a_path_that_does_not_exist_is_refused),
        cmocka_unit_test(a_file_that_is_no_database_is_refused),
        cmocka_unit_test(no_path_is_refused),
        cmocka_unit_test(a_file_that_a_run_is_using_is_refused),
        cmocka_unit_test(a_run_that_was_killed_while_it_created_its_files_is_incomplete),
    };
    return cmocka_run_group_tests(tests, world_make, world_free);
}
