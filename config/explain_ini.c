/*
 * explain_ini.c - `pagestorm config --explain FILE`.
 *
 * Says what the file asks for, not what a machine will make of it: names are shown as written.
 */
#include "config/explain_ini.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config/profile_private.h"
#include "config/source.h"
#include "config/units.h"
#include "config/wrap.h"

#define WIDTH       100
#define INDENT      12
#define AUTO_USERS  8 /* SQLIOSim: UserCount=-1 is min(CPUCount * 2, 8) */
#define SHOWN_VALUE 256

static void explain_row(const struct opt *opt, const void *settings, unsigned line, FILE *out)
{
    char value[OPT_STRING_MAX + 1];
    char human[OPT_STRING_MAX + 1];
    char shown[SHOWN_VALUE];

    opt_get(opt, settings, value, sizeof(value));
    opt_human(opt, settings, human, sizeof(human));
    diag_quote(value, shown, sizeof(shown));
    fprintf(out, "  line %-4u %s = %s", line, opt->name, opt->type == OPT_INT ? human : shown);
    if (opt->type != OPT_INT && strcmp(value, human) != 0) {
        fprintf(out, ", which is %s", human);
    }
    if (opt->def[0] == '\0') {
        fputs("\n", out);
    } else if (strcasecmp(value, opt->def) == 0) {
        fputs(" (the default)\n", out);
    } else {
        fprintf(out, " (default: %s)\n", opt->def);
    }
    fprintf(out, "%*s", INDENT, "");
    wrap_print(out, opt->help, INDENT, INDENT, WIDTH);
}

static void explain_keys(const struct opt_section *section, const void *settings,
                         const struct key_state *keys, FILE *out)
{
    size_t unset = 0;

    for (size_t i = 0; i < section->count; i++) {
        if (keys[i].set) {
            explain_row(&section->opts[i], settings, keys[i].where.line, out);
        } else {
            unset++;
        }
    }
    if (unset == 0) {
        return;
    }
    fprintf(out, "  left at their defaults:");
    for (size_t i = 0, shown = 0; i < section->count; i++) {
        if (!keys[i].set) {
            const struct opt *opt = &section->opts[i];
            char value[OPT_STRING_MAX + 1];
            opt_get(opt, settings, value, sizeof(value)); /* some derive from other settings */
            fprintf(out, "%s %s=%s", shown++ % 4 == 0 ? "\n     " : ",", opt->name, value);
        }
    }
    fputs("\n", out);
}

static void explain_users(const struct section_state *state, int64_t cpu_count, FILE *out)
{
    const struct opt *opt = opt_find(state->section, "UserCount");
    char value[UNITS_TEXT_MAX];
    int64_t users;

    if (opt == NULL || opt->type != OPT_INT) {
        return;
    }
    opt_get(opt, state->settings, value, sizeof(value));
    if (units_int(value, &users) != 0) {
        return;
    }
    int64_t automatic = cpu_count * 2 < AUTO_USERS ? cpu_count * 2 : AUTO_USERS;
    fprintf(out, "  %-18s %" PRId64 "%s\n", state->section->name, users < 0 ? automatic : users,
            users < 0 ? "  (automatic: twice the CPUs, at most 8)" : "");
}

static void explain_files(const struct profile *profile, FILE *out)
{
    int64_t data_bytes = 0;
    int64_t log_bytes = 0;
    char data[UNITS_TEXT_MAX];
    char log[UNITS_TEXT_MAX];

    for (size_t i = 0; i < profile->file_count; i++) {
        const struct file_state *file = &profile->files[i];
        fprintf(out, "\n[%s%u]  a %s%s\n", file_section.name, file->settings.number,
                file->settings.sparse ? "sparse " : "",
                file->settings.log_file ? "transaction log" : "data file");
        explain_keys(&file_section, &file->settings, file->keys, out);
        *(file->settings.log_file ? &log_bytes : &data_bytes) += file->settings.initial_size_bytes;
    }
    units_human_size(data_bytes, data, sizeof(data));
    units_human_size(log_bytes, log, sizeof(log));
    if (profile->file_count == 0) {
        fputs("\nFiles: none named; --dir DIR makes one data and one log file in DIR.\n", out);
    } else {
        fprintf(out, "\nFiles: %zu; data %s, log %s at the start.\n", profile->file_count, data,
                log);
    }
}

static void explain_phases(const struct profile *profile, FILE *out)
{
    for (size_t i = 0; i < profile->phase_count; i++) {
        const struct phase_state *phase = &profile->phases[i];
        fprintf(out,
                "\n[%s%u]  a part of the main part, with these settings on top of the others\n",
                phase_section.name, phase->settings.number);
        explain_keys(&phase_section, &phase->settings, phase->keys, out);
        for (size_t s = 0; s < phase->own->section_count; s++) {
            const struct section_state *own = &phase->own->sections[s];
            for (size_t k = 0; k < own->section->count; k++) {
                if (own->keys[k].set) {
                    fprintf(out, "  [%s]\n", own->section->name);
                    explain_row(&own->section->opts[k], own->settings, own->keys[k].where.line,
                                out);
                }
            }
        }
    }
}

static void explain_all(const struct profile *profile, const char *path, int64_t cpu_count,
                        FILE *out)
{
    int64_t workers = profile_config(profile)->cpu_count;

    workers = workers > 0 ? workers : cpu_count;
    fprintf(out, "%s\n", path);
    for (size_t i = 0; i < profile->section_count; i++) {
        const struct section_state *state = &profile->sections[i];
        fprintf(out, "\n[%s]  %s\n", state->section->name, state->section->help);
        explain_keys(state->section, state->settings, state->keys, out);
    }
    explain_files(profile, out);
    explain_phases(profile, out);
    fprintf(out, "\nUsers with %" PRId64 " CPU%s:\n", workers, workers == 1 ? "" : "s");
    for (size_t i = 0; i < profile->section_count; i++) {
        explain_users(&profile->sections[i], workers, out);
    }
}

int config_explain(struct profile *profile, const char *path, int64_t cpu_count, FILE *out)
{
    int load_rc = source_ini_load(profile, path);
    int rc = profile_finish(profile);

    if (load_rc == 0 || profile_file_count(profile) > 0) {
        explain_all(profile, path, cpu_count, out);
    }
    return load_rc != 0 ? load_rc : rc;
}
