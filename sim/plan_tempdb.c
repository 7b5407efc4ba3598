/* plan_tempdb.c - see plan_tempdb.h. */
#include "sim/plan_tempdb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "config/sizes.h"
#include "config/units.h"
#include "patterns/pattern.h"

#define TEMPDB_FILES_MAX  8 /* more only against contention: section 8 */
#define LOG_BYTES_MIN     (8 * UNITS_MIB)
#define LOG_BYTES_LEAST   (2 * (uint64_t)UNITS_MIB) /* of one that is named by [FileN] */
#define LOG_BYTES_MAX     (256 * UNITS_MIB)
#define LOG_SHARE         8
#define GRAIN_BYTES       (64 * UNITS_KIB)
#define FILE_SYSTEM_BYTES (256 * UNITS_KIB) /* extents with system pages at the start of a file */
#define SYSTEM_SHARE      512 /* an extent with a PFS page every 1,011, map pages far fewer */

/* ---- what it is needed for ---- */

static void add_of(const struct profile *profile, const struct plan_machine *machine,
                   struct pattern_tempdb *sum)
{
    for (size_t i = 0; i < patterns_count; i++) {
        const struct pattern *pattern = patterns[i];
        if (!pattern->tempdb || !pattern->section)
            continue;
        const void *settings = profile_section(profile, pattern->section->name);
        if (!settings || pattern->user_count(settings, machine->cpus) == 0)
            continue;
        struct pattern_tempdb one = pattern->tempdb(settings);
        sum->need_bytes += one.need_bytes;
        if (one.size_bytes > sum->size_bytes)
            sum->size_bytes = one.size_bytes;
    }
}

/* What another time of the run needs. */
static void raise_to(const struct profile *profile, const struct plan_machine *machine,
                     struct pattern_tempdb *most)
{
    struct pattern_tempdb other = {0};
    add_of(profile, machine, &other);
    if (other.need_bytes > most->need_bytes)
        most->need_bytes = other.need_bytes;
    if (other.size_bytes > most->size_bytes)
        most->size_bytes = other.size_bytes;
}

/* The rated phase and each phase of the main part have actors of their own, at other times. */
static struct pattern_tempdb needed(const struct profile *profile,
                                    const struct plan_machine *machine)
{
    struct pattern_tempdb most = {0};
    add_of(profile, machine, &most);
    if (profile_rated(profile))
        raise_to(profile_rated(profile), machine, &most);
    for (size_t i = 0; i < profile_phase_count(profile); i++)
        raise_to(profile_phase_profile(profile, i), machine, &most);
    return most;
}

bool plan_tempdb_is_used(const struct profile *profile, const struct plan_machine *machine)
{
    return needed(profile, machine).need_bytes > 0;
}

/* ---- its files ---- */

static bool has_tempdb(const struct profile *profile)
{
    for (size_t i = 0; i < profile_file_count(profile); i++)
        if (profile_file(profile, i)->file_name && profile_file(profile, i)->tempdb)
            return true;
    return false;
}

static int64_t user_data_bytes(const struct profile *profile)
{
    int64_t sum = 0;
    for (size_t i = 0; i < profile_file_count(profile); i++) {
        const struct file_settings *file = profile_file(profile, i);
        sum += file->file_name && !file->log_file ? file->initial_size_bytes : 0;
    }
    return sum;
}

/* The directory of the first data file; NULL: there is none.  The caller's. */
static char *first_directory(const struct profile *profile)
{
    for (size_t i = 0; i < profile_file_count(profile); i++) {
        const struct file_settings *file = profile_file(profile, i);
        if (file->file_name && !file->log_file)
            return path_directory_of(file->file_name);
    }
    return NULL;
}

static int64_t default_bytes(const struct profile *profile, uint64_t need_bytes, int64_t files)
{
    const struct sizes_settings *sizes = profile_section(profile, sizes_section.name);
    int64_t share = sizes_share(user_data_bytes(profile), sizes->tempdb_share);
    int64_t need = (int64_t)(need_bytes + need_bytes / 4) + files * UNITS_MIB;
    return share > need ? share : need;
}

static int file_add(struct profile *profile, const char *directory, unsigned number, bool is_log,
                    int64_t bytes, int64_t max_bytes)
{
    static const struct opt_where where = {.source = "tempdb"};
    size_t length = strlen(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    char *path = number ? alloc_printf("%s%stempdb%u.mdx", directory, slash, number + 1)
                        : alloc_printf("%s%stempdb.%s", directory, slash, is_log ? "ldx" : "mdx");
    int error = profile_add_tempdb_file(profile, path, is_log, bytes, max_bytes, where);
    free(path);
    return error;
}

static int64_t share_of_file(int64_t bytes, unsigned files)
{
    int64_t each = bytes / files / GRAIN_BYTES * GRAIN_BYTES;
    return each < PLAN_DATA_BYTES_MIN ? PLAN_DATA_BYTES_MIN : each;
}

/* bytes: of all data files at the start; max_bytes: of all that they may reach. */
static int files_add(struct profile *profile, const struct plan_tempdb_dirs *dirs, unsigned files,
                     int64_t bytes, int64_t max_bytes)
{
    int64_t each = share_of_file(bytes, files), most = share_of_file(max_bytes, files);
    int64_t log = bytes / LOG_SHARE / GRAIN_BYTES * GRAIN_BYTES;
    int error = 0;
    log = log < LOG_BYTES_MIN ? LOG_BYTES_MIN : log > LOG_BYTES_MAX ? LOG_BYTES_MAX : log;
    for (unsigned i = 0; i < files && !error; i++)
        error = file_add(profile, dirs->dirs[i % dirs->count], i, false, each, most);
    return error ? error : file_add(profile, dirs->dirs[0], 0, true, log, log);
}

int plan_add_tempdb(struct profile *profile, const struct plan_tempdb_dirs *dirs,
                    const struct plan_machine *machine, struct plan_notes *notes,
                    char message[PLAN_MESSAGE_MAX])
{
    struct pattern_tempdb want = needed(profile, machine);
    if (want.need_bytes == 0 || has_tempdb(profile))
        return 0;
    char *beside = dirs->count ? NULL : first_directory(profile);
    const char *list[] = {beside};
    struct plan_tempdb_dirs own = {list, 1};
    if (!dirs->count && !beside)
        return 0; /* no file at all: said elsewhere */
    unsigned files = machine->cpus < TEMPDB_FILES_MAX ? machine->cpus : TEMPDB_FILES_MAX;
    files = files ? files : 1;
    /* Who names a size gets that, and growth as far as the users need. */
    int64_t most = default_bytes(profile, want.need_bytes, files);
    int64_t bytes = want.size_bytes ? (int64_t)want.size_bytes : most;
    most = most < bytes ? bytes : most;
    int error = files_add(profile, dirs->count ? dirs : &own, files, bytes, most);
    if (error)
        snprintf(message, PLAN_MESSAGE_MAX, "the files of tempdb cannot be planned: %s",
                 strerror(-error));
    char size[UNITS_TEXT_MAX];
    units_human_size(bytes, size, sizeof size);
    plan_note(notes,
              "tempdb: %u equal data files, %s in all, in %.120s; [FileN] TempDb=TRUE, "
              "--tempdb-dir or TempDbUser.Size say otherwise",
              files, size, dirs->count ? dirs->dirs[0] : beside);
    free(beside);
    return error;
}

/* ---- does it suffice? ---- */

static uint64_t usable_bytes(const struct plan *plan)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct plan_file *file = &plan->files[i];
        if (file->tempdb && !file->is_log)
            sum += plan_file_capacity(file) - plan_file_capacity(file) / SYSTEM_SHARE -
                   FILE_SYSTEM_BYTES;
    }
    return sum;
}

/* Of tempdb's log files together; 0: it has none. */
static uint64_t log_bytes(const struct plan *plan)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        sum += plan->files[i].tempdb && plan->files[i].is_log ? plan->files[i].size_bytes : 0;
    return sum;
}

static bool has_user_database(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->file_count; i++)
        if (!plan->files[i].tempdb)
            return true;
    return false;
}

int plan_check_tempdb(const struct plan *plan, const struct profile *profile,
                      const struct plan_machine *machine, char message[PLAN_MESSAGE_MAX])
{
    uint64_t need = needed(profile, machine).need_bytes, usable = usable_bytes(plan);
    char wanted[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    if (!has_user_database(plan)) {
        snprintf(message, PLAN_MESSAGE_MAX,
                 "tempdb alone is no server: add a database with a data and a log file, [FileN] "
                 "without TempDb");
        return -EINVAL;
    }
    if (log_bytes(plan) > 0 && log_bytes(plan) < LOG_BYTES_LEAST) {
        snprintf(message, PLAN_MESSAGE_MAX,
                 "the log of tempdb is below 2 MiB, too small for allocations and checkpoints to "
                 "share: raise its InitialSize (SQL Server's is 8 MB)");
        return -EINVAL;
    }
    if (need <= usable)
        return 0;
    units_human_size((int64_t)need, wanted, sizeof wanted);
    units_human_size((int64_t)usable, there, sizeof there);
    if (usable == 0)
        snprintf(message, PLAN_MESSAGE_MAX,
                 "tempdb is used ([TempDbUser] needs %s) and has no files: add [FileN] with "
                 "TempDb=TRUE, or give --tempdb-dir",
                 wanted);
    else
        snprintf(message, PLAN_MESSAGE_MAX,
                 "tempdb has room for %s, and its users may need %s at a time: make its files "
                 "larger ([FileN] InitialSize, MaxSize), or lower Sorts, SortSize, Hashes "
                 "or HashSize",
                 there, wanted);
    return -EINVAL;
}
