/* cpu_list.c - see cpu_list.h. */
#include "config/cpu_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/units.h"

#define WORDS    (CPU_LIST_MAX / 64)
#define MORE     "..."
#define PART_MAX 16 /* ",8190-8191" */

void cpu_list_add(struct cpu_list *list, unsigned cpu)
{
    list->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

bool cpu_list_has(const struct cpu_list *list, unsigned cpu)
{
    return cpu < CPU_LIST_MAX && (list->words[cpu / 64] >> cpu % 64 & 1) != 0;
}

bool cpu_list_is_empty(const struct cpu_list *list)
{
    return cpu_list_count(list) == 0;
}

unsigned cpu_list_count(const struct cpu_list *list)
{
    unsigned count = 0;

    for (size_t i = 0; i < WORDS; i++) {
        count += (unsigned)__builtin_popcountll(list->words[i]);
    }
    return count;
}

bool cpu_list_is_mask(const struct cpu_list *list, uint64_t *mask)
{
    *mask = list->words[0];
    return cpu_list_count(list) == (unsigned)__builtin_popcountll(*mask);
}

struct cpu_list cpu_list_and(const struct cpu_list *a, const struct cpu_list *b)
{
    struct cpu_list out;

    for (size_t i = 0; i < WORDS; i++) {
        out.words[i] = a->words[i] & b->words[i];
    }
    return out;
}

struct cpu_list cpu_list_without(const struct cpu_list *a, const struct cpu_list *b)
{
    struct cpu_list out;

    for (size_t i = 0; i < WORDS; i++) {
        out.words[i] = a->words[i] & ~b->words[i];
    }
    return out;
}

/* One number; the cursor stands behind it. */
static int read_cpu(const char **cursor, unsigned *out)
{
    unsigned cpu = 0;

    if (**cursor < '0' || **cursor > '9') {
        return -EINVAL;
    }
    for (; **cursor >= '0' && **cursor <= '9'; (*cursor)++) {
        cpu = cpu * 10 + (unsigned)(**cursor - '0');
        if (cpu >= CPU_LIST_MAX) {
            return -ERANGE;
        }
    }
    *out = cpu;
    return 0;
}

static int read_range(const char **cursor, struct cpu_list *list)
{
    unsigned first;
    int rc = read_cpu(cursor, &first);
    unsigned last = first;

    if (rc == 0 && **cursor == '-') {
        (*cursor)++;
        rc = read_cpu(cursor, &last);
    }
    if (rc == 0 && last < first) {
        rc = -EINVAL;
    }
    for (unsigned cpu = first; rc == 0 && cpu <= last; cpu++) {
        cpu_list_add(list, cpu);
    }
    return rc;
}

int cpu_list_parse_ranges(const char *text, struct cpu_list *out)
{
    struct cpu_list list = {{0}};
    const char *cursor = text;
    int rc = read_range(&cursor, &list);

    while (rc == 0 && *cursor == ',') {
        cursor++;
        rc = read_range(&cursor, &list);
    }
    if (rc == 0 && *cursor != '\0') {
        rc = -EINVAL;
    }
    if (rc == 0) {
        *out = list;
    }
    return rc;
}

int cpu_list_parse(const char *text, struct cpu_list *out)
{
    uint64_t mask;

    if (strlen(text) > CPU_LIST_VALUE_MAX) {
        return -ERANGE;
    }
    if (strpbrk(text, ",-") != NULL) {
        return cpu_list_parse_ranges(text, out);
    }
    int rc = units_mask(text, &mask);
    if (rc == 0) {
        *out = (struct cpu_list){{mask}};
    }
    return rc;
}

static unsigned last_of_run(const struct cpu_list *list, unsigned first)
{
    while (cpu_list_has(list, first + 1)) {
        first++;
    }
    return first;
}

/* Whole ranges only: where the next one does not fit, "...". */
static void write_ranges(const struct cpu_list *list, char *out, size_t out_size_bytes)
{
    size_t used = 0;

    out[0] = '\0';
    for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
        char part[PART_MAX];
        if (!cpu_list_has(list, cpu)) {
            continue;
        }
        unsigned last = last_of_run(list, cpu);
        const char *comma = used > 0 ? "," : "";
        int length = last > cpu ? snprintf(part, sizeof(part), "%s%u-%u", comma, cpu, last)
                                : snprintf(part, sizeof(part), "%s%u", comma, cpu);
        if (used + (size_t)length + sizeof(MORE) > out_size_bytes) {
            snprintf(out + used, out_size_bytes - used, MORE);
            return;
        }
        memcpy(out + used, part, (size_t)length + 1);
        used += (size_t)length;
        cpu = last;
    }
}

void cpu_list_write(const struct cpu_list *list, char *out, size_t out_size_bytes)
{
    char one[PART_MAX];
    uint64_t mask;

    if (cpu_list_is_mask(list, &mask)) {
        snprintf(out, out_size_bytes, "%#" PRIx64, mask);
        return;
    }
    write_ranges(list, out, out_size_bytes);
    if (strpbrk(out, ",-") == NULL) { /* one CPU: else it would be read as a mask */
        snprintf(one, sizeof(one), "%s", out);
        snprintf(out, out_size_bytes, "%s-%s", one, one);
    }
}

void cpu_list_text(const struct cpu_list *list, char *out, size_t out_size_bytes)
{
    if (cpu_list_is_empty(list)) {
        snprintf(out, out_size_bytes, "none");
    } else {
        write_ranges(list, out, out_size_bytes);
    }
}
