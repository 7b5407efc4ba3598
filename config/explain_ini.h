/*
 * explain_ini.h - what a SQLIOSim configuration asks for, in plain words.
 */
#ifndef CONFIG_EXPLAIN_INI_H
#define CONFIG_EXPLAIN_INI_H

#include <stdint.h>
#include <stdio.h>

#include "config/profile.h"

/* Load path into a fresh profile (profile_create) and explain every line of it to out: value in
 * human units, default, meaning, place; then files, users for cpu_count CPUs, and what is accepted
 * without effect.  The profile is finished afterwards; its diagnostics are the caller's to print.
 * 0 or -errno as source_ini_load() and profile_finish(). */
int config_explain(struct profile *profile, const char *path, int64_t cpu_count,
                   FILE *out) OPT_CHECK;

#endif
