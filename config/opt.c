/*
 * opt.c - what follows from one row of an option table.
 *
 * Invariants: a value is stored only when it was read strictly and lies in the row's range; what
 * opt_get() writes, opt_set() reads back to the same value; a string field is NULL or owned.
 * Does not know sections by name, files or messages beyond one value.
 */
#include "config/opt.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/alloc.h"
#include "config/cpu_list.h"
#include "config/units.h"

#define SHOWN_VALUE_MAX 80 /* of a row's own texts in messages */

static int64_t bare_factor(enum opt_type type)
{
    switch (type) {
    case OPT_SIZE_MB:
        return UNITS_MIB;
    case OPT_SECONDS:
        return UNITS_S_NS;
    case OPT_MILLIS:
        return UNITS_MS_NS;
    default:
        return 1;
    }
}

/* What a value of the type looks like, for "not ...". */
static const char *type_wanted(const struct opt *opt)
{
    static const char *const wanted[] = {
        [OPT_BOOL] = "TRUE or FALSE",
        [OPT_INT] = "an integer",
        [OPT_SIZE_MB] = "a size (a whole number of MB, or with a unit: 512K, 100MB, 4G)",
        [OPT_BYTES] = "a size (a whole number of bytes, or with a unit: 64K, 1MB)",
        [OPT_SECONDS] = "a time (a whole number of seconds, or with a unit: 500ms, 5m, 2h)",
        [OPT_MILLIS] = "a time (a whole number of milliseconds, or with a unit: 500us, 2s)",
        [OPT_HUNDREDTHS] = "a share (hundredths of a percent: 1250, or 12.5%)",
        [OPT_DECIMAL] = "a number (at most three decimals: 300, 3.5)",
        [OPT_CPUS] = "CPUs (a mask of the first 64: 5 or 0x5; or a list: 0-127,200)",
        [OPT_ENUM] = "one of the choices",
        [OPT_STRING] = "a text",
    };

    return wanted[opt->type];
}

static void set_text(char text[OPT_TEXT_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_text(char text[OPT_TEXT_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, OPT_TEXT_MAX, format, arguments);
    va_end(arguments);
}

/* Every type but strings and CPUs becomes one 64-bit number (a bool 0 or 1). */
static int read_number(const struct opt *opt, const char *value, int64_t *out)
{
    bool truth;
    int rc;

    switch (opt->type) {
    case OPT_BOOL:
        rc = units_bool(value, &truth);
        *out = rc == 0 && truth;
        return rc;
    case OPT_INT:
        return units_int(value, out);
    case OPT_SIZE_MB:
    case OPT_BYTES:
        return units_size(value, bare_factor(opt->type), out);
    case OPT_SECONDS:
    case OPT_MILLIS:
        return units_duration(value, bare_factor(opt->type), out);
    case OPT_HUNDREDTHS:
        return units_hundredths(value, out);
    case OPT_DECIMAL:
        return units_decimal(value, out);
    case OPT_ENUM:
        return units_enum(value, opt->choices, out);
    case OPT_CPUS:
    case OPT_STRING:
        break;
    }
    return -EINVAL;
}

static bool in_range(const struct opt *opt, int64_t number)
{
    int64_t limit;

    if (opt->min != NULL && read_number(opt, opt->min, &limit) == 0 && number < limit) {
        return false;
    }
    return opt->max == NULL || read_number(opt, opt->max, &limit) != 0 || number <= limit;
}

static void range_of_choices(const struct opt *opt, char *out, size_t out_size_bytes)
{
    size_t used = (size_t)snprintf(out, out_size_bytes, "allowed ");

    for (const char *c = opt->choices; c != NULL && *c != '\0'; c++) {
        if (used + 3 > out_size_bytes) {
            return;
        }
        if (*c == '|') {
            out[used++] = ',';
        }
        out[used++] = *c == '|' ? ' ' : *c;
        out[used] = '\0';
    }
}

void opt_range(const struct opt *opt, char *out, size_t out_size_bytes)
{
    const char *min = opt->min;
    const char *max = opt->max;
    const char *unit = opt->unit != NULL ? opt->unit : "";
    const char *gap = opt->unit != NULL ? " " : "";

    if (opt->type == OPT_HUNDREDTHS) {
        min = min != NULL ? min : "0";
        max = max != NULL ? max : "10000";
        unit = "in 1/100 %";
        gap = " ";
    }
    if (opt->type == OPT_ENUM) {
        range_of_choices(opt, out, out_size_bytes);
    } else if (opt->type == OPT_BOOL) {
        snprintf(out, out_size_bytes, "allowed TRUE or FALSE");
    } else if (opt->type == OPT_CPUS) {
        snprintf(out, out_size_bytes, "allowed CPU 0 .. %d", CPU_LIST_MAX - 1);
    } else if (min != NULL && max != NULL) {
        snprintf(out, out_size_bytes, "allowed %s .. %s%s%s", min, max, gap, unit);
    } else if (min != NULL) {
        snprintf(out, out_size_bytes, "allowed %s%s%s or more", min, gap, unit);
    } else if (max != NULL) {
        snprintf(out, out_size_bytes, "allowed up to %s%s%s", max, gap, unit);
    } else {
        snprintf(out, out_size_bytes, "allowed any %s",
                 opt->type == OPT_STRING ? "text" : "value that fits in 64 bits");
    }
}

static int refuse_number(const struct opt *opt, int rc, char text[OPT_TEXT_MAX])
{
    char range[OPT_TEXT_MAX / 2];

    opt_range(opt, range, sizeof(range));
    if (rc == -ERANGE) {
        set_text(text, "out of range (%s)", range);
    } else if (opt->type == OPT_BOOL) {
        set_text(text, "not TRUE or FALSE (yes, no, on, off, 1 and 0 will do)");
    } else {
        set_text(text, "not %s (%s)", type_wanted(opt), range);
    }
    return rc;
}

static int set_string(const struct opt *opt, void *settings, const char *value,
                      char text[OPT_TEXT_MAX])
{
    char **field = (char **)(void *)((char *)settings + opt->offset);

    for (const char *c = value; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            set_text(text, "contains a control character (code %u)", (unsigned char)*c);
            return -EINVAL;
        }
    }
    if (strlen(value) > OPT_STRING_MAX) {
        set_text(text, "longer than %d bytes", OPT_STRING_MAX);
        return -ERANGE;
    }
    char *copy = value[0] != '\0' ? alloc_text(value) : NULL;
    free(*field);
    *field = copy;
    return 0;
}

int opt_set(const struct opt *opt, void *settings, const char *value, char text[OPT_TEXT_MAX])
{
    char *field = (char *)settings + opt->offset;
    int64_t number;

    if (opt->type == OPT_STRING) {
        return set_string(opt, settings, value, text);
    }
    if (opt->type == OPT_CPUS) {
        int error = cpu_list_parse(value, (struct cpu_list *)(void *)field);
        return error != 0 ? refuse_number(opt, error, text) : 0;
    }
    int rc = read_number(opt, value, &number);
    if (rc == 0 && !in_range(opt, number)) {
        rc = -ERANGE;
    }
    if (rc != 0) {
        return refuse_number(opt, rc, text);
    }
    if (opt->type == OPT_BOOL) {
        *(bool *)(void *)field = number != 0;
    } else {
        *(int64_t *)(void *)field = number;
    }
    return 0;
}

static int64_t number_field(const struct opt *opt, const void *settings)
{
    return *(const int64_t *)(const void *)((const char *)settings + opt->offset);
}

static const char *string_field(const struct opt *opt, const void *settings)
{
    const char *text = *(const char *const *)(const void *)((const char *)settings + opt->offset);

    return text != NULL ? text : "";
}

static bool bool_field(const struct opt *opt, const void *settings)
{
    return *((const bool *)settings + opt->offset);
}

static const struct cpu_list *cpus_field(const struct opt *opt, const void *settings)
{
    return (const struct cpu_list *)(const void *)((const char *)settings + opt->offset);
}

void opt_get(const struct opt *opt, const void *settings, char *out, size_t out_size_bytes)
{
    switch (opt->type) {
    case OPT_BOOL:
        snprintf(out, out_size_bytes, "%s", bool_field(opt, settings) ? "TRUE" : "FALSE");
        break;
    case OPT_INT:
    case OPT_HUNDREDTHS:
        snprintf(out, out_size_bytes, "%" PRId64, number_field(opt, settings));
        break;
    case OPT_SIZE_MB:
    case OPT_BYTES:
        units_print_size(number_field(opt, settings), bare_factor(opt->type), out, out_size_bytes);
        break;
    case OPT_SECONDS:
    case OPT_MILLIS:
        units_print_duration(number_field(opt, settings), bare_factor(opt->type), out,
                             out_size_bytes);
        break;
    case OPT_DECIMAL:
        units_print_decimal(number_field(opt, settings), out, out_size_bytes);
        break;
    case OPT_CPUS:
        cpu_list_write(cpus_field(opt, settings), out, out_size_bytes);
        break;
    case OPT_ENUM:
        units_print_enum(number_field(opt, settings), opt->choices, out, out_size_bytes);
        break;
    case OPT_STRING:
        snprintf(out, out_size_bytes, "%s", string_field(opt, settings));
        break;
    }
}

void opt_human(const struct opt *opt, const void *settings, char *out, size_t out_size_bytes)
{
    const char *unit = opt->unit != NULL ? opt->unit : "";
    size_t used;

    switch (opt->type) {
    case OPT_SIZE_MB:
    case OPT_BYTES:
        units_human_size(number_field(opt, settings), out, out_size_bytes);
        break;
    case OPT_SECONDS:
    case OPT_MILLIS:
        units_human_duration(number_field(opt, settings), out, out_size_bytes);
        break;
    case OPT_HUNDREDTHS:
        units_human_hundredths(number_field(opt, settings), out, out_size_bytes);
        break;
    default:
        opt_get(opt, settings, out, out_size_bytes);
        used = strlen(out);
        if ((opt->type == OPT_INT || opt->type == OPT_DECIMAL) && unit[0] != '\0') {
            snprintf(out + used, out_size_bytes - used, " %s", unit);
        }
        break;
    }
}

const char *opt_type_name(enum opt_type type)
{
    static const char *const names[] = {
        [OPT_BOOL] = "bool",        [OPT_INT] = "integer",    [OPT_SIZE_MB] = "size",
        [OPT_BYTES] = "size",       [OPT_SECONDS] = "time",   [OPT_MILLIS] = "time",
        [OPT_HUNDREDTHS] = "share", [OPT_CPUS] = "CPUs",      [OPT_ENUM] = "choice",
        [OPT_STRING] = "text",      [OPT_DECIMAL] = "number",
    };

    return names[type];
}

const struct opt *opt_find(const struct opt_section *section, const char *key)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct opt *opt = &section->opts[i];
        if (strcasecmp(opt->name, key) == 0 ||
            (opt->alias != NULL && strcasecmp(opt->alias, key) == 0)) {
            return opt;
        }
    }
    return NULL;
}

void opt_section_defaults(const struct opt_section *section, void *settings)
{
    char text[OPT_TEXT_MAX];

    memset(settings, 0, section->size_bytes);
    for (size_t i = 0; i < section->count; i++) {
        int rc = opt_set(&section->opts[i], settings, section->opts[i].def, text);
        assert(rc == 0);
    }
}

void opt_section_free(const struct opt_section *section, void *settings)
{
    for (size_t i = 0; i < section->count; i++) {
        if (section->opts[i].type == OPT_STRING) {
            char **field = (char **)(void *)((char *)settings + section->opts[i].offset);
            free(*field);
            *field = NULL;
        }
    }
}

static size_t field_size(enum opt_type type)
{
    switch (type) {
    case OPT_BOOL:
        return sizeof(bool);
    case OPT_STRING:
        return sizeof(char *);
    case OPT_CPUS:
        return sizeof(struct cpu_list);
    default:
        return sizeof(int64_t);
    }
}

static size_t field_alignment(enum opt_type type)
{
    return type == OPT_CPUS ? _Alignof(struct cpu_list) : field_size(type);
}

/* A range belongs to types that are ordered, and must not be empty. */
static int check_row_range(const struct opt *opt, char text[OPT_TEXT_MAX])
{
    bool ordered = opt->type != OPT_BOOL && opt->type != OPT_ENUM && opt->type != OPT_STRING &&
                   opt->type != OPT_CPUS;
    int64_t min = INT64_MIN;
    int64_t max = INT64_MAX;

    if (!ordered && (opt->min != NULL || opt->max != NULL)) {
        set_text(text, "%s: its type has no range", opt->name);
        return -EINVAL;
    }
    if ((opt->min != NULL && read_number(opt, opt->min, &min) != 0) ||
        (opt->max != NULL && read_number(opt, opt->max, &max) != 0) || min > max) {
        set_text(text, "%s: bad minimum or maximum", opt->name);
        return -EINVAL;
    }
    return 0;
}

static int check_row(const struct opt_section *section, const struct opt *opt,
                     char text[OPT_TEXT_MAX])
{
    char problem[OPT_TEXT_MAX] = "";
    size_t size_bytes = field_size(opt->type);
    union {
        struct cpu_list cpus;
        int64_t number;
        char *string;
        bool truth;
    } field = {{{0}}};
    struct opt at_zero = *opt;

    at_zero.offset = 0;
    if (opt->name == NULL || opt->name[0] == '\0' || opt->def == NULL || opt->help == NULL ||
        opt->help[0] == '\0' || (opt->type == OPT_ENUM) != (opt->choices != NULL)) {
        set_text(text, "row %zu: name, default, help or choices missing",
                 (size_t)(opt - section->opts));
        return -EINVAL;
    }
    if (opt->offset % field_alignment(opt->type) != 0 ||
        opt->offset + size_bytes > section->size_bytes) {
        set_text(text, "%s: its field lies outside the struct", opt->name);
        return -EINVAL;
    }
    if (opt->size_bytes != size_bytes) {
        set_text(text, "%s: its field has %zu bytes, its type needs %zu", opt->name,
                 opt->size_bytes, size_bytes);
        return -EINVAL;
    }
    if (check_row_range(opt, text) != 0) {
        return -EINVAL;
    }
    if (opt_set(&at_zero, &field, opt->def, problem) != 0) {
        set_text(text, "%s: default %.*s: %.*s", opt->name, SHOWN_VALUE_MAX, opt->def,
                 OPT_TEXT_MAX / 2, problem);
        return -EINVAL;
    }
    if (opt->type == OPT_STRING) {
        free(field.string);
    }
    return 0;
}

static bool rows_clash(const struct opt *a, const struct opt *b)
{
    const char *names[2][2] = {{a->name, a->alias}, {b->name, b->alias}};
    bool apart = a->offset + field_size(a->type) <= b->offset ||
                 b->offset + field_size(b->type) <= a->offset;

    for (size_t i = 0; i < 4; i++) {
        const char *left = names[0][i % 2];
        const char *right = names[1][i / 2];
        if (left != NULL && right != NULL && strcasecmp(left, right) == 0) {
            return true;
        }
    }
    return !apart;
}

int opt_section_check(const struct opt_section *section, char text[OPT_TEXT_MAX])
{
    for (size_t i = 0; i < section->count; i++) {
        if (check_row(section, &section->opts[i], text) != 0) {
            return -EINVAL;
        }
        for (size_t j = 0; j < i; j++) {
            if (rows_clash(&section->opts[i], &section->opts[j])) {
                set_text(text, "%s and %s share a name or a field", section->opts[j].name,
                         section->opts[i].name);
                return -EINVAL;
            }
        }
    }
    return 0;
}
