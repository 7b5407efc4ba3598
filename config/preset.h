/*
 * preset.h - named loads: lists of settings that come before everything the user sets.
 *
 * A preset is a row of the table in preset.c.  With --preset it lies below the configuration file;
 * the rated phase of a run without one uses `oltp` for its actors alone (profile_rate_by).
 * Threads: const data.
 */
#ifndef CONFIG_PRESET_H
#define CONFIG_PRESET_H

#include "config/profile.h"

struct preset_setting {
    const char *section, *key, *value;
};

struct preset {
    const char *name;
    const char *help;                      /* one or two sentences: what load, where from */
    const struct preset_setting *settings; /* ends with a NULL section */
};

extern const struct preset *const presets[];
extern const size_t presets_count;

/* Any case; NULL if unknown. */
const struct preset *preset_by_name(const char *name);
/* Set everything; 0, or -errno with diagnostics when the table names what does not exist. */
int preset_apply(const struct preset *preset, struct profile *profile) OPT_CHECK;
/* Name, help and settings of all, in 80 columns. */
void presets_print(FILE *out);

#endif
