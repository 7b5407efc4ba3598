/*
 * passes.h - [PassN]: runs that are made one after the other, each with a result of its own.
 *
 * A configuration with passes has nothing else: what a pass does is its preset, its options, and on
 * top of both the options of the command line.  sim/passes.c makes them.
 *
 * Threads, ownership, errors: as profile.h.
 */
#ifndef CONFIG_PASSES_H
#define CONFIG_PASSES_H

#include "config/profile.h"

#define PROFILE_PASSES_MAX 99 /* two digits in the names of their folders */
#define PASS_NAME_MAX      40

enum pass_command { PASS_RUN, PASS_PREFLIGHT };

/* [PassN] */
struct pass_settings {
    char *name;
    int64_t command; /* enum pass_command */
    char *preset;    /* NULL: none */
    char *options;   /* words of a command line, parted by blanks; NULL: none */
    unsigned number;
    struct opt_where where;
};

extern const struct opt_section pass_section;

size_t profile_pass_count(const struct profile *profile);
const struct pass_settings *profile_pass(const struct profile *profile, size_t index);

#endif
