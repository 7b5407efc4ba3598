/*
 * opt.h - the option contract: one row of a table is one option.
 *
 * A section (of the INI file, of the reference manual, of `config --list`) is a table of rows plus
 * the size of the plain struct that the rows describe.  Parser, range check, defaults, help, dump
 * and --list are all derived from the row; no option is named anywhere else but by the code that
 * uses its field.  Pattern files own the table of their own section; config/ owns [CONFIG] and
 * [FileN].
 *
 * Ownership: tables are const and static.  A struct filled through a table owns its strings
 * (opt_section_free releases them).
 * Threads: none of this is locked; settings are written before the first thread starts and const
 * from then on.
 * Errors: functions return 0 or -errno and describe the problem in a caller-supplied text.
 */
#ifndef CONFIG_OPT_H
#define CONFIG_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPT_CHECK      __attribute__((warn_unused_result))
#define OPT_TEXT_MAX   512  /* longest error text, terminating zero included */
#define OPT_STRING_MAX 4000 /* longest OPT_STRING; with its key it fits in SOURCE_LINE_MAX */

enum opt_type {
    OPT_BOOL,       /* bool: TRUE FALSE yes no on off 1 0, any case */
    OPT_INT,        /* int64_t: a plain integer */
    OPT_SIZE_MB,    /* int64_t bytes: a bare number is MB, otherwise a unit (K M G T, KiB, MB ...:
                       1024) */
    OPT_BYTES,      /* int64_t bytes: a bare number is bytes, otherwise a unit */
    OPT_SECONDS,    /* int64_t ns: a bare number is seconds, otherwise a unit (us ms s m h d) */
    OPT_MILLIS,     /* int64_t ns: a bare number is milliseconds, otherwise a unit */
    OPT_HUNDREDTHS, /* int64_t 0..10000: a bare number is hundredths of a percent (SQLIOSim);
                       "12.5%" too */
    OPT_DECIMAL,    /* int64_t thousandths: "300", "3.5" */
    OPT_CPUS,       /* struct cpu_list: a mask of the first 64 (5, 0x5) or a list (0-127,200) */
    OPT_ENUM,       /* int64_t: index into choices */
    OPT_STRING,     /* char *: owned */
};

enum opt_flag {
    OPT_UNDOCUMENTED = 1 << 0, /* SQLIOSim's samples have it, its documentation has not */
    OPT_PHASE = 1 << 1,        /* of a section that is run_wide: may change from phase to phase */
};

/* One option.  def, min and max are text and go through the same parser as user input at start-up
 * (opt_section_check), so that a bad table cannot ship. */
struct opt {
    const char *name;  /* as dumped, e.g. "TestCycleDuration" */
    const char *alias; /* other accepted spelling, or NULL */
    enum opt_type type;
    const char *def;     /* default as text; "" for none (strings: NULL pointer stored) */
    const char *min;     /* smallest value as text, or NULL */
    const char *max;     /* largest value as text, or NULL */
    const char *unit;    /* unit of a bare number for people: "MB", "s", "pages", ..., or NULL */
    const char *choices; /* OPT_ENUM: "auto|sync|mem" */
    const char *help;    /* one sentence */
    size_t offset;       /* of the field in the section's struct: OPT_FIELD */
    size_t size_bytes;   /* of that field; what the type needs (opt_section_check) */
    unsigned flags;
};
/* offset and size_bytes of a row, for the field of a struct. */
#define OPT_FIELD(type, member)                                                                    \
    .offset = offsetof(type, member), .size_bytes = sizeof(((type *)0)->member)

struct opt_section {
    const char *name; /* "RandomUser"; for numbered sections the stem: "File" */
    bool numbered;    /* [File1], [File2], ... */
    const struct opt *opts;
    size_t count;
    size_t size_bytes; /* of the struct */
    const char *help;  /* one sentence: who uses these */
    /* What each of its actors comes to do once, for [PhaseN] Until: "a full backup of each
     * database"; NULL: they have no end.  With it there is a row UserCount. */
    const char *through;
    bool run_wide; /* its settings cannot change from phase to phase, but for OPT_PHASE rows */
    /* Cross-field rule of this section (Min above Max ...), or NULL.  Returns 0 or -EINVAL with the
     * text set; names the keys. */
    int (*check)(const void *settings, char text[OPT_TEXT_MAX]);
};

/* Where a value came from: for messages and --explain.  line 0 = not from a file. */
struct opt_where {
    const char *source; /* file name, "command line", "--set", "default" */
    unsigned line;
};

/* Fill settings (size_bytes, zeroed or garbage) with all defaults. */
void opt_section_defaults(const struct opt_section *section, void *settings);
/* Release strings. */
void opt_section_free(const struct opt_section *section, void *settings);
/* Push every default, minimum and maximum through the parser, and compare each field's size with
 * the type: -EINVAL and text if a row is bad. */
int opt_section_check(const struct opt_section *section, char text[OPT_TEXT_MAX]) OPT_CHECK;

/* Row by name or alias, any case; NULL if unknown. */
const struct opt *opt_find(const struct opt_section *section, const char *key);
/* Parse value strictly and store it.  -EINVAL (syntax) or -ERANGE with text such as
 * "not an integer (allowed -1 .. 1024)"; nothing is stored on error. */
int opt_set(const struct opt *opt, void *settings, const char *value,
            char text[OPT_TEXT_MAX]) OPT_CHECK;
/* The value as text that opt_set reads back to the same value. */
void opt_get(const struct opt *opt, const void *settings, char *out, size_t out_size_bytes);
/* The value for people, rounded: "4 GiB", "5 min", "10 %", "50 pages". */
void opt_human(const struct opt *opt, const void *settings, char *out, size_t out_size_bytes);
/* "bool", "integer", "size" ...: one word. */
const char *opt_type_name(enum opt_type type);
/* "allowed -1 .. 1024 pages" for messages and --list. */
void opt_range(const struct opt *opt, char *out, size_t out_size_bytes);

#endif
