/*
 * source_cli.h - the command line of `pagestorm run`, which is SQLIOSim's as well.
 *
 * One table (source_cli.c) names every option once: parser, help and the nearest-name suggestion
 * come from it.  A named option either stands for a setting of [CONFIG] or fills a field of struct
 * run_options.  Options may come in any order, with one dash or two.
 *
 * Precedence, whatever the order on the line: default < configuration file < --set < named options.
 *
 * Ownership: run_options_init() before, run_options_free() after; texts are copies.
 * Errors: diagnostics of the profile with source "command line".
 */
#ifndef CONFIG_SOURCE_CLI_H
#define CONFIG_SOURCE_CLI_H

#include <stdio.h>

#include "config/profile.h"
#include "config/text_list.h"

#define SQLIOSIM_CONFIG_NAME "sqliosim.cfg.ini" /* what SQLIOSim reads when nothing is named */

struct run_options {
    char *config_path; /* NULL: none */
    char *save_path;   /* write the resulting configuration there */
    char *out_dir;     /* NULL: the default of `run` */
    char *label;
    char *trace_path;
    char *preset;
    char *on_finding, *on_stall; /* commands for the shell; NULL: none */
    bool on_every;
    char *reuse_dir;       /* result folder of the run whose files are taken over */
    struct text_list dirs; /* --dir: data, log, tempdb and backup */
    struct text_list data_dirs;
    struct text_list log_dirs;
    struct text_list tempdb_dirs;
    struct text_list backup_dirs;
    struct text_list maps; /* "f:=/mnt/data" */
    int64_t size_bytes;    /* initial size of the data file; 0 = not given */
    bool dry_run;
    bool strict;
    bool beside_others; /* a SQL Server on the device is no reason not to run */
    bool quiet;
    bool help;
    bool sqliosim_mode; /* set before run_options_apply(): read ./sqliosim.cfg.ini by default */

    struct text_list sets;     /* --set, applied by run_options_apply() */
    struct text_list settings; /* named options as "Key=value" of [CONFIG], likewise */
    int64_t main_part_ns;      /* TestCycleDuration before the named options */
};

void run_options_init(struct run_options *options);
void run_options_free(struct run_options *options);
/* Is the program called as sqliosim (any case, .com and .exe too)? */
bool run_options_called_as_sqliosim(const char *argv0);

/* Read argv[1..argc); settings are kept, not yet applied.  0, or -EINVAL with diagnostics; all
 * mistakes of the line are reported at once.  Uses getopt: not for two threads at a time. */
int run_options_parse(struct run_options *options, struct profile *profile, int argc,
                      char *const *argv) OPT_CHECK;
/* Strictness, then the configuration file, --set and the named options.  0 or -errno of the first
 * problem; what profile_finish() finds is still to come. */
int run_options_apply(struct run_options *options, struct profile *profile) OPT_CHECK;
/* The words that say what these options say, but for what belongs to one run: configuration,
 * preset, result folder, --save, --dry-run. */
void run_options_words(const struct run_options *options, struct text_list *words);
/* Usage and all options in 80 columns. */
void run_options_help(FILE *out);

#endif
