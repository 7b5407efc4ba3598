/*
 * paths.h - from the names in a configuration to the names on this machine.
 *
 * f:\sqliosim.mdx is looked up in the maps (f: = /mnt/data; the longest match wins and the rest of
 * the name is kept), else its last component goes under the single --dir, else it is an error that
 * names both remedies.  name:stream becomes name.stream.  A relative name goes under the single
 * --dir, too, and is an error with several; without --dir it is relative to the current directory,
 * as with SQLIOSim.  A name that begins with '/' keeps its backslashes.
 *
 * Nothing here looks at the file system.
 */
#ifndef CONFIG_PATHS_H
#define CONFIG_PATHS_H

#include "config/profile.h"

struct path_rules {
    const char *const *dirs; /* --dir, in order */
    size_t dir_count;
    const char *const *maps; /* "f:=/mnt/data" */
    size_t map_count;
};

/* Rewrite every [FileN] name; errors become diagnostics. */
int paths_apply(struct profile *profile, const struct path_rules *rules) OPT_CHECK;
/* The name without empty, "." and ".." components, for comparing (a lexical ".." may be wrong where
 * a directory is a symbolic link, so never open it); malloc'd, never NULL. */
char *path_normalised(const char *name) OPT_CHECK;
/* "/a/b" of "/a/b/c", "." of "c"; malloc'd, never NULL. */
char *path_directory_of(const char *path) OPT_CHECK;
/* "c" of "/a/b/c" and of "c"; part of path. */
const char *path_last_name(const char *path);
/* One name; the result is malloc'd into *out.  -EINVAL with text. */
int path_map(const char *name, const struct path_rules *rules, char **out,
             char text[OPT_TEXT_MAX]) OPT_CHECK;

#endif
