/* preset.c - finding, applying and describing presets; see preset.h. */
#include "config/preset.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "config/nearest.h"
#include "config/passes.h"
#include "config/sizes.h"
#include "config/source.h"
#include "config/units.h"

#define INDENT 4

const struct preset *preset_by_name(const char *name)
{
    for (size_t i = 0; i < presets_count; i++) {
        if (strcasecmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

const char *preset_nearest(const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, name);
    for (size_t i = 0; i < presets_count; i++) {
        nearest_offer(&nearest, presets[i].name);
    }
    return nearest_name(&nearest);
}

int preset_apply(const struct preset *preset, struct profile *profile)
{
    char name[OPT_TEXT_MAX];

    snprintf(name, sizeof(name), "preset %s", preset->name);
    return source_ini_text(profile, name, preset->text, strlen(preset->text));
}

/* ---- description ---- */

/* The comment that the file begins with, as text: its first line as a heading. */
static void print_comment(const char *text, FILE *out)
{
    for (const char *line = text; *line == ';'; line += strcspn(line, "\n") + 1) {
        const char *begin = line + 1 + (line[1] == ' ');
        int length = (int)strcspn(begin, "\n");
        int indent = line == text || length == 0 ? 0 : INDENT;
        fprintf(out, "%*s%.*s\n", indent, "", length, begin);
    }
}

static void print_sizes(const struct profile *profile, FILE *out)
{
    const struct sizes_settings *sizes = profile_section(profile, sizes_section.name);
    char data[UNITS_TEXT_MAX], least[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];
    char log[UNITS_TEXT_MAX], log_most[UNITS_TEXT_MAX], pool[UNITS_TEXT_MAX];

    if (profile_file_count(profile) > 0) {
        fprintf(out, "%*sSizes    as its [FileN] sections say\n", INDENT, "");
        return;
    }
    units_human_size(sizes->data_bytes, data, sizeof(data));
    units_human_size(sizes->data_bytes_min, least, sizeof(least));
    units_human_hundredths(sizes->data_share, share, sizeof(share));
    units_human_hundredths(sizes->log_share, log, sizeof(log));
    units_human_size(sizes->log_bytes_max, log_most, sizeof(log_most));
    units_human_hundredths(sizes->pool_share, pool, sizeof(pool));
    fprintf(out,
            "%*sSizes    data %s, at most %s of the free space, at least %s;\n"
            "%*s         log %s of the data up to %s; pool %s of the data\n",
            INDENT, "", data, share, least, INDENT, "", log, log_most, pool);
}

static void print_time(const struct profile *profile, FILE *out)
{
    const struct config_settings *settings = profile_config(profile);
    char warm_up[UNITS_TEXT_MAX], rated[UNITS_TEXT_MAX], stress[UNITS_TEXT_MAX];

    units_human_duration(settings->rated_warm_up_ns, warm_up, sizeof(warm_up));
    units_human_duration(settings->rated_duration_ns, rated, sizeof(rated));
    units_human_duration(settings->test_cycle_duration_ns, stress, sizeof(stress));
    fprintf(out, "%*sTime     ", INDENT, "");
    if (settings->rated_duration_ns > 0) {
        fprintf(out, "%s of warm-up and %s judged%s", warm_up, rated,
                settings->test_cycle_duration_ns > 0 ? ", then " : "; ");
    }
    if (settings->test_cycle_duration_ns > 0) {
        fprintf(out, "%s of load; ", stress);
    }
    fputs("then every page is read back\n", out);
}

static void print_passes(const struct profile *profile, FILE *out)
{
    for (size_t i = 0; i < profile_pass_count(profile); i++) {
        const struct pass_settings *pass = profile_pass(profile, i);
        fprintf(out, "%*s%-8s %s: %s %s\n", INDENT, "", i == 0 ? "Passes" : "", pass->name,
                pass->preset != NULL ? pass->preset : "every directory",
                pass->options != NULL ? pass->options : "");
    }
}

static void print_preset(const struct preset *preset, struct profile *profile, FILE *out)
{
    int rc = preset_apply(preset, profile);

    assert(rc == 0);
    rc = profile_finish(profile);
    assert(rc == 0);
    print_comment(preset->text, out);
    if (profile_pass_count(profile) > 0) {
        print_passes(profile, out);
    } else {
        print_sizes(profile, out);
        print_time(profile, out);
    }
}

void presets_print(const struct preset *one, struct profile *(*profile_new)(void), FILE *out)
{
    const struct preset *first = one != NULL ? one : presets;
    size_t count = one != NULL ? 1 : presets_count;

    for (size_t i = 0; i < count; i++) {
        struct profile *profile = profile_new();
        if (i > 0) {
            fputc('\n', out);
        }
        print_preset(&first[i], profile, out);
        profile_free(profile);
    }
}
