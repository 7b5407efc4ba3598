/*
 * later_sections.c - sections of SQLIOSim's actors that pagestorm accepts and does not act on yet.
 *
 * Their values are checked like any other's, so that a file which loads today loads when the actor
 * exists.  When one is built, its table moves to the actor's file in patterns/.
 */
#include <errno.h>

#include "config/profile.h"

struct shrink_settings {
    int64_t interval_ns_min, interval_ns_max, extends_min, extends_max;
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
    &shrink_section,
};
const size_t later_sections_count = sizeof(later_sections) / sizeof(later_sections[0]);
