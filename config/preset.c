/*
 * preset.c - the table of presets; see preset.h.
 *
 * oltp is one SQL Server virtual machine as Microsoft's VM Fleet models it: 1,500 data I/Os of 8
 * KiB a second, 70 % reads, 95 % of them in 5 % of the space and 4 % in the next 10 %, and 300 log
 * writes a second of 32 KiB.  As transactions: 300 a second, 3.5 pages read, 1.5 of them updated,
 * and log records of 21.5 KiB on average: 1.5 of them and two marks are 32 KiB.  One transaction in
 * a hundred rolls back, as in SQLIOSim.  15 read-aheads of 64 KiB a second are the 1 % of
 * sequential reads of SPEC's database load.
 */
#include "config/preset.h"

#include <strings.h>

#include "config/wrap.h"

#define WIDTH  80
#define INDENT 4

static const struct preset_setting oltp_settings[] = {
    {"CONFIG", "RatedWarmUp", "60"},
    {"CONFIG", "RatedDuration", "300"},
    {"CONFIG", "TestCycleDuration", "0"},
    {"CONFIG", "CacheHitRatio", "0"}, /* a page access is a disk read: the rates are the disk's */
    {"RandomUser", "UserCount", "64"},
    {"RandomUser", "RatePerSecond", "300"},
    {"RandomUser", "ReadsPerTransaction", "3.5"},
    {"RandomUser", "UpdatesPerTransaction", "1.5"},
    {"RandomUser", "Skew", "95/5,4/10"},
    {"RandomUser", "MinLogPerBuffer", "16384"},
    {"RandomUser", "MaxLogPerBuffer", "26624"},
    {"RandomUser", "RollbackChance", "100"},
    {"ReadAheadUser", "UserCount", "4"},
    {"ReadAheadUser", "RatePerSecond", "15"},
    {"ReadAheadUser", "BuffersRAMin", "8"}, /* 64 KiB */
    {"ReadAheadUser", "BuffersRAMax", "8"},
    {"BulkUpdateUser", "UserCount", "0"},
    {"AuditUser", "UserCount", "1"},
    {"AuditUser", "BuffersValidated", "64"},
    {"AuditUser", "DelayAfterCycles", "1"},
    {"AuditUser", "AuditDelay", "200"},
    {"CpuIdleUser", "DiskShare", "0"}, /* in memory alone: no reads that nobody asked for */
    {NULL, NULL, NULL},
};

static const struct preset oltp = {
    .name = "oltp",
    .help =
        "One busy SQL Server: 300 transactions a second arrive, with 1,050 page reads, 450 page "
        "updates and 300 log writes of 32 KiB a second (1,500 data IOPS; --need N scales all "
        "of them). 60 s of warm-up, 300 s judged, no stress phase.",
    .settings = oltp_settings,
};

const struct preset *const presets[] = {&oltp};
const size_t presets_count = sizeof(presets) / sizeof(presets[0]);

const struct preset *preset_by_name(const char *name)
{
    for (size_t i = 0; i < presets_count; i++) {
        if (strcasecmp(presets[i]->name, name) == 0) {
            return presets[i];
        }
    }
    return NULL;
}

int preset_apply(const struct preset *preset, struct profile *profile)
{
    struct opt_where where = {.source = "preset"};
    int first = 0;

    for (const struct preset_setting *s = preset->settings; s->section != NULL; s++) {
        int rc = profile_set(profile, s->section, s->key, s->value, where);
        first = first != 0 ? first : rc;
    }
    return first;
}

void presets_print(FILE *out)
{
    for (size_t i = 0; i < presets_count; i++) {
        const char *section = "";

        fprintf(out, "%s%s\n%*s", i > 0 ? "\n" : "", presets[i]->name, INDENT, "");
        wrap_print(out, presets[i]->help, INDENT, INDENT, WIDTH);
        for (const struct preset_setting *s = presets[i]->settings; s->section != NULL; s++) {
            if (section != s->section) {
                fprintf(out, "%*s[%s]\n", INDENT, "", s->section);
            }
            section = s->section;
            fprintf(out, "%*s%s=%s\n", INDENT, "", s->key, s->value);
        }
    }
}
