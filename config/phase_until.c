/*
 * phase_until.c - [PhaseN] Until: the users that a phase waits for.
 *
 * A list of section names.  What users can come through with stands in their section (opt.h:
 * through), so this file knows none of them.
 */
#include <string.h>
#include <strings.h>

#include "config/nearest.h"
#include "config/profile_private.h"

#define SEPARATORS     ", \t"
#define UNTIL_NAME_MAX 64

/* The next name at *at, which moves behind it; 0: none is left. */
static size_t next_name(const char **at, const char **name)
{
    *name = *at + strspn(*at, SEPARATORS);
    size_t length = strcspn(*name, SEPARATORS);
    *at = *name + length;
    return length;
}

static bool is_name(const char *name, size_t length, const char *section)
{
    return strlen(section) == length && strncasecmp(name, section, length) == 0;
}

bool profile_phase_awaits(const struct profile *profile, size_t index, const char *section)
{
    const char *at = profile_phase(profile, index)->until;
    const char *name;
    size_t length;

    while (at != NULL && (length = next_name(&at, &name)) > 0) {
        if (is_name(name, length, section)) {
            return true;
        }
    }
    return false;
}

void phase_until_text(const struct phase_settings *settings, char out[PHASE_UNTIL_TEXT_MAX])
{
    out[0] = '\0';
    if (settings->until != NULL) {
        bool several = strpbrk(settings->until, SEPARATORS) != NULL;
        snprintf(out, PHASE_UNTIL_TEXT_MAX, ", until %.120s %s done", settings->until,
                 several ? "are" : "is");
    }
}

/* ---- mistakes ---- */

/* Of users. */
static const struct section_state *section_of(const struct profile *own, const char *name,
                                              size_t length)
{
    for (size_t i = 0; i < own->section_count; i++) {
        const struct opt_section *section = own->sections[i].section;
        if (is_name(name, length, section->name) && opt_find(section, "UserCount") != NULL) {
            return &own->sections[i];
        }
    }
    return NULL;
}

/* "BackupUser (a full backup of each database), DbccUser (...)" */
static void list_possible(const struct profile *own, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < own->section_count && used < size; i++) {
        const struct opt_section *section = own->sections[i].section;
        if (section->through != NULL) {
            used += (size_t)snprintf(out + used, size - used, "%s%s (%s)", used > 0 ? ", " : "",
                                     section->name, section->through);
        }
    }
}

static bool has_no_users(const struct section_state *state)
{
    char text[OPT_STRING_MAX + 1];

    opt_get(opt_find(state->section, "UserCount"), state->settings, text, sizeof(text));
    return strcmp(text, "0") == 0;
}

static void check_name(struct profile *profile, const struct phase_state *phase,
                       struct opt_where where, const char *name, size_t length)
{
    const struct section_state *state = section_of(phase->own, name, length);
    unsigned number = phase->settings.number;
    char word[UNTIL_NAME_MAX], quoted[2 * UNTIL_NAME_MAX], possible[OPT_TEXT_MAX / 2];

    snprintf(word, sizeof(word), "%.*s", (int)length, name);
    diag_quote(word, quoted, sizeof(quoted));
    list_possible(phase->own, possible, sizeof(possible));
    if (state == NULL) {
        struct nearest nearest;
        nearest_init(&nearest, word);
        for (size_t i = 0; i < phase->own->section_count; i++) {
            if (phase->own->sections[i].section->through != NULL) {
                nearest_offer(&nearest, phase->own->sections[i].section->name);
            }
        }
        const char *meant = nearest_name(&nearest);
        profile_diag(profile, DIAG_ERROR, where,
                     "[Phase%u] Until=%s: there are no such users%s%s%s; a phase can wait for %s",
                     number, quoted, meant ? " (did you mean " : "", meant ? meant : "",
                     meant ? "?)" : "", possible);
    } else if (state->section->through == NULL) {
        profile_diag(profile, DIAG_ERROR, where,
                     "[Phase%u] Until=%s: these go on for as long as the phase does; a phase can "
                     "wait for %s",
                     number, quoted, possible);
    } else if (has_no_users(state)) {
        profile_diag(profile, DIAG_ERROR, where,
                     "[Phase%u] Until=%s: there are none in this phase, so nobody would end it; "
                     "set %s.UserCount, or leave them out of Until",
                     number, quoted, state->section->name);
    }
}

void profile_until_check(struct profile *profile, const struct phase_state *phase)
{
    const char *at = phase->settings.until;
    const char *name;
    size_t length;
    unsigned names = 0;
    struct opt_where where =
        profile_place_of(&phase_section, phase->keys, "Until", phase->settings.where);

    while (at != NULL && (length = next_name(&at, &name)) > 0) {
        check_name(profile, phase, where, name, length);
        names++;
    }
    if (names == 0 && phase->settings.until != NULL) {
        profile_diag(profile, DIAG_ERROR, where, "[Phase%u] Until names nobody",
                     phase->settings.number);
    } else if (names == 0 && phase->settings.duration_min_ns > 0) {
        profile_diag(
            profile, DIAG_WARNING,
            profile_place_of(&phase_section, phase->keys, "DurationMin", phase->settings.where),
            "[Phase%u] DurationMin has no effect without Until: the phase lasts Duration",
            phase->settings.number);
    }
}
