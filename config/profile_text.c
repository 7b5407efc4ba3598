/*
 * profile_text.c - settings as text: the INI dump and the list of all options.
 *
 * Invariant: what profile_dump() writes, source_ini reads back to equal settings, and dumping those
 * gives the same text.
 */
#include <string.h>

#include "config/profile_private.h"
#include "config/wrap.h"

#define LIST_WIDTH      100
#define LIST_RANGE_ROOM 32 /* of the last column */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Would the reader take something off this value? */
static bool needs_quotes(const char *value)
{
    size_t length = strlen(value);
    bool paired =
        length >= 2 && (value[0] == '"' || value[0] == '\'') && value[0] == value[length - 1];

    return length > 0 && (paired || is_blank(value[0]) || is_blank(value[length - 1]));
}

static void dump_row(const struct opt *opt, const void *settings, FILE *out)
{
    char value[OPT_STRING_MAX + 1];

    opt_get(opt, settings, value, sizeof(value));
    const char *quote = needs_quotes(value) ? "\"" : "";
    fprintf(out, "%s=%s%s%s\n", opt->name, quote, value, quote);
}

static void dump_rows(const struct opt_section *section, const void *settings, FILE *out)
{
    for (size_t i = 0; i < section->count; i++) {
        dump_row(&section->opts[i], settings, out);
    }
}

static void dump_phase(const struct phase_state *phase, FILE *out)
{
    char value[OPT_STRING_MAX + 1];

    fprintf(out, "\n[%s%u]\n", phase_section.name, phase->settings.number);
    dump_rows(&phase_section, &phase->settings, out);
    for (size_t i = 0; i < phase->own->section_count; i++) {
        const struct section_state *own = &phase->own->sections[i];
        for (size_t k = 0; k < own->section->count; k++) {
            if (!own->keys[k].set) {
                continue;
            }
            opt_get(&own->section->opts[k], own->settings, value, sizeof(value));
            const char *quote = needs_quotes(value) ? "\"" : "";
            fprintf(out, "%s.%s=%s%s%s\n", own->section->name, own->section->opts[k].name, quote,
                    value, quote);
        }
    }
}

void profile_dump(const struct profile *profile, FILE *out)
{
    fputs(
        "; pagestorm configuration: every setting in effect.  \"pagestorm config --list\" "
        "explains\n"
        "; them.  A setting behind a ';' has no effect in this version; nor has one below a line\n"
        "; that says so.\n",
        out);
    for (size_t i = 0; i < profile->section_count; i++) {
        const struct section_state *state = &profile->sections[i];
        fprintf(out, "\n; %s\n[%s]\n", state->section->help, state->section->name);
        dump_rows(state->section, state->settings, out);
    }
    for (size_t i = 0; i < profile->file_count; i++) {
        const struct file_state *file = &profile->files[i];
        fprintf(out, "\n[%s%u]\n", file_section.name, file->settings.number);
        dump_rows(&file_section, &file->settings, out);
    }
    for (size_t i = 0; i < profile->phase_count; i++) {
        dump_phase(&profile->phases[i], out);
    }
    for (size_t i = 0; i < profile->pass_count; i++) {
        const struct pass_state *pass = &profile->passes[i];
        fprintf(out, "\n[%s%u]\n", pass_section.name, pass->settings.number);
        dump_rows(&pass_section, &pass->settings, out);
    }
}

static void list_row(const struct opt_section *section, const struct opt *opt, FILE *out)
{
    char range[OPT_TEXT_MAX];
    char notes[OPT_TEXT_MAX] = "";
    const char *shown = range;
    struct opt bare = *opt;

    bare.unit = NULL; /* it has a column */
    opt_range(&bare, range, sizeof(range));
    if (strncmp(shown, "allowed ", 8) == 0) {
        shown += 8;
    }
    bool fits = strlen(shown) <= LIST_RANGE_ROOM; /* else it follows the help */
    fprintf(out, "  %-26s %-8s %-14s %-16s %s\n", opt->name, opt_type_name(opt->type),
            opt->unit != NULL ? opt->unit : "-", opt->def[0] != '\0' ? opt->def : "(none)",
            fits ? shown : "see below");
    if (opt->alias != NULL) {
        snprintf(notes, sizeof(notes), " Also written %s.", opt->alias);
    }
    size_t used = strlen(notes);
    if (section == &config_section) {
        profile_versions_text(opt, notes + used, sizeof(notes) - used);
        used = strlen(notes);
    }
    if (!fits) {
        snprintf(notes + used, sizeof(notes) - used, " Range: %s.", shown);
        used = strlen(notes);
    }
    snprintf(notes + used, sizeof(notes) - used, "%s",
             (opt->flags & OPT_UNDOCUMENTED) != 0 ? " Not in SQLIOSim's documentation." : "");
    char help[2 * OPT_TEXT_MAX];
    snprintf(help, sizeof(help), "%s%s", opt->help, notes);
    fprintf(out, "%6s", "");
    wrap_print(out, help, 6, 6, LIST_WIDTH);
}

static void list_section(const struct opt_section *section, FILE *out)
{
    int column = fprintf(out, "\n[%s%s]  ", section->name, section->numbered ? "N" : "") - 1;

    wrap_print(out, section->help, (size_t)column, 2, LIST_WIDTH);
    for (size_t i = 0; i < section->count; i++) {
        list_row(section, &section->opts[i], out);
    }
}

void profile_list(const struct profile *profile, FILE *out)
{
    fprintf(out, "  %-26s %-8s %-14s %-16s %s\n", "KEY", "TYPE", "BARE NUMBER", "DEFAULT", "RANGE");
    for (size_t i = 0; i < profile->section_count; i++) {
        list_section(profile->sections[i].section, out);
    }
    list_section(&file_section, out);
    list_section(&phase_section, out);
    list_section(&pass_section, out);
}
