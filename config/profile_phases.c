/*
 * profile_phases.c - [PhaseN]: parts of the main part, each with settings of its own.
 *
 * A phase has the keys of its own table, and any Section.Key of the other sections that may change
 * within a run.  Those it keeps in a profile of its own, which profile_phases_finish() completes
 * with the run's settings.
 *
 * Invariants: in a phase's profile a key is "set" only when the phase sets it; after finish the
 * phases stand in the order of N, and TestCycleDuration is the sum of their durations.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/alloc.h"
#include "config/profile_private.h"
#include "config/units.h"

#define FIELD(member) OPT_FIELD(struct phase_settings, member)

static const struct opt phase_opts[] = {
    {.name = "Name",
     .type = OPT_STRING,
     .def = "",
     FIELD(name),
     .help = "What reports call it, at most 60 characters; empty = PhaseN."},
    {.name = "Duration",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(duration_ns),
     .help = "Its length, the warm-up included; must be given. With Until its greatest length."},
    {.name = "Until",
     .type = OPT_STRING,
     .def = "",
     FIELD(until),
     .help = "Names of users, as in BackupUser,DbccUser: the phase ends when each of them is "
             "through with what it came to do. BackupUser: a full backup of each database; "
             "DbccUser: CHECKDB of each database."},
    {.name = "DurationMin",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(duration_min_ns),
     .help = "With Until: it goes on for so long even when all are through before."},
    {.name = "Rated",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(rated),
     .help = "Judge response times by [Thresholds]; its users need a rate (RatePerSecond)."},
    {.name = "WarmUp",
     .type = OPT_SECONDS,
     .def = "5",
     .min = "0",
     .max = "86400",
     .unit = "s",
     FIELD(warm_up_ns),
     .help = "Of a phase with Rated=TRUE: its beginning, which is not judged."},
    {.name = "Load",
     .type = OPT_DECIMAL,
     .def = "100",
     .min = "0.001",
     .max = "100000",
     .unit = "%",
     FIELD(load),
     .help = "All its rates together, in percent of what is set."},
    {.name = "Databases",
     .type = OPT_STRING,
     .def = "all",
     FIELD(databases),
     .help = "Whose files its users work on: all, the number of one database, or each: the phase "
             "is repeated for every database."},
};

#undef FIELD

/* -2: neither a word nor a number. */
static int64_t read_databases(const char *text)
{
    int64_t number;

    if (text == NULL || strcasecmp(text, "all") == 0) {
        return PHASE_DATABASES_ALL;
    }
    if (strcasecmp(text, "each") == 0) {
        return PHASE_DATABASES_EACH;
    }
    return units_int(text, &number) == 0 && number > 0 ? number : -2;
}

static int check_phase(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct phase_settings *phase = settings;

    if (phase->duration_ns == 0) {
        snprintf(text, OPT_TEXT_MAX, "Duration is missing or 0: say how long the phase is to be");
    } else if (phase->rated && phase->warm_up_ns >= phase->duration_ns) {
        snprintf(text, OPT_TEXT_MAX,
                 "WarmUp takes all of Duration: nothing is left to be judged; make Duration longer "
                 "or WarmUp shorter");
    } else if (phase->duration_min_ns > phase->duration_ns) {
        snprintf(text, OPT_TEXT_MAX, "DurationMin is above Duration: make one of them shorter");
    } else if (phase->name != NULL && strlen(phase->name) > PHASE_NAME_MAX) {
        snprintf(text, OPT_TEXT_MAX, "Name is longer than %d characters", PHASE_NAME_MAX);
    } else if (read_databases(phase->databases) == -2) {
        snprintf(text, OPT_TEXT_MAX,
                 "Databases is neither all nor each nor a number of a database");
    } else {
        return 0;
    }
    return -EINVAL;
}

const struct opt_section phase_section = {
    .name = "Phase",
    .numbered = true,
    .opts = phase_opts,
    .count = sizeof(phase_opts) / sizeof(phase_opts[0]),
    .size_bytes = sizeof(struct phase_settings),
    .help =
        "A part of the main part, N = 1, 2, 3 ...; all of them in this order are the main part. "
        "It has the run's settings, and any other on top as Section.Key=value.",
    .check = check_phase,
};

/* ---- the store ---- */

static int compare_numbers(const void *a, const void *b)
{
    unsigned left = ((const struct phase_state *)a)->settings.number;
    unsigned right = ((const struct phase_state *)b)->settings.number;

    return (left > right) - (left < right);
}

static struct phase_state *add_phase(struct profile *profile, unsigned number,
                                     struct opt_where where)
{
    if (profile->phase_count == profile->phase_capacity) {
        profile->phase_capacity = profile->phase_capacity * 2 + 8;
        profile->phases =
            alloc_resized(profile->phases, profile->phase_capacity, sizeof(*profile->phases));
    }
    struct phase_state *phase = &profile->phases[profile->phase_count++];
    *phase = (struct phase_state){.own = profile_create_like(profile)};
    opt_section_defaults(&phase_section, &phase->settings);
    phase->keys = alloc_zeroed(phase_section.count, sizeof(*phase->keys));
    phase->settings.number = number;
    phase->settings.where = where;
    return phase;
}

struct phase_state *profile_phase_at(struct profile *profile, unsigned number,
                                     struct opt_where where)
{
    for (size_t i = profile->phase_count; i > 0; i--) {
        if (profile->phases[i - 1].settings.number == number) {
            return &profile->phases[i - 1];
        }
    }
    if (profile->phase_count < PROFILE_PHASES_MAX) {
        return add_phase(profile, number, where);
    }
    if (!profile->too_many_phases) {
        profile_diag(profile, DIAG_ERROR, where,
                     "[Phase%u]: more than %d phases; this and the following are not read", number,
                     PROFILE_PHASES_MAX);
    }
    profile->too_many_phases = true;
    return NULL;
}

void profile_phases_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->phase_count; i++) {
        opt_section_free(&phase_section, &profile->phases[i].settings);
        free(profile->phases[i].keys);
        profile_free(profile->phases[i].own);
    }
    free(profile->phases);
}

size_t profile_phase_count(const struct profile *profile)
{
    return profile->phase_count;
}

const struct phase_settings *profile_phase(const struct profile *profile, size_t index)
{
    return index < profile->phase_count ? &profile->phases[index].settings : NULL;
}

int64_t phase_databases(const struct phase_settings *settings)
{
    return read_databases(settings->databases);
}

/* ---- durations ---- */

static bool has_data_file(const struct profile *profile, size_t before, int64_t database)
{
    for (size_t i = 0; i < before; i++) {
        const struct file_settings *file = &profile->files[i].settings;
        if (!file->log_file && file->database == database) {
            return true;
        }
    }
    return false;
}

static size_t databases_of(const struct profile *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->file_count; i++) {
        const struct file_settings *file = &profile->files[i].settings;
        count += !file->log_file && !has_data_file(profile, i, file->database);
    }
    return count;
}

size_t profile_phase_times(const struct profile *profile, size_t index)
{
    size_t databases = databases_of(profile);
    bool each = phase_databases(&profile->phases[index].settings) == PHASE_DATABASES_EACH;

    return each && databases > 0 ? databases : 1;
}

static int64_t total_ns_of(const struct profile *profile)
{
    int64_t sum_ns = 0;

    for (size_t i = 0; i < profile->phase_count; i++) {
        sum_ns +=
            profile->phases[i].settings.duration_ns * (int64_t)profile_phase_times(profile, i);
    }
    return sum_ns;
}

void profile_phases_scale(struct profile *profile, int64_t total_ns)
{
    int64_t now_ns = total_ns_of(profile);

    assert(!profile->finished);
    for (size_t i = 0; i < profile->phase_count && now_ns > 0; i++) {
        struct phase_settings *phase = &profile->phases[i].settings;
        double factor = (double)total_ns / (double)now_ns;
        phase->duration_ns = (int64_t)((double)phase->duration_ns * factor);
        if (factor < 1) {
            phase->duration_min_ns = (int64_t)((double)phase->duration_min_ns * factor);
            phase->warm_up_ns = (int64_t)((double)phase->warm_up_ns * factor);
        }
    }
}

/* ---- finish ---- */

/* What the phase does not set is the run's. */
static void complete_section(const struct section_state *run, struct section_state *own)
{
    char text[OPT_STRING_MAX + 1];
    char problem[OPT_TEXT_MAX];

    for (size_t i = 0; i < own->section->count; i++) {
        if (own->keys[i].set) {
            continue;
        }
        opt_get(&run->section->opts[i], run->settings, text, sizeof(text));
        int rc = opt_set(&own->section->opts[i], own->settings, text, problem);
        assert(rc == 0); /* opt_get's promise */
    }
}

const struct profile *profile_phase_profile(const struct profile *profile, size_t index)
{
    struct profile *own = profile->phases[index].own;

    assert(index < profile->phase_count);
    for (size_t i = 0; i < own->section_count && !profile->finished; i++) {
        complete_section(&profile->sections[i], &own->sections[i]);
    }
    return own;
}

static bool sets_any(const struct section_state *own)
{
    for (size_t i = 0; i < own->section->count; i++) {
        if (own->keys[i].set) {
            return true;
        }
    }
    return false;
}

/* Else the run's own shares were checked. */
static bool sets_share(const struct profile *own)
{
    for (size_t i = 0; i < own->section_count; i++) {
        if (profile_is_set(own, own->sections[i].section->name, "Share") ||
            profile_is_set(own, own->sections[i].section->name, "RatePerSecond")) {
            return true;
        }
    }
    return false;
}

/* Without one there is nothing to be judged. */
static bool has_rate(const struct profile *own)
{
    char text[UNITS_TEXT_MAX];

    for (size_t i = 0; i < own->section_count; i++) {
        const struct opt *rate = opt_find(own->sections[i].section, "RatePerSecond");
        if (rate == NULL) {
            continue;
        }
        opt_get(rate, own->sections[i].settings, text, sizeof(text));
        if (strcmp(text, "0") != 0) {
            return true;
        }
    }
    return false;
}

static void complete_phase(struct profile *profile, struct phase_state *phase)
{
    char text[OPT_TEXT_MAX];

    for (size_t i = 0; i < profile->section_count; i++) {
        struct section_state *own = &phase->own->sections[i];
        complete_section(&profile->sections[i], own);
        if (!sets_any(own) || own->section->check == NULL ||
            own->section->check(own->settings, text) == 0) {
            continue;
        }
        profile_diag(profile, DIAG_ERROR,
                     profile_place_of(own->section, own->keys, text, phase->settings.where),
                     "[Phase%u] with its settings of [%s]: %s", phase->settings.number,
                     own->section->name, text);
    }
    phase->own->finished = true;
    profile_until_check(profile, phase);
    if (sets_share(phase->own)) {
        snprintf(text, sizeof(text), "[Phase%u] ", phase->settings.number);
        profile_shares_check(profile, phase->own, text, phase->settings.where);
    }
    if (phase->settings.rated && !has_rate(phase->own)) {
        profile_diag(profile, DIAG_WARNING,
                     profile_place_of(&phase_section, phase->keys, "Rated", phase->settings.where),
                     "[Phase%u] Rated=TRUE, but no user has a RatePerSecond: it will not be judged",
                     phase->settings.number);
    }
}

static void check_one(struct profile *profile, const struct phase_state *phase)
{
    char text[OPT_TEXT_MAX];
    int64_t database = phase_databases(&phase->settings);

    if (phase_section.check(&phase->settings, text) != 0) {
        profile_diag(profile, DIAG_ERROR,
                     profile_place_of(&phase_section, phase->keys, text, phase->settings.where),
                     "[Phase%u] %s", phase->settings.number, text);
    } else if (database > 0 && profile->file_count > 0 &&
               !has_data_file(profile, profile->file_count, database)) {
        profile_diag(
            profile, DIAG_ERROR,
            profile_place_of(&phase_section, phase->keys, "Databases", phase->settings.where),
            "[Phase%u] Databases=%lld: no [FileN] is a data file of that database",
            phase->settings.number, (long long)database);
    }
}

void profile_phases_finish(struct profile *profile)
{
    struct config_settings *config = profile_config_mutable(profile);
    struct opt_where where;

    if (profile->phase_count == 0) {
        return;
    }
    qsort(profile->phases, profile->phase_count, sizeof(*profile->phases), compare_numbers);
    for (size_t i = 0; i < profile->phase_count; i++) {
        check_one(profile, &profile->phases[i]);
        complete_phase(profile, &profile->phases[i]);
    }
    int64_t total_ns = total_ns_of(profile);
    if (profile_where(profile, config_section.name, "TestCycleDuration", &where) &&
        where.line > 0 && config->test_cycle_duration_ns != total_ns) {
        profile_diag(profile, DIAG_WARNING, where,
                     "[CONFIG] TestCycleDuration has no effect: the main part is as long as its "
                     "[PhaseN] sections together");
    }
    config->test_cycle_duration_ns = total_ns;
}
