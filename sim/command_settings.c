/*
 * command_settings.c - arguments, configuration, plan and paths of a run, checked and printed.
 *
 * Invariant: nothing here creates or changes a file (--save is command_run.c's).
 */
#include "sim/command_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/alloc.h"
#include "config/load_steps.h"
#include "config/passes.h"
#include "config/paths.h"
#include "config/preset.h"
#include "config/units.h"
#include "patterns/backup_user.h"
#include "patterns/pattern.h"
#include "sim/plan_backup.h"
#include "sim/plan_tempdb.h"
#include "sim/run_actors.h"
#include "sim/verdict_rules.h"

#define PATTERN_SECTIONS_MAX 64
#define RATED_MAIN_PART_NS   UNITS_MIN_NS /* a shorter main part means: a short run */

static const struct opt_where command_line = {.source = "command line"};

struct profile *profile_create_with_patterns(void)
{
    const struct opt_section *sections[PATTERN_SECTIONS_MAX];
    size_t count = pattern_sections(sections, PATTERN_SECTIONS_MAX);
    return profile_create(sections, count);
}

void profile_print_diags(const struct profile *profile, FILE *out)
{
    for (size_t i = 0; i < profile_diag_count(profile); i++) {
        const struct diag *diag = profile_diag_at(profile, i);
        fprintf(out, "%s: %s", diag->level == DIAG_ERROR ? "error" : "warning", diag->where.source);
        if (diag->where.line)
            fprintf(out, ":%u", diag->where.line);
        fprintf(out, ": %s\n", diag->text);
    }
}

/* ---- settings ---- */

static bool has_named_file(const struct profile *profile)
{
    for (size_t i = 0; i < profile_file_count(profile); i++)
        if (profile_file(profile, i)->file_name)
            return true;
    return false;
}

static void warn_without_effect(struct profile *profile, const struct run_options *options)
{
    if (!has_named_file(profile))
        return;
    if (options->size_bytes)
        profile_diag(profile, DIAG_WARNING, command_line,
                     "--size has no effect: the configuration has [FileN] sections");
    if (options->data_dirs.count || options->log_dirs.count)
        profile_diag(profile, DIAG_WARNING, command_line,
                     "--data-dir and --log-dir have no effect: the configuration has [FileN] "
                     "sections");
}

static bool load_has_rate(const struct profile *profile)
{
    for (size_t i = 0; i < patterns_count; i++)
        if (run_pattern_has_rate(profile, patterns[i]))
            return true;
    return false;
}

void profile_settle_rated_phase(struct profile *profile, bool with_configuration)
{
    struct config_settings *settings = profile_config_mutable(profile);
    bool asked = profile_is_set(profile, config_section.name, "RatedDuration");
    if (!asked && (with_configuration || settings->test_cycle_duration_ns < RATED_MAIN_PART_NS))
        settings->rated_duration_ns = 0;
}

/* Settings with rates of their own, as those of most presets, are rated by themselves.  Else the
 * rated phase is `oltp`. */
static void settle_rated_phase(struct run_setup *setup)
{
    struct profile *profile = setup->profile;
    struct config_settings *settings = profile_config_mutable(profile);
    const struct run_options *options = &setup->options;
    profile_settle_rated_phase(profile, options->config_path || options->sqliosim_mode);
    if (settings->rated_duration_ns == 0 && settings->need_iops)
        profile_diag(profile, DIAG_WARNING, command_line,
                     "Need has no effect: there is no rated phase; --rated 60s asks for one");
    if (settings->rated_duration_ns && (options->preset || run_load_ios(profile) > 0))
        profile_rate_by_itself(profile);
    else if (settings->rated_duration_ns)
        profile_rate_by(profile, preset_by_name(RATED_PRESET));
    if (settings->need_iops && settings->rated_duration_ns &&
        run_load_ios(profile_rated(profile)) == 0)
        profile_diag(profile, DIAG_ERROR, command_line,
                     "Need=%" PRId64 ": the load asks for no data I/Os by a rate, so there is "
                     "nothing to scale; set RandomUser.RatePerSecond and ReadsPerTransaction",
                     settings->need_iops);
}

static bool is_of_command_line(const struct profile *profile, const char *key)
{
    struct opt_where where;
    return profile_where(profile, config_section.name, key, &where) &&
           strcmp(where.source, command_line.source) == 0;
}

/* --duration is the time that is measured: of all phases together, or of the rated phase where a
 * preset has that alone. */
static void settle_duration(struct run_setup *setup)
{
    struct profile *profile = setup->profile;
    struct config_settings *settings = profile_config_mutable(profile);
    if (!is_of_command_line(profile, "TestCycleDuration"))
        return;
    if (profile_phase_count(profile)) {
        profile_phases_scale(profile, settings->test_cycle_duration_ns);
        return;
    }
    if (!setup->options.preset || setup->options.main_part_ns > 0 ||
        settings->rated_duration_ns == 0 || is_of_command_line(profile, "RatedDuration"))
        return;
    settings->rated_duration_ns = settings->test_cycle_duration_ns;
    settings->test_cycle_duration_ns = 0;
    if (settings->rated_warm_up_ns > settings->rated_duration_ns)
        settings->rated_warm_up_ns = settings->rated_duration_ns;
}

static bool phases_have_rate(const struct profile *profile)
{
    for (size_t i = 0; i < profile_phase_count(profile); i++)
        if (load_has_rate(profile_phase_profile(profile, i)))
            return true;
    return false;
}

/* Without a rated phase: of all [PhaseN]; steps would be phases of their own. */
static void check_load_of_phases(struct profile *profile, const struct load_steps *steps,
                                 const char *load)
{
    if (!phases_have_rate(profile))
        profile_diag(profile, DIAG_WARNING, command_line,
                     "Load=%.60s has no effect: no user of a phase has a rate, so there is nothing "
                     "to scale; set RandomUser.RatePerSecond",
                     load);
    else if (steps->count > 1 || steps->list[0].max)
        profile_diag(profile, DIAG_ERROR, command_line,
                     "Load=%.60s: the [PhaseN] sections are the load, and one percentage scales "
                     "all of them, as in --load 80%%; give each phase its own Load, or run once "
                     "for each step",
                     load);
}

static void check_load(struct run_setup *setup)
{
    struct profile *profile = setup->profile;
    const struct config_settings *settings = profile_config(profile);
    struct load_steps steps;
    char why[OPT_TEXT_MAX];
    if (!settings->load || load_steps_parse(settings->load, &steps, why)) /* said by [CONFIG] */
        return;
    if (settings->rated_duration_ns == 0 && profile_phase_count(profile))
        check_load_of_phases(profile, &steps, settings->load);
    else if (settings->rated_duration_ns == 0)
        profile_diag(profile, DIAG_WARNING, command_line,
                     "Load has no effect: there is no rated phase; --rated 60s asks for one");
    else if (!load_has_rate(profile_rated(profile)))
        profile_diag(profile, DIAG_ERROR, command_line,
                     "Load=%.60s: no user has a rate, so there is nothing to scale; set "
                     "RandomUser.RatePerSecond",
                     settings->load);
}

/* --dir without [FileN]: files of our own. */
static int add_files(struct run_setup *setup)
{
    const struct run_options *options = &setup->options;
    struct plan_dirs dirs = {
        .dirs = (const char *const *)options->dirs.items,
        .dir_count = options->dirs.count,
        .data_dirs = (const char *const *)options->data_dirs.items,
        .data_dir_count = options->data_dirs.count,
        .log_dirs = (const char *const *)options->log_dirs.items,
        .log_dir_count = options->log_dirs.count,
        .size_bytes = options->size_bytes,
    };
    char message[PLAN_MESSAGE_MAX];
    int exit_code = 0;
    if (has_named_file(setup->profile) ||
        dirs.dir_count + dirs.data_dir_count + dirs.log_dir_count == 0)
        return 0;
    if (plan_add_files(setup->profile, &dirs, &setup->machine, &setup->notes, message,
                       &exit_code)) {
        profile_diag(setup->profile, DIAG_ERROR, command_line, "%.500s", message);
        return exit_code;
    }
    return 0;
}

/* Where somebody uses tempdb and no [FileN] is one of its files. */
static int add_tempdb(struct run_setup *setup)
{
    const struct run_options *options = &setup->options;
    const struct text_list *dirs =
        options->tempdb_dirs.count ? &options->tempdb_dirs : &options->dirs;
    struct plan_tempdb_dirs where = {(const char *const *)dirs->items, dirs->count};
    char message[PLAN_MESSAGE_MAX];
    if (options->tempdb_dirs.count && !plan_tempdb_is_used(setup->profile, &setup->machine))
        profile_diag(setup->profile, DIAG_WARNING, command_line,
                     "--tempdb-dir has no effect: nothing uses tempdb (TempDbUser.Sorts, Hashes, "
                     "VersionStoreRate and WorktableRate are 0)");
    if (plan_add_tempdb(setup->profile, &where, &setup->machine, &setup->notes, message) == 0)
        return 0;
    profile_diag(setup->profile, DIAG_ERROR, command_line, "%.500s", message);
    return EXIT_CODE_USAGE;
}

/* --dir is all four directories. Directory=NUL: nowhere. */
static void settle_backup_directory(struct run_setup *setup)
{
    const struct text_list *dirs = &setup->options.dirs;
    const struct backup_user_settings *s = profile_section(setup->profile, "BackupUser");
    bool said = s->directory && s->directory[0];
    if (!said && dirs->count && plan_backups_are_wanted(setup->profile))
        (void)profile_set(setup->profile, "BackupUser", "Directory", dirs->items[0], command_line);
}

/* Everything that can be said of the settings, also after a first mistake. */
static int load_settings(struct run_setup *setup, int argc, char **argv)
{
    struct profile *profile = setup->profile;
    struct run_options *options = &setup->options;
    int parse = run_options_parse(options, profile, argc, argv);
    if (options->help)
        return 0;
    int apply = run_options_apply(options, profile);
    if (options->backup_dirs.count > 1)
        profile_diag(
            profile, DIAG_ERROR, command_line,
            "--backup-dir: one directory takes the backups of all databases; give it once");
    else if (options->backup_dirs.count)
        apply |= profile_set(profile, "BackupUser", "Directory", options->backup_dirs.items[0],
                             command_line);
    struct path_rules rules = {
        .dirs = (const char *const *)options->dirs.items,
        .dir_count = options->dirs.count,
        .maps = (const char *const *)options->maps.items,
        .map_count = options->maps.count,
    };
    int mapped = paths_apply(profile, &rules);
    warn_without_effect(profile, options);
    settle_rated_phase(setup);
    check_load(setup);
    int exit_code = parse || apply || mapped ? EXIT_CODE_USAGE : add_files(setup);
    settle_duration(setup);
    if (exit_code == 0)
        exit_code = add_tempdb(setup);
    settle_backup_directory(setup);
    if (profile_finish(profile) && exit_code == 0)
        exit_code = EXIT_CODE_USAGE;
    /* What a file that could not be read did not say is not missing. */
    if (exit_code == 0 && profile_check_files(profile))
        exit_code = EXIT_CODE_USAGE;
    if (profile_error_count(profile) && exit_code == 0)
        exit_code = EXIT_CODE_USAGE;
    return exit_code;
}

int run_setup_make(struct run_setup *setup, int argc, char **argv, bool sqliosim_mode)
{
    char message[PLAN_MESSAGE_MAX];
    memset(setup, 0, sizeof *setup);
    run_options_init(&setup->options);
    setup->options.sqliosim_mode = sqliosim_mode;
    setup->profile = profile_create_with_patterns();
    plan_look_at_machine(&setup->machine);
    int exit_code = load_settings(setup, argc, argv);
    if (setup->options.help)
        return 0;
    profile_print_diags(setup->profile, stderr);
    if (exit_code || profile_pass_count(setup->profile) > 0) /* each pass has its own plan */
        return exit_code;
    setup->planned = true;
    if (plan_make_on(&setup->plan, setup->profile, &setup->machine, &setup->notes, message,
                     &exit_code)) {
        fprintf(stderr, "error: %s\n", message);
        return exit_code;
    }
    return 0;
}

void run_setup_free(struct run_setup *setup)
{
    if (setup->planned)
        plan_free(&setup->plan);
    profile_free(setup->profile);
    run_options_free(&setup->options);
    memset(setup, 0, sizeof *setup);
}

/* ---- paths ---- */

static bool same_existing(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

bool run_setup_same_file(const char *a, const char *b)
{
    char *left = path_directory_of(a), *right = path_directory_of(b);
    bool same = same_existing(a, b) ||
                (strcmp(path_last_name(a), path_last_name(b)) == 0 && same_existing(left, right));
    free(left);
    free(right);
    return same;
}

static unsigned check_same_files(const struct plan *plan)
{
    unsigned problems = 0;
    for (unsigned i = 0; i < plan->file_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (!run_setup_same_file(plan->files[i].path, plan->files[j].path))
                continue;
            fprintf(stderr, "error: %s and %s are one file; give each [FileN] a file of its own\n",
                    plan->files[j].path, plan->files[i].path);
            problems++;
        }
    }
    return problems;
}

static unsigned check_path(const struct run_setup *setup, const char *path)
{
    char message[FILE_MESSAGE_MAX];
    struct file_mark mark;
    enum file_owner owner = file_probe(path, &mark, message);
    if (owner == FILE_ABSENT)
        return 0;
    bool may_go = profile_config(setup->profile)->delete_files_at_startup ||
                  setup->options.reuse_dir; /* which asks for its own files, and says so */
    if (owner == FILE_OURS && may_go)
        return 0;
    if (owner == FILE_OURS)
        fprintf(
            stderr,
            "error: %s is of an earlier run, and DeleteFilesAtStartup=FALSE keeps it; let it be "
            "replaced (DeleteFilesAtStartup=TRUE), take it over (--reuse RUN_DIR) or choose "
            "another path\n",
            path);
    else
        fprintf(stderr, "error: %s\n", message);
    return 1;
}

int run_setup_check_paths(const struct run_setup *setup)
{
    unsigned problems = 0;
    for (unsigned i = 0; i < setup->plan.file_count; i++)
        problems += check_path(setup, setup->plan.files[i].path);
    for (unsigned i = 0; i < setup->plan.snapshot_count; i++)
        problems += check_path(setup, setup->plan.snapshots[i].path);
    if (problems == 0)
        problems = check_same_files(&setup->plan);
    return problems ? EXIT_CODE_USAGE : 0;
}
