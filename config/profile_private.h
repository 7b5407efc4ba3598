/*
 * profile_private.h - what a profile is made of; for the profile_*.c files and explain_ini.c only.
 *
 * Invariants: sections[0] is [CONFIG]; keys has one element a row of the section's table, in the
 * table's order; every where.source is interned in sources; no more than PROFILE_FILES_MAX files.
 */
#ifndef CONFIG_PROFILE_PRIVATE_H
#define CONFIG_PROFILE_PRIVATE_H

#include "config/passes.h"
#include "config/profile.h"

struct key_state {
    bool set; /* by the user */
    struct opt_where where;
};

struct section_state {
    const struct opt_section *section;
    void *settings;
    struct key_state *keys;
};

struct file_state {
    struct file_settings settings;
    struct key_state *keys;
};

struct phase_state {
    struct phase_settings settings;
    struct key_state *keys;
    struct profile *own; /* what it sets of other sections; after finish everything */
};

struct pass_state {
    struct pass_settings settings;
    struct key_state *keys;
};

struct text_set {
    char **items;
    size_t count;
};

struct profile {
    struct section_state *sections;
    size_t section_count;
    struct file_state *files;
    size_t file_count, file_capacity;
    struct phase_state *phases;
    size_t phase_count, phase_capacity;
    struct pass_state *passes;
    size_t pass_count;
    struct diag *diags;
    size_t diag_count, diag_capacity;
    size_t level_count[2];   /* by enum diag_level, dropped ones included */
    struct text_set sources; /* owned names of where.source */
    struct text_set unknown; /* section names that were already complained of */
    size_t repeated;         /* settings of a file that replaced an earlier one of it */
    struct opt_where repeated_last;
    bool strict;
    bool finished;
    struct profile *rated; /* owned unless it is the profile itself; or NULL */
    bool too_many_files;
    bool too_many_phases;
};

#define PROFILE_REPEATED_MAX 5 /* repeated settings that are warned of one by one */

/* Sections of actors, those after [CONFIG]. */
size_t profile_actor_section_count(const struct profile *profile);
/* Position of a row in its table: index into keys. */
size_t profile_row(const struct opt_section *section, const struct opt *opt);
/* The copy of text that lives as long as the profile. */
const char *profile_intern(struct profile *profile, const char *text);
/* Is name in the set (any case)? If not, it is added and the answer is false. */
bool text_set_seen(struct text_set *set, const char *name);
void text_set_free(struct text_set *set);
/* N of "File12", any case: 0 when the name is not of that form, -1 when N is not acceptable. */
int profile_file_number(const char *section);
/* The same of any numbered section: "Phase12" with its stem. */
int profile_section_number(const char *section, const struct opt_section *numbered);
/* All defaults, for the same sections. */
struct profile *profile_create_like(const struct profile *profile);
/* The phase of this number, made if it is new; NULL when there are too many, which is said once. */
struct phase_state *profile_phase_at(struct profile *profile, unsigned number,
                                     struct opt_where where);
/* Rules between the Shares of all sections of settings; complaints go to profile. */
void profile_shares_check(struct profile *profile, const struct profile *settings,
                          const char *heading, struct opt_where where);
/* The users that a phase waits for: known, with an end, and there. */
void profile_until_check(struct profile *profile, const struct phase_state *phase);
void profile_phases_finish(struct profile *profile);
void profile_phases_free(struct profile *profile);
/* The same for passes. */
struct pass_state *profile_pass_at(struct profile *profile, unsigned number,
                                   struct opt_where where);
void profile_passes_finish(struct profile *profile);
void profile_passes_free(struct profile *profile);
/* The last place where one of the keys named in text was set. */
struct opt_where profile_place_of(const struct opt_section *section, const struct key_state *keys,
                                  const char *text, struct opt_where fallback);
/* The key's state, or NULL when section or key is unknown. */
const struct key_state *profile_key(const struct profile *profile, const char *section,
                                    const char *key);

#endif
