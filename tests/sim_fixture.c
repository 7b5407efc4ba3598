/* sim_fixture.c - see sim_fixture.h. */
#include "tests/sim_fixture.h"

#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB          (1024ull * 1024)
#define PATTERNS_MAX 32
#define FOLDER_MODE  0755
#define QUEUE_DEPTH  32
#define REMOVE_FDS   16

extern const struct io_engine_ops engine_mem, engine_sync;

static const char *base_directory(const struct sim_options *options)
{
    if (options->directory)
        return options->directory;
    const char *directory = getenv("TMPDIR");
    if (directory)
        return directory;
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

static void folder_make(struct sim *sim)
{
    char evidence[SIM_PATH_MAX];
    int error = 0;
    if (sim->options.folder) {
        snprintf(sim->folder, sizeof sim->folder, "%s", sim->options.folder);
        error = mkdir(sim->folder, FOLDER_MODE);
    } else {
        snprintf(sim->folder, sizeof sim->folder, "%s/pagestorm-test-XXXXXX",
                 base_directory(&sim->options));
        error = mkdtemp(sim->folder) ? 0 : -1;
    }
    assert(!error);
    sim_path(sim, "evidence", evidence);
    error = mkdir(evidence, FOLDER_MODE);
    assert(!error);
}

void sim_path(const struct sim *sim, const char *name, char out[SIM_PATH_MAX])
{
    int length = snprintf(out, SIM_PATH_MAX, "%s/%s", sim->folder, name);
    assert(length > 0 && length < SIM_PATH_MAX);
}

static void defaults(struct sim_options *o)
{
    o->seed = o->seed ? o->seed : 1;
    o->duration_ns = o->duration_ns ? o->duration_ns : 2 * NS_PER_S;
    o->data_bytes = o->data_bytes ? o->data_bytes : 16 * MIB;
    o->log_bytes = o->log_bytes ? o->log_bytes : 8 * MIB;
    o->pool_bytes = o->pool_bytes ? o->pool_bytes : 4 * MIB;
    o->workers = o->workers ? o->workers : 2;
    o->databases = o->databases ? o->databases : 1;
    o->logs = o->logs ? o->logs : 1;
}

/* log: 0 = a data file, else the number of the log file. */
static void file_add(struct sim *sim, unsigned database, unsigned log)
{
    bool is_log = log > 0;
    char name[32], path[SIM_PATH_MAX];
    uint64_t size = is_log ? sim->options.log_bytes : sim->options.data_bytes;
    snprintf(name, sizeof name, is_log ? "log%u.ldx" : "data%u.mdx", database + 1);
    if (log > 1)
        snprintf(name, sizeof name, "log%u-%u.ldx", database + 1, log);
    sim_path(sim, name, path);
    struct opt_where where = {"test", 0};
    int error = profile_add_file(sim->profile, path, is_log, (int64_t)size, (int64_t)size,
                                 database + 1, where);
    assert(!error);
    struct plan_file *planned = &sim->plan.files[sim->plan.file_count++];
    *planned = (struct plan_file){.path = strdup(path),
                                  .is_log = is_log,
                                  .database = database,
                                  .sparse = sim->options.sparse && !is_log &&
                                            database + 1 == sim->options.databases,
                                  .size_bytes = size,
                                  .max_bytes = size};
    if (is_log && sim->options.log_max_bytes) {
        planned->max_bytes = sim->options.log_max_bytes;
        planned->increment_bytes = sim->options.log_increment;
    }
}

/* tempdb is the last database. */
static void tempdb_file_add(struct sim *sim, unsigned index, bool is_log)
{
    char name[32], path[SIM_PATH_MAX];
    uint64_t size = is_log ? sim->options.tempdb_log_bytes : sim->options.tempdb_bytes;
    snprintf(name, sizeof name, is_log ? "tempdb.ldx" : "tempdb%u.mdx", index + 1);
    sim_path(sim, name, path);
    struct opt_where where = {"test", 0};
    int error =
        profile_add_tempdb_file(sim->profile, path, is_log, (int64_t)size, (int64_t)size, where);
    assert(!error);
    sim->plan.files[sim->plan.file_count++] = (struct plan_file){.path = strdup(path),
                                                                 .is_log = is_log,
                                                                 .tempdb = true,
                                                                 .database = sim->options.databases,
                                                                 .size_bytes = size,
                                                                 .max_bytes = size};
    if (!is_log && sim->options.tempdb_max_bytes) {
        sim->plan.files[sim->plan.file_count - 1].max_bytes = sim->options.tempdb_max_bytes;
        sim->plan.files[sim->plan.file_count - 1].increment_bytes = sim->options.tempdb_increment;
    }
}

static void tempdb_add(struct sim *sim)
{
    for (unsigned i = 0; i < sim->options.tempdb_files; i++)
        tempdb_file_add(sim, i, false);
    if (sim->options.tempdb_files)
        tempdb_file_add(sim, 0, true);
}

static void profile_make(struct sim *sim)
{
    const struct opt_section *sections[PATTERNS_MAX];
    size_t count = pattern_sections(sections, PATTERNS_MAX);
    sim->profile = profile_create(sections, count);
    unsigned user_files = (1 + sim->options.logs) * sim->options.databases;
    sim->plan.files = calloc(user_files + sim->options.tempdb_files + 1, sizeof *sim->plan.files);
    for (unsigned i = 0; i < sim->options.databases; i++) {
        file_add(sim, i, 0);
        for (unsigned log = 1; log <= sim->options.logs; log++)
            file_add(sim, i, log);
    }
    tempdb_add(sim);
    struct opt_where where = {"test", 0};
    for (const struct sim_setting *s = sim->options.settings; s->section; s++) {
        int error = profile_set(sim->profile, s->section, s->key, s->value, where);
        assert(!error);
    }
    if (sim->options.backup_files) {
        int set = profile_set(sim->profile, "BackupUser", "Directory", sim->folder, where);
        assert(!set);
    }
    int error = profile_finish(sim->profile);
    assert(!error);
}

static const struct io_engine_ops *real_engine(const struct sim *sim)
{
    return sim->options.engine ? sim->options.engine : &engine_sync;
}

static void device_make(struct sim *sim)
{
    clock_init_virtual(&sim->clock);
    struct mem_device_config config = sim->options.device;
    config.seed = sim->options.seed;
    int error = mem_device_create(&sim->device, &sim->clock, &config);
    assert(!error);
}

/* What each session has of its own. */
static void machine_make(struct sim *sim)
{
    if (!sim->options.real_clock)
        device_make(sim);
    if (!sim->options.with_faults)
        return;
    sim->faults = malloc(sizeof *sim->faults);
    assert(sim->faults);
    fault_config_init(sim->faults, sim->device ? &engine_mem : real_engine(sim), sim->device);
}

static void machine_drop(struct sim *sim)
{
    if (sim->faults) {
        fault_config_clear(sim->faults);
        free(sim->faults);
    }
    sim->faults = NULL;
    mem_device_free(sim->device);
    sim->device = NULL;
}

void sim_begin(struct sim *sim, const struct sim_options *options)
{
    memset(sim, 0, sizeof *sim);
    sim->options = *options;
    defaults(&sim->options);
    folder_make(sim);
    snprintf(sim->out, sizeof sim->out, "%s", sim->folder);
    profile_make(sim);
    sim->plan.database_count = sim->options.databases + (sim->options.tempdb_files > 0);
    sim->plan.pool_bytes = sim->options.pool_bytes;
    sim->plan.workers = sim->options.workers;
    sim->plan.queue_depth = QUEUE_DEPTH;
    sim->plan.seed = sim->options.seed;
    sim->plan.test_cycle_ns = sim->options.duration_ns;
    sim->plan.verify_within_ns = plan_verify_within_ns(sim->profile);
    char message[PLAN_MESSAGE_MAX];
    int error = plan_add_snapshots(&sim->plan, sim->profile, message);
    assert(!error);
    int planned = plan_backups(&sim->plan, sim->profile);
    assert(!planned);
    machine_make(sim);
}

int sim_take_over(struct sim *sim, const char *name, char message[PLAN_MESSAGE_MAX])
{
    char before[SIM_PATH_MAX], evidence[2 * SIM_PATH_MAX];
    sim_close(sim);
    reuse_close(&sim->reuse);
    machine_drop(sim);
    machine_make(sim);
    snprintf(before, sizeof before, "%s", sim->out);
    sim_path(sim, name, sim->out);
    snprintf(evidence, sizeof evidence, "%s/evidence", sim->out);
    int error = mkdir(sim->out, FOLDER_MODE) || mkdir(evidence, FOLDER_MODE);
    assert(!error);
    return reuse_open(&sim->reuse, before, &sim->plan, profile_config(sim->profile), message);
}

void sim_create(struct sim *sim)
{
    struct run_config config = {
        .profile = sim->profile,
        .plan = &sim->plan,
        .out_dir = sim->out,
        .reuse = sim->reuse.ledger ? &sim->reuse : NULL,
        .engine = sim->faults   ? &engine_fault
                  : sim->device ? &engine_mem
                                : real_engine(sim),
        .engine_device = sim->faults ? (void *)sim->faults : (void *)sim->device,
        .virtual_clock = sim->device != NULL,
        .clock = sim->device ? &sim->clock : NULL,
        .event = sim->options.event,
        .context = sim->options.context,
        .signal = sim->options.signal,
        .leave_like_killed = sim->options.leave_like_killed,
        .on_finding = sim->options.on_finding,
        .on_stall = sim->options.on_stall,
        .on_every = sim->options.on_every,
    };
    sim->run = calloc(1, sizeof *sim->run);
    assert(sim->run);
    sim->created = true;
    sim->result = run_create(sim->run, &config);
}

void sim_run(struct sim *sim)
{
    sim_create(sim);
    if (!sim->result)
        sim->result = run_execute(sim->run);
}

void sim_print_findings(const struct sim *sim)
{
    char line[1024];
    fprintf(stderr, "seed %llu: result %d, message '%s'\n", (unsigned long long)sim->options.seed,
            sim->result, sim->run->message);
    for (unsigned i = 0; i < sim->run->findings.count; i++) {
        finding_line(&sim->run->findings.list[i], line, sizeof line);
        fprintf(stderr, "  %s%s\n", sim->run->findings.list[i].amended ? "(joined) " : "", line);
    }
}

void sim_close(struct sim *sim)
{
    if (!sim->created)
        return;
    run_destroy(sim->run);
    free(sim->run);
    sim->run = NULL;
    sim->created = false;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

void sim_end(struct sim *sim)
{
    sim_close(sim);
    machine_drop(sim);
    reuse_close(&sim->reuse);
    profile_free(sim->profile);
    for (unsigned i = 0; i < sim->plan.file_count; i++)
        free((void *)(uintptr_t)sim->plan.files[i].path);
    free(sim->plan.files);
    for (unsigned i = 0; i < sim->plan.snapshot_count; i++)
        free(sim->plan.snapshots[i].path);
    free(sim->plan.snapshots);
    plan_backups_free(&sim->plan);
    nftw(sim->folder, remove_entry, REMOVE_FDS, FTW_DEPTH | FTW_PHYS);
}
