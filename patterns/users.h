/*
 * users.h - what all user patterns share: SQLIOSim's rule for UserCount.
 *
 * Source: SQLIOSim's documentation; its limit is CPUCount * 1023 - 100 with at most 64 CPUs.
 */
#ifndef PATTERNS_USERS_H
#define PATTERNS_USERS_H

#include <stdint.h>

#define USERS_MAX_TEXT   "65372" /* 64 * 1023 - 100 */
#define USERS_BY_CPU     (-1)
#define USERS_BY_CPU_MAX 8
/* The row of the key Share of every user section (pattern_share); its field is int64_t share. */
#define USERS_SHARE_OPT(settings_type)                                                             \
    {                                                                                              \
        .name = "Share", .type = OPT_HUNDREDTHS, .def = "0", .min = "0", .max = "10000",           \
        .unit = "1/100 %", OPT_FIELD(settings_type, share),                                        \
        .help = "Part of the requests of all users that have a Share, held however fast the "      \
                "storage serves the one or the other: a closed loop, without RatePerSecond; 0 = "  \
                "no part is held.",                                                                \
    }
#define USERS_RETRY_FILES_NS 100000000 /* no file has a page yet: look again in 100 ms */
/* Somebody who is through with its phase rests until it is called; this only has an end. */
#define USERS_THROUGH_NS ((int64_t)3600 * 1000000000)

/* -1 = two for each CPU, at most 8; 0 = none. */
static inline int64_t users_count(int64_t setting, int64_t cpu_count)
{
    if (setting != USERS_BY_CPU)
        return setting;
    return cpu_count * 2 < USERS_BY_CPU_MAX ? cpu_count * 2 : USERS_BY_CPU_MAX;
}

#endif
