/* passes.c - the table and the store of [PassN]; see passes.h. */
#include "config/passes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "config/preset.h"
#include "config/profile_private.h"

#define FIELD(member) OPT_FIELD(struct pass_settings, member)

static const struct opt pass_opts[] = {
    {.name = "Name",
     .type = OPT_STRING,
     .def = "",
     FIELD(name),
     .help = "What the report and the pass's folder are called; must be given."},
    {.name = "Command",
     .type = OPT_ENUM,
     .def = "run",
     .choices = "run|preflight",
     FIELD(command),
     .help = "What is done: a run, or a look at the directories before any."},
    {.name = "Preset",
     .type = OPT_STRING,
     .def = "",
     FIELD(preset),
     .help = "The preset of the run; empty = none."},
    {.name = "Options",
     .type = OPT_STRING,
     .def = "",
     FIELD(options),
     .help = "Options of a command line, parted by blanks, e.g. -d 10m --set "
             "CONFIG.StampFiles=TRUE."},
};

#undef FIELD

/* A preset that has passes itself would never end. */
static bool preset_is_series(const struct preset *preset)
{
    return strstr(preset->text, "\n[Pass") != NULL;
}

static int check_pass(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct pass_settings *pass = settings;
    const struct preset *preset = pass->preset != NULL ? preset_by_name(pass->preset) : NULL;

    if (pass->name == NULL || strlen(pass->name) > PASS_NAME_MAX) {
        snprintf(text, OPT_TEXT_MAX, "Name is missing, or longer than %d characters",
                 PASS_NAME_MAX);
    } else if (pass->preset != NULL && preset == NULL) {
        snprintf(text, OPT_TEXT_MAX, "Preset=%.64s: unknown; pagestorm config --presets lists them",
                 pass->preset);
    } else if (preset != NULL && preset_is_series(preset)) {
        snprintf(text, OPT_TEXT_MAX, "Preset=%.64s has passes itself", pass->preset);
    } else {
        return 0;
    }
    return -EINVAL;
}

const struct opt_section pass_section = {
    .name = "Pass",
    .numbered = true,
    .opts = pass_opts,
    .count = sizeof(pass_opts) / sizeof(pass_opts[0]),
    .size_bytes = sizeof(struct pass_settings),
    .help = "One of several runs that are made one after the other, N = 1, 2, 3 ...; a "
            "configuration with passes has no other sections.",
    .check = check_pass,
};

struct pass_state *profile_pass_at(struct profile *profile, unsigned number, struct opt_where where)
{
    for (size_t i = 0; i < profile->pass_count; i++) {
        if (profile->passes[i].settings.number == number) {
            return &profile->passes[i];
        }
    }
    if (profile->pass_count == PROFILE_PASSES_MAX) {
        profile_diag(profile, DIAG_ERROR, where, "[Pass%u]: more than %d passes", number,
                     PROFILE_PASSES_MAX);
        return NULL;
    }
    profile->passes =
        alloc_resized(profile->passes, profile->pass_count + 1, sizeof(*profile->passes));
    struct pass_state *pass = &profile->passes[profile->pass_count++];
    *pass = (struct pass_state){.keys = alloc_zeroed(pass_section.count, sizeof(*pass->keys))};
    opt_section_defaults(&pass_section, &pass->settings);
    pass->settings.number = number;
    pass->settings.where = where;
    return pass;
}

static int compare_numbers(const void *a, const void *b)
{
    unsigned left = ((const struct pass_state *)a)->settings.number;
    unsigned right = ((const struct pass_state *)b)->settings.number;

    return (left > right) - (left < right);
}

static void refuse_section(struct profile *profile, const char *name, unsigned number,
                           struct opt_where where)
{
    char digits[16] = "";

    if (number > 0) {
        snprintf(digits, sizeof(digits), "%u", number);
    }
    profile_diag(profile, DIAG_ERROR, where,
                 "[%s%s]: a configuration with [PassN] sections has nothing else; put it into a "
                 "file of its own and name that in the pass's Options (--cfg FILE)",
                 name, digits);
}

/* What a file says beside the passes would have no effect on them. */
static void refuse_others(struct profile *profile)
{
    if (profile->phase_count > 0) {
        refuse_section(profile, phase_section.name, profile->phases[0].settings.number,
                       profile->phases[0].settings.where);
    }
    for (size_t i = 0; i < profile->file_count; i++) {
        if (profile->files[i].settings.where.line > 0) {
            refuse_section(profile, file_section.name, profile->files[i].settings.number,
                           profile->files[i].settings.where);
        }
    }
    for (size_t i = 0; i < profile->section_count; i++) {
        const struct section_state *state = &profile->sections[i];
        for (size_t k = 0; k < state->section->count; k++) {
            if (state->keys[k].set && state->keys[k].where.line > 0) {
                refuse_section(profile, state->section->name, 0, state->keys[k].where);
                break;
            }
        }
    }
}

void profile_passes_finish(struct profile *profile)
{
    char text[OPT_TEXT_MAX];

    if (profile->pass_count == 0) {
        return;
    }
    qsort(profile->passes, profile->pass_count, sizeof(*profile->passes), compare_numbers);
    for (size_t i = 0; i < profile->pass_count; i++) {
        const struct pass_state *pass = &profile->passes[i];
        if (check_pass(&pass->settings, text) != 0) {
            profile_diag(profile, DIAG_ERROR, pass->settings.where, "[Pass%u] %s",
                         pass->settings.number, text);
        }
    }
    refuse_others(profile);
}

void profile_passes_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->pass_count; i++) {
        opt_section_free(&pass_section, &profile->passes[i].settings);
        free(profile->passes[i].keys);
    }
    free(profile->passes);
}

size_t profile_pass_count(const struct profile *profile)
{
    return profile->pass_count;
}

const struct pass_settings *profile_pass(const struct profile *profile, size_t index)
{
    assert(index < profile->pass_count);
    return &profile->passes[index].settings;
}
