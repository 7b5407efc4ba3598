/*
 * command_plan.c - see command_plan.h.
 *
 * What it does not do: decide anything (plan.c does), or write.
 */
#include "sim/command_plan.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "config/preset.h"
#include "config/units.h"
#include "patterns/backup_user.h"
#include "config/wrap.h"
#include "patterns/pattern.h"
#include "sim/environment.h"
#include "sim/live_time.h"
#include "sim/run_actors.h"
#include "sim/speed_rules.h"
#include "sim/verdict_rules.h"

#define LIST_COLUMNS  100
#define LIST_INDENT   11
#define PART_TEXT_MAX 256 /* how long a phase is, in words */

struct size_text {
    char text[UNITS_TEXT_MAX];
};

static struct size_text duration_of(uint64_t ns)
{
    struct size_text out;
    uint64_t s = (ns + NS_PER_S / 2) / NS_PER_S;
    units_human_duration((int64_t)((s ? s : 1) * NS_PER_S), out.text, sizeof out.text);
    return out;
}

static struct size_text size_of(uint64_t bytes)
{
    struct size_text out;
    units_human_size((int64_t)bytes, out.text, sizeof out.text);
    return out;
}

/* Where a file will be, whatever the current directory is; the path itself when nobody can tell. */
static char *absolute_path(const char *path)
{
    char *directory = path_directory_of(path);
    char *real = realpath(directory, NULL);
    char *absolute =
        real ? alloc_printf("%s/%s", strcmp(real, "/") == 0 ? "" : real, path_last_name(path))
             : alloc_text(path);
    free(real);
    free(directory);
    return absolute;
}

static void print_files(const struct plan *plan, FILE *out)
{
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct plan_file *file = &plan->files[i];
        char *path = absolute_path(file->path);
        fprintf(out, "  %-8s %s  %s  ", file->is_log ? "log" : "data", path,
                size_of(file->size_bytes).text);
        bool grows = file->tempdb && !file->is_log && plan_file_capacity(file) > file->size_bytes;
        if (grows)
            fprintf(out, "tempdb, grows to %s\n", size_of(plan_file_capacity(file)).text);
        else if (file->tempdb)
            fprintf(out, "tempdb\n");
        else
            fprintf(out, "database %u%s\n", file->database + 1, file->sparse ? ", sparse" : "");
        free(path);
    }
}

static void print_backups(const struct run_setup *setup, FILE *out)
{
    const struct plan *plan = &setup->plan;
    const struct backup_user_settings *backup = profile_section(setup->profile, "BackupUser");
    for (unsigned i = 0; i < plan->backup_count; i++) {
        const struct plan_backup *file = &plan->backups[i];
        char *path = absolute_path(file->path);
        fprintf(out, "  %-8s %s  %s  database %u%s\n", "backup", path,
                size_of(file->size_bytes).text, file->database + 1,
                file->log ? ", log backups" : "");
        free(path);
    }
    if (backup && backup->user_count && plan->backup_count == 0)
        fprintf(out, "  backup   read and written nowhere, as to DISK='NUL'; --dir or "
                     "--backup-dir DIR writes it\n");
    if (plan->restore_bytes)
        fprintf(out,
                "  restore  beside the backups at the end of the main part: %s, removed "
                "again\n",
                size_of(plan->restore_bytes).text);
}

static void print_users(const struct run_setup *setup, FILE *out)
{
    const char *before = "";
    fprintf(out, "  users    ");
    for (size_t i = 0; i < patterns_count; i++) {
        const struct pattern *pattern = patterns[i];
        if (!pattern->user_count || !pattern->section)
            continue;
        const void *settings = profile_section(setup->profile, pattern->section->name);
        int64_t users = plan_users(&setup->plan, pattern, settings);
        if (users == 0)
            continue;
        fprintf(out, "%s%s %" PRId64, before, pattern->name, users);
        before = ", ";
    }
    if (!before[0])
        fprintf(out, "none");
    fputc('\n', out);
}

/* Whose rates the rated phase has. */
static const char *rated_name(const struct run_setup *setup)
{
    if (setup->options.preset)
        return setup->options.preset;
    return profile_rated(setup->profile) == setup->profile ? "its own rates" : RATED_PRESET;
}

/* What arrives in the rated phase, or why nothing is judged. */
static void print_rated(const struct run_setup *setup, FILE *out)
{
    const struct config_settings *settings = profile_config(setup->profile);
    char length[UNITS_TEXT_MAX], warm_up[UNITS_TEXT_MAX];
    if (settings->rated_duration_ns == 0) {
        fprintf(out, "  rated    no; response times are not judged (--rated 60s asks for it)\n");
        return;
    }
    double ios = run_load_ios(profile_rated(setup->profile));
    double asked = settings->need_iops && ios > 0 ? (double)settings->need_iops : ios;
    units_human_duration(settings->rated_duration_ns, length, sizeof length);
    units_human_duration(settings->rated_warm_up_ns, warm_up, sizeof warm_up);
    fprintf(out, "  rated    %s: %s data IOPS arrive for %s, after %s of warm-up",
            rated_name(setup), count_text((uint64_t)(asked + 0.5)).text, length, warm_up);
    if (settings->rated_duration_ns < SPEED_SECONDS_MIN * UNITS_S_NS)
        fprintf(out, "; too short to be judged, which takes %d s", SPEED_SECONDS_MIN);
    if (settings->load)
        fprintf(out, "; in steps of %s, %s each", settings->load, length);
    fputc('\n', out);
}

/* "10 s", or "30 s to 10 min, until BackupUser is done". */
static void part_length(const struct phase_settings *phase, char *out, size_t size)
{
    char least[UNITS_TEXT_MAX], length[UNITS_TEXT_MAX], until[PHASE_UNTIL_TEXT_MAX];
    units_human_duration(phase->duration_ns, length, sizeof length);
    units_human_duration(phase->duration_min_ns, least, sizeof least);
    phase_until_text(phase, until);
    if (!phase->until)
        snprintf(out, size, "%s", length);
    else if (phase->duration_min_ns)
        snprintf(out, size, "%s to %s%s", least, length, until);
    else
        snprintf(out, size, "at most %s%s", length, until);
}

/* "  phases   morning 20 s (judged), noon 10 s" */
static void print_parts(const struct run_setup *setup, FILE *out)
{
    const struct profile *profile = setup->profile;
    size_t count = profile_phase_count(profile);
    for (size_t i = 0; i < count; i++) {
        const struct phase_settings *phase = profile_phase(profile, i);
        char length[PART_TEXT_MAX], number[UNITS_TEXT_MAX];
        part_length(phase, length, sizeof length);
        snprintf(number, sizeof number, "Phase%u", phase->number);
        fprintf(out, "%s%s %s%s%s", i == 0 ? "  phases   " : ", ",
                phase->name ? phase->name : number, length, phase->rated ? " (judged)" : "",
                profile_phase_times(profile, i) > 1 ? " for each database" : "");
    }
    if (count)
        fputc('\n', out);
    if (count && profile_config(profile)->load && profile_config(profile)->rated_duration_ns == 0)
        fprintf(out, "           all rates at %s of what is set\n", profile_config(profile)->load);
}

/* Is the length of the main part the most that it can take? */
static bool ends_early(const struct profile *profile)
{
    for (size_t i = 0; i < profile_phase_count(profile); i++)
        if (profile_phase(profile, i)->until)
            return true;
    return false;
}

static void print_time(const struct run_setup *setup, FILE *out)
{
    char length[UNITS_TEXT_MAX];
    int64_t cycles = profile_config(setup->profile)->test_cycles;
    const char *most = ends_early(setup->profile) ? "at most " : "";
    if (cycles == 1 && setup->plan.test_cycle_ns == 0) {
        fprintf(out, "  time     no main part; every page is read back\n");
        return;
    }
    units_human_duration((int64_t)setup->plan.test_cycle_ns, length, sizeof length);
    if (cycles == 0)
        fprintf(out, "  time     cycles of %s%s until interrupted (Ctrl-C)", most, length);
    else if (cycles == 1)
        fprintf(out, "  time     %s%s of load", most, length);
    else
        fprintf(out, "  time     %" PRId64 " cycles of %s%s of load", cycles, most, length);
    fprintf(out, cycles == 1 ? ", then every page is read back\n"
                             : "; in each, every page is read back\n");
}

static void print_replaced(const struct plan *plan, FILE *out)
{
    char message[FILE_MESSAGE_MAX];
    struct file_mark mark;
    for (unsigned i = 0; i < plan->file_count; i++)
        if (file_probe(plan->files[i].path, &mark, message) == FILE_OURS)
            fprintf(out,
                    "  note     %s is of an earlier run and will be replaced "
                    "(DeleteFilesAtStartup)\n",
                    plan->files[i].path);
}

/* ---- volumes ---- */

/* Where it cannot be tried, creation will tell. */
static bool direct_works(const char *directory)
{
    struct file_direct direct;
    return file_direct_probe(directory, false, &direct) != 0 || direct.works;
}

static void print_volume(const struct environment_volume *volume, const char *directory, FILE *out)
{
    fprintf(out, "  volume   %s: %s on %s, %s, %s free%s\n",
            volume->mount_point[0] ? volume->mount_point : directory,
            volume->type[0] ? volume->type : "a file system",
            volume->source[0] ? volume->source : "a device", size_of(volume->total_bytes).text,
            size_of(volume->available_bytes).text,
            direct_works(directory) ? "" : "; no O_DIRECT there: the page cache is tested, too");
}

static const char *directory_on(char *const *directories, unsigned count, uint64_t device)
{
    struct stat st;
    for (unsigned i = 0; i < count; i++)
        if (stat(directories[i], &st) == 0 && st.st_dev == device)
            return directories[i];
    return count ? directories[0] : ".";
}

static void print_volumes(const struct plan *plan, FILE *out)
{
    struct environment environment;
    char **directories = alloc_zeroed(plan->file_count + 1, sizeof *directories);
    for (unsigned i = 0; i < plan->file_count; i++)
        directories[i] = path_directory_of(plan->files[i].path);
    if (environment_look(&environment, (const char *const *)directories, plan->file_count) == 0) {
        for (unsigned i = 0; i < environment.volume_count; i++) {
            const struct environment_volume *volume = &environment.volumes[i];
            print_volume(volume, directory_on(directories, plan->file_count, volume->device), out);
        }
        environment_free(&environment);
    }
    for (unsigned i = 0; i < plan->file_count; i++)
        free(directories[i]);
    free(directories);
}

static const char *durability_text(const struct config_settings *settings)
{
    if (!settings->write_through)
        return "without O_DSYNC (WriteThrough=FALSE): flushed";
    if (settings->alternate_write_through)
        return "without O_DSYNC: each write is flushed (AlternateWriteThrough)";
    return settings->forced_flush ? "with O_DSYNC (WriteThrough), and flushed (ForcedFlush)"
                                  : "with O_DSYNC (WriteThrough)";
}

static void print_opening(const struct config_settings *settings, FILE *out)
{
    fprintf(out, "  opened   %s; %s\n",
            settings->no_buffering
                ? "with O_DIRECT where the file system has it (NoBuffering)"
                : "through the page cache (NoBuffering=FALSE), which is tested, too",
            durability_text(settings));
}

/* ---- settings ---- */

struct list {
    FILE *out;
    unsigned columns; /* of the present line; 0: nothing yet */
};

static void list_add(struct list *list, const char *word)
{
    unsigned length = (unsigned)strlen(word);
    if (list->columns == 0)
        fputs("  settings ", list->out);
    else if (list->columns + length + 2 > LIST_COLUMNS)
        fputs(",\n           ", list->out);
    else
        fputs(", ", list->out);
    bool fresh = list->columns == 0 || list->columns + length + 2 > LIST_COLUMNS;
    list->columns = (fresh ? LIST_INDENT : list->columns + 2) + length;
    fputs(word, list->out);
}

/* What somebody set to something else than its default, for SQLIOSim's files name every key;
 * `pagestorm config --dump` has the rest. */
static void print_settings(const struct profile *profile, FILE *out)
{
    struct list list = {.out = out};
    unsigned as_default = 0;
    for (size_t i = 0; i < profile_section_count(profile); i++) {
        const void *settings;
        const struct opt_section *section = profile_section_at(profile, i, &settings);
        for (size_t j = 0; j < section->count; j++) {
            char value[OPT_TEXT_MAX];
            if (!profile_is_set(profile, section->name, section->opts[j].name))
                continue;
            opt_get(&section->opts[j], settings, value, sizeof value);
            if (strcasecmp(value, section->opts[j].def) == 0) {
                as_default++;
                continue;
            }
            char *word = alloc_printf("%s.%s=%s", section->name, section->opts[j].name, value);
            list_add(&list, word);
            free(word);
        }
    }
    if (list.columns && as_default)
        fprintf(out, "\n           and %u named with their defaults", as_default);
    fputs(list.columns ? "\n" : "  settings all by default\n", out);
}

static void print_limit(const struct config_settings *settings, FILE *out)
{
    if (settings->max_iops == 0 && settings->max_mb_per_s == 0)
        return;
    fprintf(out, "  limit    ");
    if (settings->max_iops)
        fprintf(out, "%" PRId64 " IOPS (MaxIops)%s", settings->max_iops,
                settings->max_mb_per_s ? ", " : "");
    if (settings->max_mb_per_s)
        fprintf(out, "%" PRId64 " MB/s (MaxMBps)", settings->max_mb_per_s);
    fprintf(out, " in the whole run; what waits for that counts in the response time\n");
}

static void print_rules(const struct profile *profile, FILE *out)
{
    char text[PROFILE_RULES_MAX];
    profile_rules_text(profile, text, sizeof text);
    fprintf(out, "  rules    ");
    wrap_print(out, text, LIST_INDENT, LIST_INDENT, LIST_COLUMNS);
}

/* ---- phases ---- */

static void print_phase(const struct run_setup *setup, enum phase phase, FILE *out)
{
    const struct config_settings *settings = profile_config(setup->profile);
    struct work_speed speed = {LIVE_TIME_ASSUMED_BYTES_PER_S, LIVE_TIME_ASSUMED_BYTES_PER_S};
    uint64_t bytes = live_time_bytes(&setup->plan, phase, settings);
    uint64_t ns = live_time_ns(&setup->plan, phase, settings, &speed);
    if (ns == 0)
        return;
    bool most =
        phase == PHASE_final_checkpoint || (phase == PHASE_stress && ends_early(setup->profile));
    fprintf(out, "  phase    %s: %s", phase_text(phase), most ? "at most " : "");
    if (bytes)
        fprintf(out, "%s, about %s\n", size_of(bytes).text, duration_of(ns).text);
    else
        fprintf(out, "%s\n", duration_of(ns).text);
}

static void print_phases(const struct run_setup *setup, FILE *out)
{
    const struct config_settings *settings = profile_config(setup->profile);
    struct work_speed speed = {LIVE_TIME_ASSUMED_BYTES_PER_S, LIVE_TIME_ASSUMED_BYTES_PER_S};
    uint64_t cycles = settings->test_cycles > 1 ? (uint64_t)settings->test_cycles - 1 : 0;
    uint64_t all = live_time_ns(&setup->plan, PHASE_create, settings, &speed) +
                   live_time_behind_ns(&setup->plan, PHASE_create, settings, &speed, cycles);
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        print_phase(setup, (enum phase)p, out);
    if (settings->test_cycles)
        fprintf(out, "  in all   %s %s, where the storage moves %.0f MB/s in sequence\n",
                ends_early(setup->profile) ? "at most about" : "about", duration_of(all).text,
                LIVE_TIME_ASSUMED_BYTES_PER_S / 1e6);
}

void command_plan_print(const struct run_setup *setup, const char *engine, FILE *out)
{
    const struct plan *plan = &setup->plan;
    fprintf(out, "plan\n");
    print_files(plan, out);
    print_backups(setup, out);
    print_volumes(plan, out);
    print_opening(profile_config(setup->profile), out);
    print_settings(setup->profile, out);
    print_rules(setup->profile, out);
    print_limit(profile_config(setup->profile), out);
    print_users(setup, out);
    fprintf(out, "  pool     %s", size_of(plan->pool_bytes).text);
    if (plan->buffer_bytes)
        fprintf(out, ", and %s for buffers of CHECKDB and backups",
                size_of(plan->buffer_bytes).text);
    fputc('\n', out);
    fprintf(out, "  workers  %u, %u I/Os outstanding each\n", plan->workers, plan->queue_depth);
    fprintf(out, "  engine   %s\n", engine);
    fprintf(out, "  seed     %" PRIu64 "%s\n", plan->seed,
            plan->seed_drawn ? " (drawn; --seed repeats it)" : "");
    print_rated(setup, out);
    print_parts(setup, out);
    print_time(setup, out);
    print_phases(setup, out);
    fprintf(out, "  writes   about %s before the load begins\n",
            size_of(plan->bytes_to_write).text);
    for (unsigned i = 0; i < plan->note_count; i++)
        fprintf(out, "  note     %s\n", plan->notes[i]);
    if (setup->options.reuse_dir)
        fprintf(out,
                "  note     the files of the run in %s are verified and used again: only the log "
                "is written anew\n",
                setup->options.reuse_dir);
    else
        print_replaced(plan, out);
}
