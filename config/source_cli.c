/*
 * source_cli.c - the command line as a front end of the profile.
 *
 * Invariant: an option is named in one row of cli_rows and nowhere else.
 * Does not check values of settings: profile_set() does.
 */
#include "config/source_cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "config/nearest.h"
#include "config/preset.h"
#include "config/source.h"
#include "config/units.h"
#include "config/wrap.h"

#define HELP_WIDTH  80
#define HELP_INDENT 26

enum cli_kind {
    CLI_TEXT,    /* char *, once */
    CLI_LIST,    /* struct text_list, may repeat */
    CLI_SIZE,    /* int64_t bytes, a bare number is MB */
    CLI_FLAG,    /* bool, no argument */
    CLI_SETTING, /* a key of [CONFIG] */
};

struct cli_row {
    const char *name;
    const char *legacy;   /* SQLIOSim's or the short form, shown in the help; NULL = none */
    const char *argument; /* name of the argument; NULL = takes none */
    bool one_run;         /* belongs to one run of a series: passes do not inherit it */
    const char *implied;  /* the argument may be left out (--name or --name=X) and is this then */
    enum cli_kind kind;
    const char *setting; /* CLI_SETTING */
    const char *suffix;  /* CLI_SETTING: a value that ends so is for suffix_setting instead */
    const char *suffix_setting;
    size_t offset; /* all others: the field of struct run_options */
    const char *help;
};

#define FIELD(member) .offset = offsetof(struct run_options, member)

static const struct cli_row cli_rows[] = {
    {.name = "cfg",
     .legacy = "-cfg",
     .argument = "FILE",
     .one_run = true,
     .kind = CLI_TEXT,
     FIELD(config_path),
     .help = "Read this configuration; the same as naming it without an option."},
    {.name = "dir",
     .legacy = "-dir",
     .argument = "DIR",
     .kind = CLI_LIST,
     FIELD(dirs),
     .help = "Existing directory to test. Without [FileN] sections each one gets a database of "
             "its own. May repeat."},
    {.name = "data-dir",
     .argument = "DIR",
     .kind = CLI_LIST,
     FIELD(data_dirs),
     .help = "Directory for data files only. May repeat."},
    {.name = "log-dir",
     .argument = "DIR",
     .kind = CLI_LIST,
     FIELD(log_dirs),
     .help = "Directory for log files only. May repeat."},
    {.name = "tempdb-dir",
     .argument = "DIR",
     .kind = CLI_LIST,
     FIELD(tempdb_dirs),
     .help = "Directory for the files of tempdb, where the load uses it ([TempDbUser]) and no "
             "[FileN] names them. May repeat."},
    {.name = "backup-dir",
     .argument = "DIR",
     .kind = CLI_LIST,
     FIELD(backup_dirs),
     .help = "Directory for the backup files of BackupUser (its key Directory). Without it "
             "they are written into the first --dir; BackupUser.Directory=NUL: nowhere."},
    {.name = "map",
     .argument = "F:=DIR",
     .kind = CLI_LIST,
     FIELD(maps),
     .help = "Where a Windows drive or folder of the configuration is here, e.g. "
             "f:=/mnt/data. May repeat."},
    {.name = "size",
     .legacy = "-size",
     .argument = "MB",
     .kind = CLI_SIZE,
     FIELD(size_bytes),
     .help = "Size of a data file (a bare number is MB); it may grow to twice that, and the log "
             "is half of it and at most 50 MB."},
    {.name = "duration",
     .legacy = "-d",
     .argument = "TIME",
     .kind = CLI_SETTING,
     .setting = "TestCycleDuration",
     .help = "Length of the main part (a bare number is seconds), without creating the files "
             "and the audit; phases are scaled to it. With a preset that has a rated phase alone, "
             "the length of that."},
    {.name = "preset",
     .argument = "NAME",
     .one_run = true,
     .kind = CLI_TEXT,
     FIELD(preset),
     .help = "A named load, below everything else that is set; `config --presets` lists them."},
    {.name = "rated",
     .argument = "TIME",
     .kind = CLI_SETTING,
     .setting = "RatedDuration",
     .help = "Length of the rated phase, whose response times are judged; 0 = none. Without "
             "CONFIG.ini and with a main part of at least a minute: 60 s."},
    {.name = "need",
     .argument = "NEED",
     .kind = CLI_SETTING,
     .setting = "Need",
     .suffix = "MBps",
     .suffix_setting = "NeedMBps",
     .help = "Data I/Os a second that the rated phase asks for, instead of 1500; or, written "
             "500MBps, what the main part must move."},
    {.name = "load",
     .argument = "STEPS",
     .kind = CLI_SETTING,
     .setting = "Load",
     .help = "Rated steps in percent of the load, e.g. 40%,80%,120%, each judged; max = as much "
             "as the storage gives, not judged."},
    {.name = "day",
     .argument = "TIME",
     .kind = CLI_SETTING,
     .setting = "TestCycleDuration",
     .help = "The same as --duration, for phases that stand for a day: 24h = in real time."},
    {.name = "fail-on",
     .argument = "GRADE",
     .kind = CLI_SETTING,
     .setting = "FailOn",
     .help = "warn: a verdict WARN ends with exit code 4, too."},
    {.name = "cycles",
     .argument = "N",
     .kind = CLI_SETTING,
     .setting = "TestCycles",
     .help = "Test cycles; 0 = until interrupted."},
    {.name = "memory",
     .argument = "SIZE",
     .kind = CLI_SETTING,
     .setting = "MaxMemoryMB",
     .help = "Size of the buffer pool (a bare number is MB)."},
    {.name = "engine",
     .argument = "NAME",
     .kind = CLI_SETTING,
     .setting = "Engine",
     .help = "How I/O is issued: auto, uring, aio, sync or mem."},
    {.name = "seed",
     .argument = "N",
     .kind = CLI_SETTING,
     .setting = "Seed",
     .help = "Seed of every random choice, to repeat a run."},
    {.name = "stop-on-error",
     .argument = "BOOL",
     .implied = "TRUE",
     .kind = CLI_SETTING,
     .setting = "StopOnError",
     .help = "End at the first proven fault; --stop-on-error=no goes on."},
    {.name = "set",
     .argument = "SECTION.KEY=VALUE",
     .kind = CLI_LIST,
     FIELD(sets),
     .help = "Any setting of a configuration file, over what the file says. May repeat."},
    {.name = "out",
     .argument = "DIR",
     .one_run = true,
     .kind = CLI_TEXT,
     FIELD(out_dir),
     .help = "Directory for report, result and evidence."},
    {.name = "label",
     .argument = "TEXT",
     .kind = CLI_TEXT,
     FIELD(label),
     .help = "A name for this run in its reports."},
    {.name = "trace",
     .argument = "FILE",
     .one_run = true,
     .kind = CLI_TEXT,
     FIELD(trace_path),
     .help = "Write a line for each I/O to FILE, a new one: when, who, what, where, result, page "
             "generations."},
    {.name = "max-iops",
     .argument = "N",
     .kind = CLI_SETTING,
     .setting = "MaxIops",
     .help = "No more transfers a second than this in the whole run."},
    {.name = "max-mbps",
     .argument = "N",
     .kind = CLI_SETTING,
     .setting = "MaxMBps",
     .help = "No more MB a second than this in the whole run."},
    {.name = "log",
     .legacy = "-log",
     .argument = "FILE",
     .kind = CLI_SETTING,
     .setting = "ErrorFile",
     .help = "SQLIOSim's XML log: a name in the result folder, or a path. Use --log-dir for "
             "database logs."},
    {.name = "save",
     .legacy = "-save",
     .argument = "FILE",
     .one_run = true,
     .kind = CLI_TEXT,
     FIELD(save_path),
     .help = "Write the complete configuration in effect to FILE."},
    {.name = "dry-run",
     .one_run = true,
     .kind = CLI_FLAG,
     FIELD(dry_run),
     .help = "Check and print everything up to the first write, then stop."},
    {.name = "strict",
     .kind = CLI_FLAG,
     FIELD(strict),
     .help = "Unknown sections and keys of CONFIG.ini are errors, as they are in --set."},
    {.name = "reuse",
     .argument = "RUN_DIR",
     .kind = CLI_TEXT,
     FIELD(reuse_dir),
     .help = "Take over the files that the run with this result folder left, instead of creating "
             "and filling them again. They are verified first."},
    {.name = "on-finding",
     .argument = "COMMAND",
     .kind = CLI_TEXT,
     FIELD(on_finding),
     .help = "Start this shell command at the first wrong or failed read of each class, before "
             "the page is read again, e.g. to freeze a trace of the array. What is known stands "
             "in its environment as PAGESTORM_*."},
    {.name = "on-stall",
     .argument = "COMMAND",
     .kind = CLI_TEXT,
     FIELD(on_stall),
     .help = "The same while a request is outstanding for 15 s (SQL Server: 833)."},
    {.name = "on-every",
     .kind = CLI_FLAG,
     FIELD(on_every),
     .help = "--on-finding and --on-stall for each event, not only the first of a class."},
    {.name = "beside-others",
     .kind = CLI_FLAG,
     FIELD(beside_others),
     .help = "Run although a SQL Server has files on a device under test."},
    {.name = "quiet", .kind = CLI_FLAG, FIELD(quiet), .help = "Print the verdict only."},
    {.name = "help", .legacy = "-h", .kind = CLI_FLAG, FIELD(help), .help = "Print this text."},
};

#undef FIELD

#define ROW_COUNT (sizeof(cli_rows) / sizeof(cli_rows[0]))

/* -d is a short option: as a long one it would be an ambiguous beginning of -dir and others. */
static const char short_options[] = "-:d:";
#define SHORT_DURATION 'd'
#define LONG_BASE      256 /* getopt values of the rows start above all characters */

static const struct opt_where cli_where = {.source = "command line"};

void run_options_init(struct run_options *options)
{
    memset(options, 0, sizeof(*options));
}

static void *row_field(const struct cli_row *row, struct run_options *options)
{
    return (char *)options + row->offset;
}

void run_options_free(struct run_options *options)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        void *field = row_field(&cli_rows[i], options);
        if (cli_rows[i].kind == CLI_TEXT) {
            free(*(char **)field);
        } else if (cli_rows[i].kind == CLI_LIST) {
            text_list_free(field);
        }
    }
    text_list_free(&options->settings);
    run_options_init(options);
}

bool run_options_called_as_sqliosim(const char *argv0)
{
    const char *base = path_last_name(argv0);
    const size_t length = strlen("sqliosim");

    return strncasecmp(base, "sqliosim", length) == 0 &&
           (base[length] == '\0' || strcasecmp(base + length, ".com") == 0 ||
            strcasecmp(base + length, ".exe") == 0);
}

static void cli_error(struct profile *profile, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void cli_error(struct profile *profile, const char *format, ...)
{
    char text[OPT_TEXT_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    profile_diag(profile, DIAG_ERROR, cli_where, "%s", text);
}

static void set_text_once(struct profile *profile, char **field, const char *what,
                          const char *value)
{
    if (*field != NULL) {
        char first[OPT_TEXT_MAX / 4];
        char second[OPT_TEXT_MAX / 4];
        diag_quote(*field, first, sizeof(first));
        diag_quote(value, second, sizeof(second));
        cli_error(profile, "%s: given twice, %s and %s", what, first, second);
        return;
    }
    *field = alloc_text(value);
}

static void set_size(struct profile *profile, const struct cli_row *row, int64_t *field,
                     const char *value)
{
    const int64_t max_bytes = 16 * UNITS_TIB; /* SQL Server's largest data file */
    int64_t bytes;

    if (units_size(value, UNITS_MIB, &bytes) != 0 || bytes <= 0 || bytes > max_bytes) {
        char quoted[OPT_TEXT_MAX / 4];
        diag_quote(value, quoted, sizeof(quoted));
        cli_error(profile,
                  "--%s %s: not a size (a whole number of MB, or with a unit: 512M, 4G; allowed "
                  "1B .. 16T)",
                  row->name, quoted);
        return;
    }
    *field = bytes;
}

/* "Key=value" of [CONFIG]. */
static char *setting_of(const struct cli_row *row, const char *value)
{
    size_t length = strlen(value);
    size_t suffix = row->suffix != NULL ? strlen(row->suffix) : 0;

    if (suffix > 0 && length > suffix && strcasecmp(value + length - suffix, row->suffix) == 0) {
        return alloc_printf("%s=%.*s", row->suffix_setting, (int)(length - suffix), value);
    }
    return alloc_printf("%s=%s", row->setting, value);
}

static void take_option(struct run_options *options, struct profile *profile,
                        const struct cli_row *row, const char *value)
{
    void *field = row_field(row, options);
    char *setting;
    char what[64];

    if (value == NULL) {
        value = row->implied;
    }
    if (row->argument != NULL && value[0] == '\0') {
        cli_error(profile, "--%s: its value %s is empty", row->name, row->argument);
        return;
    }
    switch (row->kind) {
    case CLI_TEXT:
        snprintf(what, sizeof(what), "--%s", row->name);
        set_text_once(profile, field, what, value);
        break;
    case CLI_LIST:
        text_list_add(field, value);
        break;
    case CLI_SIZE:
        set_size(profile, row, field, value);
        break;
    case CLI_FLAG:
        *(bool *)field = true;
        break;
    case CLI_SETTING:
        setting = setting_of(row, value);
        text_list_add(&options->settings, setting);
        free(setting);
        break;
    }
}

/* How many rows begin with the word; *row is the last, or the one that is the word itself. */
static unsigned rows_like(const char *word, size_t length, const struct cli_row **row)
{
    unsigned count = 0;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strncmp(cli_rows[i].name, word, length) == 0) {
            *row = &cli_rows[i];
            if (cli_rows[i].name[length] == '\0') {
                return 1;
            }
            count++;
        }
    }
    return count;
}

/* getopt refused word: say why. */
static void refuse_option(struct profile *profile, const char *word, bool value_missing)
{
    const char *name = word + strspn(word, "-");
    size_t length = strcspn(name, "=");
    const struct cli_row *row = NULL;
    unsigned count = length > 0 ? rows_like(name, length, &row) : 0;
    char quoted[OPT_TEXT_MAX / 4];
    char bare[OPT_TEXT_MAX / 8];
    struct nearest nearest;

    diag_quote(word, quoted, sizeof(quoted));
    if (value_missing) {
        bool is_short = strcmp(word, "-d") == 0;
        cli_error(profile, "%s: needs a value (%s)", quoted,
                  is_short || row == NULL ? "TIME" : row->argument);
    } else if (count > 1) {
        cli_error(profile, "%s: could be several options; write it in full", quoted);
    } else if (count == 1 && row->argument == NULL) {
        cli_error(profile, "%s: takes no value", quoted);
    } else {
        snprintf(bare, sizeof(bare), "%.*s", (int)(length < 60 ? length : 60), name);
        nearest_init(&nearest, bare);
        for (size_t i = 0; i < ROW_COUNT; i++) {
            nearest_offer(&nearest, cli_rows[i].name);
        }
        const char *best = nearest_name(&nearest);
        cli_error(profile, "%s: unknown option; %s%s%s", quoted,
                  best != NULL ? "did you mean --" : "see --help", best != NULL ? best : "",
                  best != NULL ? "?" : "");
    }
}

static void build_long_options(struct option out[ROW_COUNT + 1])
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct cli_row *row = &cli_rows[i];
        out[i] = (struct option){.name = row->name, .val = LONG_BASE + (int)i};
        out[i].has_arg = row->argument == NULL  ? no_argument
                         : row->implied != NULL ? optional_argument
                                                : required_argument;
    }
    out[ROW_COUNT] = (struct option){0};
}

static const struct cli_row *row_of_setting(const char *setting)
{
    const struct cli_row *row = cli_rows;

    while (row->setting == NULL || strcmp(row->setting, setting) != 0) {
        row++;
    }
    return row;
}

int run_options_parse(struct run_options *options, struct profile *profile, int argc,
                      char *const *argv)
{
    struct option long_options[ROW_COUNT + 1];
    size_t errors_before = profile_error_count(profile);

    build_long_options(long_options);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    for (;;) {
        int before = optind > 0 ? optind : 1;
        int got = getopt_long_only(argc, argv, short_options, long_options, NULL);
        if (got == -1) {
            break;
        }
        if (got == '?' || got == ':') {
            refuse_option(profile, argv[before], got == ':');
        } else if (got == 1) {
            set_text_once(profile, &options->config_path, "configuration file", optarg);
        } else if (got == SHORT_DURATION) {
            take_option(options, profile, row_of_setting("TestCycleDuration"), optarg);
        } else {
            take_option(options, profile, &cli_rows[got - LONG_BASE], optarg);
        }
    }
    for (; optind < argc; optind++) { /* behind "--" */
        set_text_once(profile, &options->config_path, "configuration file", argv[optind]);
    }
    return profile_error_count(profile) > errors_before ? -EINVAL : 0;
}

/* Named options beat all else. */
static int apply_settings(const struct text_list *settings, struct profile *profile)
{
    int first = 0;

    for (size_t i = 0; i < settings->count; i++) {
        const char *equals = strchr(settings->items[i], '=');
        char *key = alloc_printf("%.*s", (int)(equals - settings->items[i]), settings->items[i]);
        int rc = profile_set(profile, config_section.name, key, equals + 1, cli_where);
        first = first != 0 ? first : rc;
        free(key);
    }
    return first;
}

static int apply_preset(const char *name, struct profile *profile)
{
    char quoted[OPT_TEXT_MAX / 4];
    const struct preset *preset;

    if (name == NULL) {
        return 0;
    }
    preset = preset_by_name(name);
    if (preset != NULL) {
        return preset_apply(preset, profile);
    }
    diag_quote(name, quoted, sizeof(quoted));
    const char *nearest = preset_nearest(name);
    cli_error(profile, "--preset %s: unknown%s%s; pagestorm config --presets lists them", quoted,
              nearest != NULL ? ", did you mean " : "", nearest != NULL ? nearest : "");
    return -EINVAL;
}

int run_options_apply(struct run_options *options, struct profile *profile)
{
    size_t errors_before = profile_error_count(profile);
    int rc = 0;

    profile_set_strict(profile, options->strict);
    rc = apply_preset(options->preset, profile);
    if (options->config_path == NULL && options->sqliosim_mode &&
        source_ini_present(SQLIOSIM_CONFIG_NAME)) {
        options->config_path = alloc_text(SQLIOSIM_CONFIG_NAME);
    }
    if (options->config_path != NULL) {
        int load_rc = source_ini_load(profile, options->config_path);
        rc = rc != 0 ? rc : load_rc;
    }
    /* A file may be of another version; what was typed just now is a mistake. */
    profile_set_strict(profile, true);
    for (size_t i = 0; i < options->sets.count; i++) {
        int set_rc = source_set_option(profile, options->sets.items[i]);
        rc = rc != 0 ? rc : set_rc;
    }
    profile_set_strict(profile, options->strict);
    options->main_part_ns = profile_config(profile)->test_cycle_duration_ns;
    int settings_rc = apply_settings(&options->settings, profile);
    rc = rc != 0 ? rc : settings_rc;
    if (profile_error_count(profile) == errors_before) {
        return 0; /* unknown names are warnings unless strict */
    }
    return rc != 0 ? rc : -EINVAL;
}

/* --name value; NULL = none. */
static void add_word_pair(struct text_list *words, const char *name, const char *value)
{
    char *option = alloc_printf("--%s", name);

    text_list_add(words, option);
    if (value != NULL) {
        text_list_add(words, value);
    }
    free(option);
}

static void add_row_words(const struct cli_row *row, const void *field, struct text_list *words)
{
    const struct text_list *list = field;
    char size[UNITS_TEXT_MAX];

    switch (row->kind) {
    case CLI_TEXT:
        if (*(char *const *)field != NULL) {
            add_word_pair(words, row->name, *(char *const *)field);
        }
        break;
    case CLI_LIST:
        for (size_t i = 0; i < list->count; i++) {
            add_word_pair(words, row->name, list->items[i]);
        }
        break;
    case CLI_SIZE:
        if (*(const int64_t *)field != 0) {
            units_print_size(*(const int64_t *)field, UNITS_MIB, size, sizeof(size));
            add_word_pair(words, row->name, size);
        }
        break;
    case CLI_FLAG:
        if (*(const bool *)field) {
            add_word_pair(words, row->name, NULL);
        }
        break;
    case CLI_SETTING: /* several rows may stand for one key: below */
        break;
    }
}

void run_options_words(const struct run_options *options, struct text_list *words)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!cli_rows[i].one_run) {
            add_row_words(&cli_rows[i], (const char *)options + cli_rows[i].offset, words);
        }
    }
    for (size_t i = 0; i < options->settings.count; i++) {
        char *setting = alloc_printf("%s.%s", config_section.name, options->settings.items[i]);
        add_word_pair(words, "set", setting);
        free(setting);
    }
}

static void help_row(const struct cli_row *row, FILE *out)
{
    int column = fprintf(out, "  --%s", row->name);

    if (row->argument != NULL) {
        column += fprintf(out, row->implied != NULL ? "[=%s]" : " %s", row->argument);
    }
    if (row->legacy != NULL) {
        column += fprintf(out, ", %s", row->legacy);
    }
    if (column + 2 > HELP_INDENT) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", HELP_INDENT - column, "");
    wrap_print(out, row->help, HELP_INDENT, HELP_INDENT, HELP_WIDTH);
}

void run_options_help(FILE *out)
{
    fputs("usage: pagestorm run [CONFIG.ini] [options]\n\n"
          "Create database files, drive them as SQL Server would, verify every page that\n"
          "is read back, and report. SQLIOSim's configuration files and options work as\n"
          "they are; an option may have one dash or two and come in any order. Named\n"
          "options beat --set, --set beats CONFIG.ini, CONFIG.ini beats --preset.\n\n",
          out);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        help_row(&cli_rows[i], out);
    }
}
