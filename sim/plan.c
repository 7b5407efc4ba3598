/*
 * plan.c - the plan of a run from a finished profile and what the machine has.
 *
 * Invariants: a plan that was made can be carried out as far as can be known before the first
 * write: every database has data and one log, every size is a multiple of an extent, the largest
 * transaction fits in half the usable log, the pool fits in memory, the sum of the files leaves the
 * reserve free on every file system. It creates nothing, and it does not look at what stands at the
 * paths (command_run.c does).
 */
#include "sim/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "config/sizes.h"
#include "config/units.h"
#include "patterns/pattern.h"
#include "sim/allocation.h"
#include "sim/exit_code.h"
#include "sim/plan_buffers.h"
#include "sim/plan_growth.h"
#include "sim/plan_tempdb.h"
#include "sim/pool.h"
#include "sim/wal_space.h"
#include "sim/worker.h"
#include "verify/ledger.h"

#define INCREMENT_BYTES   (64ull << 20) /* SQL Server's default for log files, and for tempdb */
#define GRAIN_BYTES       ((uint64_t)EXTENT_PAGES * PAGE_BYTES)
#define POOL_BYTES_MIN    (64 * (uint64_t)UNITS_MIB)
#define POOL_MEMORY_SHARE 4   /* 25 % of memory */
#define POOL_FRAMES_SPARE 256 /* two full gather writes: frames that are being written */
#define PATH_BYTES_MAX    (LEDGER_PATH_BYTES - 1)

/* What every step below needs. */
struct planner {
    struct plan *plan;
    const struct profile *profile;
    const struct config_settings *settings;
    const struct plan_machine *machine;
    struct plan_notes notes;
    char *message;
    int *exit_code;
};

__attribute__((format(printf, 4, 5))) static int refuse(struct planner *p, int error, int exit_code,
                                                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->message, PLAN_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    *p->exit_code = exit_code;
    return error;
}

struct human {
    char text[UNITS_TEXT_MAX];
};

static struct human human_size(uint64_t bytes)
{
    struct human out;
    units_human_size(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, out.text, sizeof out.text);
    return out;
}

/* ---- files ---- */

/* Smallest database number of the profile that is greater than after; 0 = none. */
static int64_t next_database(const struct profile *profile, int64_t after)
{
    int64_t found = 0;
    for (size_t i = 0; i < profile_file_count(profile); i++) {
        int64_t database = file_settings_database(profile_file(profile, i));
        if (database > after && (found == 0 || database < found))
            found = database;
    }
    return found;
}

static int check_file(struct planner *p, const struct file_settings *file)
{
    uint64_t bytes = (uint64_t)file->initial_size_bytes;
    uint64_t least = file->log_file ? LOG_FILE_BYTES_MIN : (uint64_t)PLAN_DATA_BYTES_MIN;
    least = (least + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES;
    if (strlen(file->file_name) > PATH_BYTES_MAX)
        return refuse(p, -ENAMETOOLONG, EXIT_CODE_USAGE,
                      "[File%u] FileName: longer than %d bytes; give a shorter path", file->number,
                      PATH_BYTES_MAX);
    if (bytes < least)
        return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                      "[File%u] %.300s: InitialSize is %s, a %s file needs at least %s",
                      file->number, file->file_name, human_size(bytes).text,
                      file->log_file ? "log" : "data", human_size(least).text);
    return 0;
}

/* Logs, and tempdb's data files, that may grow grow by SQL Server's 64 MB unless they say
 * otherwise.
 */
static uint64_t increment_of(const struct file_settings *file)
{
    uint64_t bytes = (uint64_t)file->increment_bytes / GRAIN_BYTES * GRAIN_BYTES;
    bool grows = file->log_file || file->tempdb;
    return grows && bytes == 0 ? (uint64_t)INCREMENT_BYTES : bytes;
}

static int add_file(struct planner *p, const struct file_settings *file)
{
    int error = check_file(p, file);
    if (error)
        return error;
    uint64_t bytes = (uint64_t)file->initial_size_bytes / GRAIN_BYTES * GRAIN_BYTES;
    uint64_t max = (uint64_t)file->max_size_bytes / GRAIN_BYTES * GRAIN_BYTES;
    p->plan->files[p->plan->file_count++] = (struct plan_file){
        .path = file->file_name,
        .is_log = file->log_file,
        .database = p->plan->database_count,
        .size_bytes = bytes,
        .max_bytes = max < bytes ? bytes : max,
        .increment_bytes = increment_of(file),
        .shrinkable = file->shrinkable && !file->log_file && !file->tempdb,
        .sparse = file->sparse && !file->log_file,
        .tempdb = file->tempdb,
    };
    if (!file->sparse && (!file->tempdb || file->log_file)) /* those get system pages only */
        p->plan->bytes_to_write += bytes;
    return 0;
}

/* The files of one database: those that are logs, or those that are not. */
static int add_files_of(struct planner *p, int64_t database, bool logs, unsigned *added)
{
    *added = 0;
    for (size_t i = 0; i < profile_file_count(p->profile); i++) {
        const struct file_settings *file = profile_file(p->profile, i);
        if (file_settings_database(file) != database || file->log_file != logs)
            continue;
        int error = add_file(p, file);
        if (error)
            return error;
        ++*added;
    }
    return 0;
}

static int add_database(struct planner *p, int64_t database)
{
    unsigned data, logs = 0;
    int error = add_files_of(p, database, false, &data);
    if (!error)
        error = add_files_of(p, database, true, &logs);
    if (error)
        return error;
    if (data == 0)
        return refuse(p, -EINVAL, EXIT_CODE_USAGE, "database %" PRId64 " has no data file",
                      database);
    if (logs == 0)
        return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                      "database %" PRId64 " has no log file; add a [FileN] with LogFile=TRUE",
                      database);
    p->plan->database_count++;
    return 0;
}

static int plan_files(struct planner *p)
{
    size_t count = profile_file_count(p->profile);
    p->plan->files = calloc(count ? count : 1, sizeof *p->plan->files);
    if (!p->plan->files)
        return refuse(p, -ENOMEM, EXIT_CODE_INCOMPLETE, "no memory for the list of files");
    if (count == 0)
        return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                      "there is nothing to run on: give --dir DIR, or a configuration with "
                      "[FileN] sections");
    int error = 0;
    for (int64_t id = next_database(p->profile, 0); id && !error;
         id = next_database(p->profile, id))
        error = add_database(p, id);
    if (!error && plan_check_tempdb(p->plan, p->profile, p->machine, p->message)) {
        *p->exit_code = EXIT_CODE_USAGE;
        error = -EINVAL;
    }
    return error;
}

/* ---- log: does the largest transaction fit? ---- */

static const char *const initial_update = "the initial update";

struct largest {
    uint64_t bytes;
    const char *who;
};

static void largest_of(const struct planner *p, const struct profile *profile, size_t sector,
                       struct largest *out)
{
    for (size_t i = 0; i < patterns_count; i++) {
        const struct pattern *pattern = patterns[i];
        if (!pattern->log_need || !pattern->section)
            continue;
        const void *settings = profile_section(profile, pattern->section->name);
        if (pattern->user_count && plan_users(p->plan, pattern, settings) == 0)
            continue;
        uint64_t payload, records;
        pattern->log_need(settings, &payload, &records);
        uint64_t need = wal_transaction_need(payload, records, sector);
        if (need > out->bytes)
            *out = (struct largest){need, pattern->name};
    }
}

/* In tempdb nothing is logged but what is allocated. */
static struct largest largest_transaction(const struct planner *p, bool tempdb)
{
    /* What the file system reports is known only when the file exists: the larger one. */
    size_t sector = p->settings->sector_size_bytes ? (size_t)p->settings->sector_size_bytes : 4096;
    struct largest largest = {allocation_log_need(sector), initial_update};
    if (tempdb)
        return largest;
    largest_of(p, p->profile, sector, &largest);
    if (profile_rated(p->profile))
        largest_of(p, profile_rated(p->profile), sector, &largest);
    for (size_t i = 0; i < profile_phase_count(p->profile); i++)
        largest_of(p, profile_phase_profile(p->profile, i), sector, &largest);
    return largest;
}

/* The smallest log file, in whole MB, in which a transaction of need bytes fits. */
static uint64_t log_bytes_needed(uint64_t need)
{
    uint64_t low = 1, high = 2ull << 20; /* 2 TB: SQL Server's largest log file */
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (wal_log_transaction_max(middle * (uint64_t)UNITS_MIB) >= need)
            high = middle;
        else
            low = middle + 1;
    }
    return low * (uint64_t)UNITS_MIB;
}

static bool is_first_log(const struct plan *plan, unsigned index)
{
    const struct plan_file *file = &plan->files[index];
    return file->is_log && (index == 0 || !plan->files[index - 1].is_log ||
                            plan->files[index - 1].database != file->database);
}

/* All log files of a database: most bytes of a transaction, and their size. */
static void log_of(const struct plan *plan, unsigned database, uint64_t *most, uint64_t *bytes)
{
    struct wal_space space = {0};
    *bytes = 0;
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct plan_file *file = &plan->files[i];
        if (!file->is_log || file->database != database)
            continue;
        wal_space_add_file(&space, file->size_bytes);
        *bytes += file->size_bytes;
    }
    *most = wal_space_transaction_max(space.usable_bytes);
}

static int check_logs(struct planner *p)
{
    for (unsigned i = 0; i < p->plan->file_count; i++) {
        const struct plan_file *file = &p->plan->files[i];
        const struct largest largest = largest_transaction(p, file->tempdb);
        const char *who = largest.who;
        uint64_t most, bytes, need = largest.bytes;
        if (!is_first_log(p->plan, i))
            continue;
        log_of(p->plan, file->database, &most, &bytes);
        if (most >= need)
            continue;
        const char *remedy = who == initial_update ? ""
                                                   : ", or lower the longest chain, the largest "
                                                     "log record or BuffersBUMax in its section";
        return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                      "%.300s: a log of %s is too small for the largest transaction of %s, which "
                      "needs %s and may use half the log; make the log at least %s%s",
                      file->path, human_size(bytes).text, who, human_size(need).text,
                      human_size(log_bytes_needed(need)).text, remedy);
    }
    return 0;
}

/* ---- pool ---- */

static uint64_t data_bytes(const struct plan *plan)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        sum += plan->files[i].is_log ? 0 : plan->files[i].size_bytes;
    return sum;
}

static uint64_t users_in(const struct planner *p, const struct profile *profile)
{
    uint64_t users = 0;
    for (size_t i = 0; i < patterns_count; i++)
        if (patterns[i]->user_count && patterns[i]->section)
            users += (uint64_t)plan_users(p->plan, patterns[i],
                                          profile_section(profile, patterns[i]->section->name));
    return users;
}

/* At a time: the rated phase and each phase of the main part have their own. */
static uint64_t users_of(const struct planner *p)
{
    const struct profile *rated = profile_rated(p->profile);
    uint64_t users = users_in(p, p->profile);
    uint64_t rated_users = rated ? users_in(p, rated) : 0;
    users = rated_users > users ? rated_users : users;
    for (size_t i = 0; i < profile_phase_count(p->profile); i++) {
        uint64_t own = users_in(p, profile_phase_profile(p->profile, i));
        users = own > users ? own : users;
    }
    return users;
}

static uint64_t default_pool_bytes(struct planner *p)
{
    const struct sizes_settings *sizes = profile_section(p->profile, sizes_section.name);
    uint64_t most = (uint64_t)sizes->pool_bytes_max;
    uint64_t data = (uint64_t)sizes_share((int64_t)data_bytes(p->plan), sizes->pool_share);
    uint64_t memory = p->machine->memory_bytes / POOL_MEMORY_SHARE;
    uint64_t wanted = data < most ? data : most;
    wanted = wanted > POOL_BYTES_MIN ? wanted : POOL_BYTES_MIN;
    if (p->machine->memory_bytes == 0 || memory >= wanted)
        return wanted;
    uint64_t bytes = memory > POOL_BYTES_MIN ? memory : POOL_BYTES_MIN;
    plan_note(&p->notes, "buffer pool: %s instead of %s, since %s of memory are available",
              human_size(bytes).text, human_size(wanted).text,
              human_size(p->machine->memory_bytes).text);
    return bytes;
}

static int plan_pool(struct planner *p)
{
    bool given = p->settings->max_memory_bytes > 0;
    uint64_t bytes = given ? (uint64_t)p->settings->max_memory_bytes : default_pool_bytes(p);
    uint64_t least = (users_of(p) + POOL_FRAMES_SPARE) * PAGE_BYTES;
    bytes = bytes / PAGE_BYTES * PAGE_BYTES;
    uint64_t buffers = p->plan->buffer_bytes = plan_buffers_bytes(p->plan, p->profile);
    if (p->machine->memory_bytes && bytes > p->machine->memory_bytes)
        return refuse(p, -ENOMEM, EXIT_CODE_INCOMPLETE,
                      "the buffer pool needs %s%s, and this machine has %s of memory available; "
                      "lower MaxMemoryMB or free memory",
                      human_size(bytes).text, given ? " (MaxMemoryMB)" : "",
                      human_size(p->machine->memory_bytes).text);
    if (p->machine->memory_bytes && bytes + buffers > p->machine->memory_bytes)
        return refuse(
            p, -ENOMEM, EXIT_CODE_INCOMPLETE,
            "buffers of CHECKDB and backups need %s beside a pool of %s, and this machine "
            "has %s of memory available; lower [DbccUser] UserCount or Outstanding, "
            "[BackupUser] BufferCount, or MaxMemoryMB",
            human_size(buffers).text, human_size(bytes).text,
            human_size(p->machine->memory_bytes).text);
    if (bytes < least)
        return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                      "a buffer pool of %s is too small: %" PRIu64 " users and two gather writes "
                      "need %s; raise MaxMemoryMB or use fewer users",
                      human_size(bytes).text, users_of(p), human_size(least).text);
    if (!given && profile_file_count(p->profile) > 0)
        plan_note(&p->notes, "buffer pool: %s by default; MaxMemoryMB or --memory sets it",
                  human_size(bytes).text);
    p->plan->pool_bytes = (size_t)bytes;
    return 0;
}

/* More pages at once than the pool can give: less is done at once, and the plan says so. */
static void note_pages(struct planner *p, const struct pattern *pattern)
{
    const void *settings = profile_section(p->profile, pattern->section->name);
    uint64_t users = (uint64_t)plan_users(p->plan, pattern, settings);
    uint64_t pages = (uint64_t)pattern->pages_at_once(settings);
    uint64_t frames = p->plan->pool_bytes / PAGE_BYTES;
    uint64_t wanted = pages < POOL_SCAN_PAGES_MAX ? pages : POOL_SCAN_PAGES_MAX;
    unsigned share = pool_scan_share(frames, users, wanted);
    if (users && pattern->loads && users * pages > frames)
        plan_note(&p->notes,
                  "%s: %" PRIu64 " users load up to %" PRIu64 " pages each, the pool has %" PRIu64
                  ": they wait for each other's writes; raise MaxMemoryMB or lower BuffersBUMax",
                  pattern->name, users, pages, frames);
    else if (users && !pattern->loads && share < wanted)
        plan_note(&p->notes,
                  "%s: a user reads %u pages at once instead of %" PRIu64
                  ", its share of a pool of %" PRIu64 " pages; raise MaxMemoryMB for more",
                  pattern->name, share, wanted, frames);
}

static void note_all_pages(struct planner *p)
{
    for (size_t i = 0; i < patterns_count; i++)
        if (patterns[i]->pages_at_once && patterns[i]->section)
            note_pages(p, patterns[i]);
}

uint64_t plan_verify_within_ns(const struct profile *profile)
{
    for (size_t i = 0; i < patterns_count; i++)
        if (patterns[i]->verify_within)
            return (uint64_t)patterns[i]->verify_within(
                profile_section(profile, patterns[i]->section->name));
    return 0;
}

/* ---- increments ---- */

static int64_t steps_max(const struct planner *p)
{
    for (size_t i = 0; i < patterns_count; i++)
        if (patterns[i]->resizes)
            return patterns[i]->resizes(profile_section(p->profile, patterns[i]->section->name));
    return 1;
}

/* Who loads new extents needs a file that grows. */
static int check_new_extents(struct planner *p)
{
    for (unsigned i = 0; i < p->plan->file_count; i++) {
        const struct plan_file *file = &p->plan->files[i];
        bool fills = !file->is_log && !file->sparse && !file->tempdb;
        if (fills && plan_file_capacity(file) > file->size_bytes)
            return 0;
    }
    for (size_t i = 0; i < patterns_count; i++) {
        if (!patterns[i]->new_extents)
            continue;
        const void *settings = profile_section(p->profile, patterns[i]->section->name);
        if (patterns[i]->new_extents(settings) && plan_users(p->plan, patterns[i], settings))
            return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                          "[%s] NewExtents: no data file may grow, so there are no new extents; "
                          "give one an Increment and a MaxSize above its InitialSize",
                          patterns[i]->section->name);
    }
    return 0;
}

/* ---- space ---- */

struct volume {
    struct plan_space space;
    uint64_t wanted_bytes, reusable_bytes;
    const char *first; /* path, for the message */
};

static int check_volume(struct planner *p, const struct volume *volume)
{
    uint64_t reserve = plan_reserve_bytes(p->settings, volume->space.total_bytes);
    uint64_t available = volume->space.available_bytes + volume->reusable_bytes;
    uint64_t usable = available > reserve ? available - reserve : 0;
    if (volume->wanted_bytes <= usable)
        return 0;
    if (volume->space.total_bytes == 0) {
        char *here = path_directory_of(volume->first);
        int refused = refuse(p, -EINVAL, EXIT_CODE_USAGE,
                             "%.300s: a file system without any space (as /proc is): no place for "
                             "files; name a directory on the storage that is to be tested",
                             here);
        free(here);
        return refused;
    }
    /* Reserve=0 would mean the default rule. */
    bool lower_helps = volume->wanted_bytes + (uint64_t)UNITS_MIB <= available;
    char *directory = path_directory_of(volume->first);
    int error =
        refuse(p, -ENOSPC, EXIT_CODE_INCOMPLETE,
               "%.300s: the files there need %s, but the file system has %s free, of which %s must "
               "stay free (Reserve); make the files smaller (--size, InitialSize) or free space%s",
               directory, human_size(volume->wanted_bytes).text, human_size(available).text,
               human_size(reserve).text, lower_helps ? "; --set CONFIG.Reserve=1M lowers it" : "");
    free(directory);
    return error;
}

static int volume_of(struct planner *p, struct volume *volumes, size_t *count, const char *path,
                     struct volume **out)
{
    struct plan_space space;
    char *directory = path_directory_of(path);
    int error = p->machine->space(p->machine->context, directory, &space);
    if (error)
        error = refuse(p, error, EXIT_CODE_USAGE,
                       "%.300s: %s; the directory must exist (a missing mount point would test "
                       "another disk)",
                       directory, strerror(-error));
    free(directory);
    if (error)
        return error;
    size_t i = 0;
    while (i < *count && volumes[i].space.device != space.device)
        i++;
    if (i == *count)
        volumes[(*count)++] = (struct volume){.space = space, .first = path};
    *out = &volumes[i];
    return 0;
}

/* What an earlier file of ours at path gives back. */
static uint64_t reusable_of(const struct planner *p, const char *path)
{
    bool goes = p->machine->reusable_bytes && p->settings->delete_files_at_startup;
    return goes ? p->machine->reusable_bytes(p->machine->context, path) : 0;
}

static int add_backups(struct planner *p, struct volume *volumes, size_t *count)
{
    const struct plan *plan = p->plan;
    struct volume *volume;
    int error = 0;
    for (unsigned i = 0; i < plan->backup_count && !error; i++) {
        const struct plan_backup *backup = &plan->backups[i];
        error = volume_of(p, volumes, count, backup->path, &volume);
        if (error)
            break;
        volume->wanted_bytes += backup->size_bytes + (i == 0 ? plan->restore_bytes : 0);
        volume->reusable_bytes += reusable_of(p, backup->path);
    }
    return error;
}

static int check_space(struct planner *p)
{
    struct plan *plan = p->plan;
    size_t count = 0;
    struct volume *volumes = calloc(plan->file_count + plan->backup_count, sizeof *volumes);
    if (!volumes)
        return refuse(p, -ENOMEM, EXIT_CODE_INCOMPLETE, "no memory for the list of file systems");
    int error = 0;
    for (unsigned i = 0; i < plan->file_count && !error; i++) {
        const struct plan_file *file = &plan->files[i];
        struct volume *volume;
        error = volume_of(p, volumes, &count, file->path, &volume);
        if (error)
            break;
        /* what its users need may need its growth */
        bool grows = file->tempdb && !file->is_log;
        volume->wanted_bytes += grows ? plan_file_capacity(file) : file->size_bytes;
        volume->reusable_bytes += reusable_of(p, file->path);
    }
    if (!error)
        error = add_backups(p, volumes, &count);
    for (size_t i = 0; i < count && !error; i++)
        error = check_volume(p, &volumes[i]);
    free(volumes);
    return error;
}

/* ---- the rest ---- */

static int check_cpus(struct planner *p, const char *key, const struct cpu_list *cpus)
{
    const struct cpu_list *may = &p->machine->allowed;
    char given[CPU_LIST_TEXT_MAX], refused[CPU_LIST_TEXT_MAX], allowed[CPU_LIST_TEXT_MAX];
    struct cpu_list beyond = cpu_list_without(cpus, may);
    if (cpu_list_is_empty(may) || cpu_list_is_empty(&beyond))
        return 0;
    cpu_list_write(cpus, given, sizeof given);
    cpu_list_text(&beyond, refused, sizeof refused);
    cpu_list_text(may, allowed, sizeof allowed);
    return refuse(p, -EINVAL, EXIT_CODE_USAGE,
                  "%s=%s names CPU %s, which this process may not use (taskset, a container's "
                  "cpuset, or no such CPU); allowed are CPU %s; 0 = any",
                  key, given, refused, allowed);
}

static int plan_cpus(struct planner *p)
{
    p->plan->cpus = p->settings->affinity;
    p->plan->io_cpus = p->settings->io_affinity;
    int error = check_cpus(p, "Affinity", &p->plan->cpus);
    return error ? error : check_cpus(p, "IOAffinity", &p->plan->io_cpus);
}

/* CPUs that workers may run on: those of Affinity, else all. */
static unsigned cpus_for_workers(const struct planner *p)
{
    unsigned given = cpu_list_count(&p->settings->affinity);
    return given ? given : p->machine->cpus;
}

static void plan_workers(struct planner *p)
{
    unsigned wanted = (unsigned)p->settings->cpu_count;
    if (wanted == 0)
        wanted = cpus_for_workers(p);
    if (p->settings->cpu_count == 0 && wanted > WORKERS_UNASKED_MAX) {
        plan_note(&p->notes, "workers: %d for %u CPUs, SQLIOSim's limit; CPUCount may be up to %d",
                  WORKERS_UNASKED_MAX, wanted, WORKER_MAX);
        wanted = WORKERS_UNASKED_MAX;
    }
    p->plan->workers = wanted ? wanted : 1;
    p->plan->numa = p->machine->numa;
    numa_keep(&p->plan->numa,
              cpu_list_is_empty(&p->settings->affinity) ? &p->machine->allowed
                                                        : &p->settings->affinity,
              p->plan->workers);
    p->plan->queue_depth = (unsigned)p->settings->queue_depth;
    p->plan->test_cycle_ns = (uint64_t)p->settings->test_cycle_duration_ns;
}

static int plan_seed(struct planner *p)
{
    p->plan->seed = (uint64_t)p->settings->seed;
    while (p->plan->seed == 0) {
        p->plan->seed_drawn = true;
        if (getrandom(&p->plan->seed, sizeof p->plan->seed, 0) != sizeof p->plan->seed)
            return refuse(p, -EIO, EXIT_CODE_INCOMPLETE,
                          "the system gives no random number for the seed");
        p->plan->seed &= INT64_MAX; /* so that --seed takes it */
    }
    return 0;
}

static int add_snapshots(struct planner *p)
{
    int error = plan_add_snapshots(p->plan, p->profile, p->message);
    if (error)
        *p->exit_code = error == -ENOMEM ? EXIT_CODE_INCOMPLETE : EXIT_CODE_USAGE;
    return error;
}

static void note_buffering(struct planner *p)
{
    if (!p->settings->no_buffering)
        plan_note(&p->notes, "NoBuffering=FALSE: all files go through the page cache, as SQL "
                             "Server's never do; speed is that of memory as well as of the device, "
                             "and integrity is WARN at best");
}

static void keep_notes(struct planner *p)
{
    memcpy(p->plan->notes, p->notes.text, sizeof p->plan->notes);
    p->plan->note_count = p->notes.count;
}

int plan_make_on(struct plan *plan, const struct profile *profile,
                 const struct plan_machine *machine, const struct plan_notes *notes,
                 char message[PLAN_MESSAGE_MAX], int *exit_code)
{
    struct planner p = {.plan = plan,
                        .profile = profile,
                        .settings = profile_config(profile),
                        .machine = machine,
                        .message = message,
                        .exit_code = exit_code};
    memset(plan, 0, sizeof *plan);
    message[0] = '\0';
    *exit_code = 0;
    if (notes)
        p.notes = *notes;
    plan_workers(&p);
    int error = plan_cpus(&p);
    if (!error)
        error = plan_seed(&p);
    if (!error)
        error = plan_files(&p);
    if (!error)
        error = check_logs(&p);
    if (!error)
        error = plan_pool(&p);
    if (!error && plan_backups(plan, profile))
        error = refuse(&p, -ENOMEM, EXIT_CODE_INCOMPLETE, "no memory for the list of backup files");
    if (!error)
        error = check_new_extents(&p);
    if (!error)
        plan_growth(plan, steps_max(&p), &p.notes);
    if (!error)
        error = check_space(&p);
    if (!error)
        error = add_snapshots(&p);
    note_buffering(&p);
    if (!error)
        note_all_pages(&p);
    plan->verify_within_ns = plan_verify_within_ns(profile);
    keep_notes(&p);
    return error;
}

int plan_make(struct plan *plan, const struct profile *profile, char message[PLAN_MESSAGE_MAX],
              int *exit_code)
{
    struct plan_machine *machine = alloc_zeroed(1, sizeof *machine); /* large: not on the stack */
    plan_look_at_machine(machine);
    int error = plan_make_on(plan, profile, machine, NULL, message, exit_code);
    free(machine);
    return error;
}

void plan_free(struct plan *plan)
{
    plan_backups_free(plan);
    free(plan->files);
    for (unsigned i = 0; i < plan->snapshot_count; i++)
        free(plan->snapshots[i].path);
    free(plan->snapshots);
    memset(plan, 0, sizeof *plan);
}
