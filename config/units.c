/*
 * units.c - strict reading and exact printing of numbers with units.
 *
 * Invariant: what a print function writes, its reader returns unchanged.
 * Does not know options, ranges or messages (opt.c does).
 */
#include "config/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    int64_t factor;
};

/* Largest first: the printers take the first that divides. */
static const struct unit size_units[] = {
    {"T", UNITS_TIB},   {"TB", UNITS_TIB},  {"TiB", UNITS_TIB}, {"G", UNITS_GIB},
    {"GB", UNITS_GIB},  {"GiB", UNITS_GIB}, {"M", UNITS_MIB},   {"MB", UNITS_MIB},
    {"MiB", UNITS_MIB}, {"K", UNITS_KIB},   {"KB", UNITS_KIB},  {"KiB", UNITS_KIB},
    {"B", 1},
};

static const struct unit time_units[] = {
    {"d", UNITS_DAY_NS}, {"h", UNITS_H_NS},   {"m", UNITS_MIN_NS}, {"s", UNITS_S_NS},
    {"ms", UNITS_MS_NS}, {"us", UNITS_US_NS}, {"ns", 1},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One or more digits from *cursor, which is moved behind them. */
static int read_digits(const char **cursor, uint64_t *out)
{
    uint64_t value = 0;
    bool fits = true;

    if (!is_digit(**cursor)) {
        return -EINVAL;
    }
    for (; is_digit(**cursor); (*cursor)++) {
        fits = fits && !__builtin_mul_overflow(value, 10U, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(**cursor - '0'), &value);
    }
    *out = value;
    return fits ? 0 : -ERANGE;
}

int units_int(const char *text, int64_t *out)
{
    bool negative = text[0] == '-';
    const char *cursor = text + (negative ? 1 : 0);
    uint64_t magnitude;
    int rc = read_digits(&cursor, &magnitude);

    if (rc == -EINVAL || *cursor != '\0') {
        return -EINVAL;
    }
    if (rc != 0 || magnitude > (uint64_t)INT64_MAX + (negative ? 1U : 0U)) {
        return -ERANGE;
    }
    *out = negative ? (int64_t)(0U - magnitude) : (int64_t)magnitude;
    return 0;
}

static const struct unit *find_unit(const char *name, const struct unit *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static int read_scaled(const char *text, const struct unit *units, size_t count, int64_t bare,
                       int64_t *out)
{
    const char *cursor = text;
    uint64_t number;
    int64_t factor = bare;
    int64_t product;
    int rc = read_digits(&cursor, &number);

    if (rc == -EINVAL) {
        return -EINVAL;
    }
    if (*cursor != '\0') {
        const struct unit *unit = find_unit(cursor + (*cursor == ' ' ? 1 : 0), units, count);
        if (unit == NULL) {
            return -EINVAL;
        }
        factor = unit->factor;
    }
    if (rc != 0 || __builtin_mul_overflow(number, factor, &product)) {
        return -ERANGE;
    }
    *out = product;
    return 0;
}

int units_size(const char *text, int64_t bare_bytes, int64_t *out)
{
    return read_scaled(text, size_units, COUNT(size_units), bare_bytes, out);
}

int units_duration(const char *text, int64_t bare_ns, int64_t *out)
{
    return read_scaled(text, time_units, COUNT(time_units), bare_ns, out);
}

/* The two decimals behind the point of a percentage, as hundredths. */
static int read_decimals(const char **cursor, uint64_t *out)
{
    const char *start = *cursor;
    uint64_t value;
    int rc = read_digits(cursor, &value);
    ptrdiff_t length = *cursor - start;

    if (rc != 0 || length > 2) {
        return -EINVAL;
    }
    *out = length == 1 ? value * 10 : value;
    return 0;
}

static int read_percent(const char *cursor, uint64_t whole, uint64_t *out)
{
    uint64_t decimals = 0;

    if (*cursor == '.') {
        cursor++;
        if (read_decimals(&cursor, &decimals) != 0) {
            return -EINVAL;
        }
    }
    cursor += *cursor == ' ' ? 1 : 0;
    if (strcmp(cursor, "%") != 0) {
        return -EINVAL;
    }
    *out = whole > UNITS_HUNDREDTHS_MAX ? UINT64_MAX : whole * 100 + decimals;
    return 0;
}

int units_hundredths(const char *text, int64_t *out)
{
    const char *cursor = text;
    uint64_t value;
    int rc = read_digits(&cursor, &value);

    if (rc == -EINVAL) {
        return -EINVAL;
    }
    if (*cursor != '\0') {
        int percent_rc = read_percent(cursor, rc == 0 ? value : UINT64_MAX, &value);
        if (percent_rc != 0) {
            return percent_rc;
        }
    }
    if (rc != 0 || value > UNITS_HUNDREDTHS_MAX) {
        return -ERANGE;
    }
    *out = (int64_t)value;
    return 0;
}

int units_decimal(const char *text, int64_t *out)
{
    const char *cursor = text;
    uint64_t whole;
    uint64_t decimals = 0;
    int64_t value;
    int rc = read_digits(&cursor, &whole);

    if (rc == -EINVAL) {
        return -EINVAL;
    }
    if (*cursor == '.') {
        const char *start = ++cursor;
        if (read_digits(&cursor, &decimals) != 0 || cursor - start > 3) {
            return -EINVAL;
        }
        for (ptrdiff_t length = cursor - start; length < 3; length++) {
            decimals *= 10;
        }
    }
    if (*cursor != '\0') {
        return -EINVAL;
    }
    if (rc != 0 || __builtin_mul_overflow(whole, (uint64_t)1000, &value) ||
        __builtin_add_overflow(value, (int64_t)decimals, &value)) {
        return -ERANGE;
    }
    *out = value;
    return 0;
}

static int hex_value(char c)
{
    static const char hex_digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(hex_digits, c | (c >= 'A' ? 0x20 : 0)) : NULL;

    return found != NULL ? (int)(found - hex_digits) : -1;
}

static int read_hex(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    bool fits = true;

    if (text[0] == '\0') {
        return -EINVAL;
    }
    for (; *text != '\0'; text++) {
        int digit = hex_value(*text);
        if (digit < 0) {
            return -EINVAL;
        }
        fits = fits && value <= UINT64_MAX >> 4;
        value = value << 4 | (uint64_t)digit;
    }
    *out = value;
    return fits ? 0 : -ERANGE;
}

int units_mask(const char *text, uint64_t *out)
{
    const char *cursor = text;
    uint64_t value;
    int rc;

    if (strncasecmp(text, "0x", 2) == 0) {
        rc = read_hex(text + 2, &value);
    } else {
        rc = read_digits(&cursor, &value);
        rc = *cursor != '\0' ? -EINVAL : rc;
    }
    if (rc == 0) {
        *out = value;
    }
    return rc;
}

int units_bool(const char *text, bool *out)
{
    static const char *const words[2][4] = {{"FALSE", "no", "off", "0"},
                                            {"TRUE", "yes", "on", "1"}};

    for (size_t i = 0; i < 2 * COUNT(words[0]); i++) {
        if (strcasecmp(text, words[i % 2][i / 2]) == 0) {
            *out = i % 2 == 1;
            return 0;
        }
    }
    return -EINVAL;
}

int units_enum(const char *text, const char *choices, int64_t *out)
{
    size_t length = strlen(text);
    int64_t index = 0;

    for (const char *choice = choices; choice != NULL; index++) {
        const char *end = strchrnul(choice, '|');
        if (length > 0 && (size_t)(end - choice) == length &&
            strncasecmp(choice, text, length) == 0) {
            *out = index;
            return 0;
        }
        choice = *end == '|' ? end + 1 : NULL;
    }
    return -EINVAL;
}

static void print_scaled(int64_t value, int64_t bare, const struct unit *units, size_t count,
                         char *out, size_t out_size_bytes)
{
    const struct unit *unit = units;

    if (value % bare == 0) {
        snprintf(out, out_size_bytes, "%" PRId64, value / bare);
        return;
    }
    while (value % unit->factor != 0 && unit < units + count - 1) {
        unit++;
    }
    snprintf(out, out_size_bytes, "%" PRId64 "%s", value / unit->factor, unit->name);
}

void units_print_size(int64_t bytes, int64_t bare_bytes, char *out, size_t out_size_bytes)
{
    print_scaled(bytes, bare_bytes, size_units, COUNT(size_units), out, out_size_bytes);
}

void units_print_decimal(int64_t thousandths, char *out, size_t out_size_bytes)
{
    int64_t part = thousandths % 1000;
    int decimals = part == 0 ? 0 : part % 100 == 0 ? 1 : part % 10 == 0 ? 2 : 3;

    for (int i = decimals; i < 3; i++) {
        part /= 10;
    }
    if (decimals == 0) {
        snprintf(out, out_size_bytes, "%" PRId64, thousandths / 1000);
    } else {
        snprintf(out, out_size_bytes, "%" PRId64 ".%0*" PRId64, thousandths / 1000, decimals, part);
    }
}

void units_print_duration(int64_t ns, int64_t bare_ns, char *out, size_t out_size_bytes)
{
    print_scaled(ns, bare_ns, time_units, COUNT(time_units), out, out_size_bytes);
}

void units_print_enum(int64_t index, const char *choices, char *out, size_t out_size_bytes)
{
    const char *choice = choices;

    while (index > 0 && choice != NULL) {
        choice = strchr(choice, '|');
        choice = choice != NULL ? choice + 1 : NULL;
        index--;
    }
    if (choice == NULL) {
        choice = "";
    }
    snprintf(out, out_size_bytes, "%.*s", (int)strcspn(choice, "|"), choice);
}

/* "%.2f" without trailing zeros: 1.50 -> 1.5, 2.00 -> 2. */
static void print_short(double value, const char *unit, char *out, size_t out_size_bytes)
{
    char number[UNITS_TEXT_MAX];
    int length = snprintf(number, sizeof(number), "%.2f", value);

    while (length > 0 && number[length - 1] == '0') {
        number[--length] = '\0';
    }
    if (length > 0 && number[length - 1] == '.') {
        number[--length] = '\0';
    }
    snprintf(out, out_size_bytes, "%s %s", number, unit);
}

void units_human_size(int64_t bytes, char *out, size_t out_size_bytes)
{
    static const struct unit names[] = {
        {"TiB", UNITS_TIB}, {"GiB", UNITS_GIB}, {"MiB", UNITS_MIB}, {"KiB", UNITS_KIB}};

    for (size_t i = 0; i < COUNT(names); i++) {
        if (bytes >= names[i].factor) {
            print_short((double)bytes / (double)names[i].factor, names[i].name, out,
                        out_size_bytes);
            return;
        }
    }
    snprintf(out, out_size_bytes, "%" PRId64 " bytes", bytes);
}

void units_human_duration(int64_t ns, char *out, size_t out_size_bytes)
{
    static const struct unit names[] = {
        {"d", UNITS_DAY_NS}, {"h", UNITS_H_NS}, {"min", UNITS_MIN_NS}, {"s", UNITS_S_NS}};
    char text[UNITS_TEXT_MAX * 2] = "";
    int64_t rest = ns;

    if (ns < UNITS_S_NS) {
        print_short((double)ns / (double)UNITS_MS_NS, "ms", out, out_size_bytes);
        return;
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        if (rest >= names[i].factor) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof(text) - used, "%s%" PRId64 " %s", used > 0 ? " " : "",
                     rest / names[i].factor, names[i].name);
            rest %= names[i].factor;
        }
    }
    if (rest != 0) {
        print_short((double)ns / (double)UNITS_S_NS, "s", text, sizeof(text));
    }
    snprintf(out, out_size_bytes, "%s", text);
}

void units_human_hundredths(int64_t hundredths, char *out, size_t out_size_bytes)
{
    print_short((double)hundredths / 100.0, "%", out, out_size_bytes);
}
