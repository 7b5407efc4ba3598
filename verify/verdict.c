/*
 * verdict.c - the fault classes of verdicts.def as a table.
 *
 * Invariant: one row per enum value, in the same order, because both are expanded from the same
 * list.  What it does not do: decide which class a fault has (explain.c).
 */
#include "verify/verdict.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct verdict_info verdict_table[VERDICT_COUNT] = {
    [VERDICT_NONE] = {"none", SEVERITY_INFORMATION, BLAME_STORAGE, 0, "Nothing is wrong."},
#define VERDICT(name, severity, blame, sql_error, sentence)                                        \
    [VERDICT_##name] = {#name, SEVERITY_##severity, BLAME_##blame, sql_error, sentence},
#include "verify/verdicts.def"
#undef VERDICT
};

static const char *const severity_names[] = {
    [SEVERITY_INTEGRITY] = "integrity",
    [SEVERITY_IO_ERROR] = "io_error",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_INFORMATION] = "information",
};

static const char *const blame_names[] = {
    [BLAME_STORAGE] = "storage",
    [BLAME_MEMORY] = "memory",
    [BLAME_OTHER_PROCESS] = "other_process",
    [BLAME_HOST] = "host",
};

const struct verdict_info *verdict_info(enum verdict verdict)
{
    assert((unsigned)verdict < VERDICT_COUNT);
    return &verdict_table[verdict];
}

enum verdict verdict_by_name(const char *name)
{
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++)
        if (strcmp(verdict_table[i].name, name) == 0)
            return (enum verdict)i;
    return VERDICT_NONE;
}

const char *severity_name(enum severity severity)
{
    assert((size_t)severity < sizeof(severity_names) / sizeof(severity_names[0]));
    return severity_names[severity];
}

const char *blame_name(enum blame blame)
{
    assert((size_t)blame < sizeof(blame_names) / sizeof(blame_names[0]));
    return blame_names[blame];
}
