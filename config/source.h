/*
 * source.h - front ends: they turn their input into profile_set() calls.
 *
 * A front end knows syntax, never options.  source_ini reads SQLIOSim's configuration files (any
 * encoding, comments, repeated keys); it is the only code in config/ that opens a file.
 */
#ifndef CONFIG_SOURCE_H
#define CONFIG_SOURCE_H

#include "config/profile.h"

#define SOURCE_LINE_MAX 4096      /* bytes of one line, as UTF-8; a backslash at its end is text */
#define SOURCE_FILE_MAX (4 << 20) /* bytes of a configuration file; the largest known is 2 KB */

/* Read PATH into profile; every problem becomes a diagnostic with file and line.  0 or -errno
 * (unreadable, a directory, binary, too long a line, or a syntax error that hides settings). */
int source_ini_load(struct profile *profile, const char *path) OPT_CHECK;
/* The same for text in memory (tests, fuzzing, presets); name is used in messages. */
int source_ini_text(struct profile *profile, const char *name, const char *text,
                    size_t size_bytes) OPT_CHECK;
/* Is there something of that name to read?  (SQLIOSim reads ./sqliosim.cfg.ini when it exists.) */
bool source_ini_present(const char *path);
/* "Section.Key=value" of --set. */
int source_set_option(struct profile *profile, const char *setting) OPT_CHECK;

#endif
