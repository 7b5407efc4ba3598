/*
 * selftest.c - run one case: a folder, a profile, a plan, the fault layer, a run; see selftest.h.
 *
 * The world is small (SELFTEST_DATA_MIB of data, four users) and, unless a row says otherwise, the
 * pool holds all of it: then a page is read once in the stress part and once by the audit, and the
 * rows can count on that.
 */
#include "sim/selftest.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patterns/pattern.h"
#include "sim/boot_id.h"
#include "sim/engine_mem.h"
#include "sim/run.h"
#include "sim/verify_check.h"

#define SECTIONS_MAX 64
#define PATH_BYTES   4096

static const char *const settings_of_all[] = {
    "CONFIG.StopOnError=FALSE",       "CONFIG.CPUCount=2",
    "CONFIG.MaxMemoryMB=64",          "CONFIG.CacheHitRatio=10000",
    "CONFIG.CheckpointInterval=1",    "CONFIG.Reserve=1",
    "RandomUser.UserCount=4",         "RandomUser.JumpToNewRegionPercentage=10000",
    "RandomUser.MaxIOChainLength=16", "RandomUser.MinLogPerBuffer=64",
    "RandomUser.MaxLogPerBuffer=512", "RandomUser.RollbackChance=100",
    "RandomUser.SleepAfter=2",        "AuditUser.UserCount=0",
    "ReadAheadUser.UserCount=0",      "BulkUpdateUser.UserCount=0",
    "CpuIdleUser.DiskShare=0", /* rows count reads */
};

struct selftest {
    const struct selftest_case *test;
    const struct selftest_config *config;
    struct selftest_result *result;
    char dir[PATH_BYTES], out[PATH_BYTES], data[PATH_BYTES], log[PATH_BYTES];
    struct profile *profile;
    struct plan plan;
    struct fault_config faults;
    struct clock clock;
    struct mem_device *device;
    struct run run;
};

static int failed(struct selftest *self, int error, const char *what, const char *why)
{
    snprintf(self->result->message, sizeof self->result->message, "%s: %.700s", what, why);
    return error;
}

/* ---- the folder ---- */

static int join_path(char out[PATH_BYTES], const char *folder, const char *name)
{
    int length = snprintf(out, PATH_BYTES, "%s/%s", folder, name);
    return length > 0 && length < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static int folder_make(struct selftest *self)
{
    int error = join_path(self->dir, self->config->dir, "pagestorm-selftest-XXXXXX");
    if (!error && !mkdtemp(self->dir)) {
        error = -errno;
        self->dir[0] = '\0';
    }
    if (!error)
        error = join_path(self->out, self->dir, "out");
    if (!error)
        error = join_path(self->data, self->dir, "selftest.mdx");
    if (!error)
        error = join_path(self->log, self->dir, "selftest.ldx");
    if (!error && mkdir(self->out, 0700))
        error = -errno;
    return error ? failed(self, error, self->config->dir, strerror(-error)) : 0;
}

/* The folder is new and ours: whatever stands in it was made by this case. */
static void folder_remove(const char *folder, unsigned depth)
{
    DIR *dir = opendir(folder);
    char path[PATH_BYTES];
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            join_path(path, folder, entry->d_name) || lstat(path, &st))
            continue;
        if (S_ISDIR(st.st_mode) && depth > 0)
            folder_remove(path, depth - 1);
        else
            unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* ---- profile and plan ---- */

static int setting_apply(struct selftest *self, const char *setting)
{
    char section[64], key[64], value[64];
    struct opt_where where = {.source = "selftest"};
    if (sscanf(setting, "%63[^.].%63[^=]=%63s", section, key, value) != 3 ||
        profile_set(self->profile, section, key, value, where))
        return failed(self, -EINVAL, "setting", setting);
    return 0;
}

static int settings_apply(struct selftest *self)
{
    char duration[64];
    unsigned seconds = self->config->seconds ? self->config->seconds : SELFTEST_SECONDS;
    snprintf(duration, sizeof duration, "CONFIG.TestCycleDuration=%u", seconds);
    int error = setting_apply(self, duration);
    for (size_t i = 0; i < sizeof settings_of_all / sizeof *settings_of_all && !error; i++)
        error = setting_apply(self, settings_of_all[i]);
    for (size_t i = 0; i < SELFTEST_SETTINGS_MAX && self->test->settings[i] && !error; i++)
        error = setting_apply(self, self->test->settings[i]);
    snprintf(duration, sizeof duration, "CONFIG.Seed=%" PRIu64,
             self->config->seed ? self->config->seed : 1);
    return error ? error : setting_apply(self, duration);
}

static int profile_make(struct selftest *self)
{
    const struct opt_section *sections[SECTIONS_MAX];
    size_t count = pattern_sections(sections, SECTIONS_MAX);
    int64_t log_mib = self->test->log_mib ? self->test->log_mib : SELFTEST_LOG_MIB;
    int64_t data_bytes = (int64_t)SELFTEST_DATA_MIB << 20;
    struct opt_where where = {.source = "selftest"};
    self->profile = profile_create(sections, count);
    int error = settings_apply(self);
    if (!error)
        error =
            profile_add_file(self->profile, self->data, false, data_bytes, data_bytes, 1, where);
    if (!error)
        error = profile_add_file(self->profile, self->log, true, log_mib << 20, log_mib << 20, 1,
                                 where);
    if (!error)
        error = profile_finish(self->profile);
    if (error && profile_diag_count(self->profile))
        return failed(self, error, "profile", profile_diag_at(self->profile, 0)->text);
    return error ? failed(self, error, "profile", strerror(-error)) : 0;
}

static int plan_of(struct selftest *self)
{
    char message[PLAN_MESSAGE_MAX] = "";
    int exit_code = 0;
    int error = plan_make(&self->plan, self->profile, message, &exit_code);
    return error ? failed(self, error, "plan", message) : 0;
}

/* ---- the run ---- */

static int engine_make(struct selftest *self)
{
    if (self->config->real) {
        clock_init_real(&self->clock);
        fault_config_init(&self->faults, self->config->engine ? self->config->engine : &engine_sync,
                          NULL);
    } else {
        struct mem_device_config config = {.seed = self->config->seed};
        clock_init_virtual(&self->clock);
        int error = mem_device_create(&self->device, &self->clock, &config);
        if (error)
            return failed(self, error, "modelled device", strerror(-error));
        fault_config_init(&self->faults, &engine_mem, self->device);
    }
    for (unsigned i = 0; i < self->test->rule_count; i++)
        fault_add(&self->faults, &self->test->rules[i]);
    return 0;
}

/* A run under a virtual clock is of no boot; of which it is decides whether its ledger is believed.
 */
static int set_boot(struct selftest *self)
{
    char path[PATH_BYTES];
    const char *reason = NULL;
    struct ledger *ledger;
    int error = join_path(path, self->out, LEDGER_FILE_NAME);
    if (!error)
        error = ledger_open(&ledger, path, true, &reason);
    if (error)
        return failed(self, error, LEDGER_FILE_NAME, reason ? reason : strerror(-error));
    boot_id_read(ledger_header_of(ledger)->boot_id);
    if (self->test->end == SELFTEST_RESTARTED)
        ledger_header_of(ledger)->boot_id[0] ^= 0xFF;
    ledger_close(ledger, false);
    return 0;
}

static int verify_after_kill(struct selftest *self)
{
    struct verify_set set;
    struct findings findings;
    const char *paths[] = {self->out};
    int error = set_boot(self);
    if (!error)
        error = findings_init(&findings, NULL, NULL, NULL, false);
    if (error)
        return error;
    error = verify_set_open(&set, paths, 1, true, &findings);
    if (!error)
        error = verify_check(&set);
    if (error)
        failed(self, error, "verify", set.message);
    else
        selftest_judge(self->test, &self->faults, &findings, self->result);
    verify_set_close(&set);
    findings_free(&findings);
    return error;
}

/* A killed run itself may have noticed nothing: what it did report counts as false. */
static int run_and_judge(struct selftest *self)
{
    int error = run_execute(&self->run);
    if (error && error != -EIO)
        failed(self, error, "run", self->run.message[0] ? self->run.message : strerror(-error));
    else
        error = 0;
    if (self->test->end == SELFTEST_COMPLETE) {
        selftest_judge(self->test, &self->faults, &self->run.findings, self->result);
        run_destroy(&self->run);
        return error;
    }
    unsigned too_early = self->run.findings.count;
    run_destroy(&self->run);
    if (!error)
        error = verify_after_kill(self);
    self->result->others += too_early;
    return error;
}

static int run_case(struct selftest *self)
{
    struct run_config config = {
        .profile = self->profile,
        .plan = &self->plan,
        .out_dir = self->out,
        .engine = &engine_fault,
        .engine_device = &self->faults,
        .virtual_clock = !self->config->real,
        .clock = &self->clock,
        .leave_like_killed = self->test->end != SELFTEST_COMPLETE,
    };
    int error = run_create(&self->run, &config);
    if (!error)
        return run_and_judge(self);
    failed(self, error, "run", self->run.message);
    run_destroy(&self->run);
    return error;
}

static int prepare(struct selftest *self)
{
    int error = folder_make(self);
    if (!error)
        error = profile_make(self);
    if (!error)
        error = plan_of(self);
    if (!error)
        error = engine_make(self);
    return error;
}

static void clean_up(struct selftest *self)
{
    if (self->faults.below)
        fault_config_clear(&self->faults);
    if (self->device)
        mem_device_free(self->device);
    plan_free(&self->plan);
    if (self->profile)
        profile_free(self->profile);
    if (self->dir[0])
        folder_remove(self->dir, 2);
}

int selftest_run(const struct selftest_case *test, const struct selftest_config *config,
                 struct selftest_result *result)
{
    struct selftest *self = calloc(1, sizeof *self);
    memset(result, 0, sizeof *result);
    if (!self)
        return -ENOMEM;
    self->test = test;
    self->config = config;
    self->result = result;
    int error = prepare(self);
    if (!error)
        error = run_case(self);
    clean_up(self);
    free(self);
    return error;
}
