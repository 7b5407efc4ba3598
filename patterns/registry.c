/* registry.c - the patterns of patterns.def as a table, and their option sections. */
#include <string.h>
#include <strings.h>

#include "patterns/pattern.h"

#define PATTERN(name) &pattern_##name,
const struct pattern *const patterns[] = {
#include "patterns/patterns.def"
};
#undef PATTERN

const size_t patterns_count = sizeof(patterns) / sizeof(patterns[0]);

int64_t pattern_share(const struct pattern *pattern, const void *settings)
{
    const struct opt *opt = pattern->section ? opt_find(pattern->section, "Share") : NULL;
    int64_t share = 0;

    if (opt)
        memcpy(&share, (const char *)settings + opt->offset, sizeof share);
    return share;
}

const struct pattern *pattern_by_name(const char *name)
{
    for (size_t i = 0; i < patterns_count; i++)
        if (strcasecmp(patterns[i]->name, name) == 0)
            return patterns[i];
    return NULL;
}

size_t pattern_sections(const struct opt_section **out, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < patterns_count && count < max; i++)
        if (patterns[i]->section)
            out[count++] = patterns[i]->section;
    return count;
}
