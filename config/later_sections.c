/*
 * later_sections.c - sections of SQLIOSim's actors that pagestorm accepts and does not act on yet.
 *
 * Their values are checked like any other's, so that a file which loads today loads when the actor
 * exists.  When one is built, its table moves to the actor's file in patterns/.
 */
#include <errno.h>

#include "config/profile.h"

/* CPUCount * 1023 - 100 with 64 CPUs: SQLIOSim's limit for all users together. */
#define USERS_MAX "65372"
#define PAGES_MAX "1048576" /* 8 GiB of pages in one cycle: more cannot be meant */

struct bulk_update_settings {
    int64_t user_count, pages_min, pages_max, delay_after_cycles, delay_ns;
};

struct shrink_settings {
    int64_t interval_ns_min, interval_ns_max, extends_min, extends_max;
};

#define USER_HELP     "Number of users; -1 = twice the CPUs but at most 8, 0 = none."
#define CYCLES_HELP   "Cycles before a pause."
#define DELAY_HELP    "The pause."

#define FIELD(member) OPT_FIELD(struct bulk_update_settings, member)

static const struct opt bulk_update_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "-1",
     .min = "-1",
     .max = USERS_MAX,
     .unit = "users",
     FIELD(user_count),
     .help = USER_HELP},
    {.name = "BuffersBUMin",
     .type = OPT_INT,
     .def = "64",
     .min = "0",
     .max = PAGES_MAX,
     .unit = "pages",
     FIELD(pages_min),
     .help = "Fewest pages changed in a cycle."},
    {.name = "BuffersBUMax",
     .type = OPT_INT,
     .def = "128",
     .min = "0",
     .max = PAGES_MAX,
     .unit = "pages",
     FIELD(pages_max),
     .help = "Most pages changed in a cycle."},
    {.name = "DelayAfterCycles",
     .type = OPT_INT,
     .def = "2",
     .min = "0",
     .max = "1000000",
     .unit = "cycles",
     FIELD(delay_after_cycles),
     .help = CYCLES_HELP},
    {.name = "BUDelay",
     .type = OPT_MILLIS,
     .def = "10",
     .min = "0",
     .max = "86400000",
     .unit = "ms",
     FIELD(delay_ns),
     .help = DELAY_HELP},
};

#undef FIELD

static int check_bulk_update(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct bulk_update_settings *bulk = settings;

    if (bulk->pages_min > bulk->pages_max) {
        snprintf(text, OPT_TEXT_MAX, "BuffersBUMin is above BuffersBUMax");
        return -EINVAL;
    }
    return 0;
}

static const struct opt_section bulk_update_section = {
    .name = "BulkUpdateUser",
    .opts = bulk_update_opts,
    .count = sizeof(bulk_update_opts) / sizeof(bulk_update_opts[0]),
    .size_bytes = sizeof(struct bulk_update_settings),
    .help = "Users that load in bulk: SELECT INTO, BULK INSERT.",
    .later = true,
    .check = check_bulk_update,
};

#define FIELD(member) OPT_FIELD(struct shrink_settings, member)

static const struct opt shrink_opts[] = {
    {.name = "MinShrinkInterval",
     .type = OPT_SECONDS,
     .def = "120",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(interval_ns_min),
     .help = "Shortest wait between two changes of size."},
    {.name = "MaxShrinkInterval",
     .type = OPT_SECONDS,
     .def = "600",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(interval_ns_max),
     .help = "Longest wait between two changes of size."},
    {.name = "MinExtends",
     .alias = "MinExtents",
     .type = OPT_INT,
     .def = "1",
     .min = "0",
     .max = "1000000",
     .unit = "increments",
     FIELD(extends_min),
     .help = "Fewest increments by which a file grows or shrinks."},
    {.name = "MaxExtends",
     .alias = "MaxExtents",
     .type = OPT_INT,
     .def = "20",
     .min = "0",
     .max = "1000000",
     .unit = "increments",
     FIELD(extends_max),
     .help = "Most increments by which a file grows or shrinks."},
};

#undef FIELD

static int check_shrink(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct shrink_settings *shrink = settings;

    if (shrink->interval_ns_min > shrink->interval_ns_max) {
        snprintf(text, OPT_TEXT_MAX, "MinShrinkInterval is above MaxShrinkInterval");
        return -EINVAL;
    }
    if (shrink->extends_min > shrink->extends_max) {
        snprintf(text, OPT_TEXT_MAX, "MinExtends is above MaxExtends");
        return -EINVAL;
    }
    return 0;
}

static const struct opt_section shrink_section = {
    .name = "ShrinkUser",
    .opts = shrink_opts,
    .count = sizeof(shrink_opts) / sizeof(shrink_opts[0]),
    .size_bytes = sizeof(struct shrink_settings),
    .help = "The one actor that grows and shrinks files.",
    .later = true,
    .check = check_shrink,
};

const struct opt_section *const later_sections[] = {
    &bulk_update_section,
    &shrink_section,
};
const size_t later_sections_count = sizeof(later_sections) / sizeof(later_sections[0]);
