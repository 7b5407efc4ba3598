/*
 * cpu_list.h - a set of CPUs by the system's numbers; an empty one stands for any CPU.
 *
 * As the value of a key it is written as SQLIOSim's mask of the first 64 (5, 0x5: CPU 0 and CPU 2)
 * or as a list (0-127,200).  What has neither comma nor minus is a mask; one CPU alone is 200-200.
 *
 * Pure values, no ownership.  Errors: -EINVAL (syntax, a range that runs backwards), -ERANGE (a
 * number too large).
 */
#ifndef CONFIG_CPU_LIST_H
#define CONFIG_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_LIST_MAX       8192 /* the largest CONFIG_NR_CPUS of Linux: x86 with MAXSMP */
#define CPU_LIST_VALUE_MAX 3900 /* longest value of a key: fits in OPT_STRING_MAX */
#define CPU_LIST_TEXT_MAX  200  /* for messages: what does not fit ends in "..." */

/* Bit n % 64 of word n / 64 is CPU n: as cpu_set_t has it on a little-endian machine. */
struct cpu_list {
    uint64_t words[CPU_LIST_MAX / 64];
};

/* The value of a key: mask or list; -ERANGE also above CPU_LIST_VALUE_MAX bytes.  *out stays on
 * error. */
int cpu_list_parse(const char *text, struct cpu_list *out) __attribute__((warn_unused_result));
/* Only ranges, as the kernel writes them: "0" is CPU 0. */
int cpu_list_parse_ranges(const char *text, struct cpu_list *out)
    __attribute__((warn_unused_result));
/* What cpu_list_parse() reads back: "0xff", "0-127,200", "0" for none; never longer than what was
 * read but for the shortest, so CPU_LIST_VALUE_MAX + 4 bytes are enough. */
void cpu_list_write(const struct cpu_list *list, char *out, size_t out_size_bytes);
/* For people: "0-3,7"; "none" for an empty one. */
void cpu_list_text(const struct cpu_list *list, char *out, size_t out_size_bytes);

void cpu_list_add(struct cpu_list *list, unsigned cpu); /* below CPU_LIST_MAX */
bool cpu_list_has(const struct cpu_list *list, unsigned cpu);
bool cpu_list_is_empty(const struct cpu_list *list);
unsigned cpu_list_count(const struct cpu_list *list);
/* Is every CPU among the first 64?  Their mask then. */
bool cpu_list_is_mask(const struct cpu_list *list, uint64_t *mask);
struct cpu_list cpu_list_and(const struct cpu_list *a, const struct cpu_list *b);
struct cpu_list cpu_list_without(const struct cpu_list *a, const struct cpu_list *b);

#endif
