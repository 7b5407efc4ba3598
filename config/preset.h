/*
 * preset.h - named loads: configuration files that are built in.
 *
 * A preset is samples/<name>.ini and a line of presets.def; the build puts the text into the
 * program.  With --preset it lies below the configuration file; the rated phase of a run without
 * one uses `oltp` for its actors alone (profile_rate_by).
 *
 * The comment at the top of the file says what it is, line by line as `config --presets` prints it.
 * Threads: const data.
 */
#ifndef CONFIG_PRESET_H
#define CONFIG_PRESET_H

#include "config/profile.h"

struct preset {
    const char *name;
    const char *text; /* the file; zero-terminated */
};

extern const struct preset presets[]; /* in the order of presets.def */
extern const size_t presets_count;

/* Any case; NULL if unknown. */
const struct preset *preset_by_name(const char *name);
/* The name nearest to what was meant, or NULL. */
const char *preset_nearest(const char *name);
/* Set everything; 0, or -errno with diagnostics when the text names what does not exist. */
int preset_apply(const struct preset *preset, struct profile *profile) OPT_CHECK;
/* What one, or (NULL) each of them is, its sizes and its time, in 80 columns.  profile_new: an
 * empty profile with all sections, which is freed here. */
void presets_print(const struct preset *one, struct profile *(*profile_new)(void), FILE *out);

#endif
