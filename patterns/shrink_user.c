/*
 * shrink_user.c - ShrinkUser: files grow and shrink while they are used.
 *
 * One actor, as in SQLIOSim.  Every MinShrinkInterval to MaxShrinkInterval it chooses a file with
 * Shrinkable=TRUE and an Increment, and grows (with the other files of its database) or shrinks it
 * by MinExtends to MaxExtends increments: at the initial size it grows, at MaxSize it shrinks,
 * between them with equal chance.
 */
#include <errno.h>
#include <stddef.h>

#include "patterns/pattern.h"

#define RNG_PURPOSE   0x53485249 /* "SHRI" */
#define PAGES_AT_ONCE 64         /* of a load into what a growth brought */

struct shrink_settings {
    int64_t interval_ns_min, interval_ns_max, extends_min, extends_max;
};

struct shrink_user {
    const struct shrink_settings *settings;
    struct rng rng;
    bool waited;
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
     .help = "Fewest increments by which a file grows or shrinks; 0 counts as one."},
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

static int shrink_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct shrink_settings *s = settings;

    if (s->interval_ns_min > s->interval_ns_max) {
        snprintf(text, OPT_TEXT_MAX, "MinShrinkInterval is above MaxShrinkInterval");
        return -EINVAL;
    }
    if (s->extends_min > s->extends_max) {
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
    .help = "The one actor that grows and shrinks files with Shrinkable=TRUE.",
    .check = shrink_check,
};

static int64_t shrink_count(const void *settings, int64_t cpu_count)
{
    (void)settings;
    (void)cpu_count;
    return 1;
}

static size_t shrink_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct shrink_user);
}

static void shrink_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct shrink_user *user = state;

    *user = (struct shrink_user){.settings = settings};
    rng_split(&user->rng, seed, RNG_PURPOSE, actor_index);
}

static bool may_change(const struct pattern_file *file)
{
    return file->shrinkable && file->increment_pages && file->max_pages > file->initial_pages;
}

/* One of the files that may change; false: there is none. */
static bool choose(struct shrink_user *user, const struct pattern_view *view, unsigned *chosen)
{
    unsigned count = 0;

    for (unsigned i = 0; i < view->file_count; i++)
        count += may_change(&view->files[i]);
    if (count == 0)
        return false;
    uint64_t left = rng_below(&user->rng, count);

    for (*chosen = 0; !may_change(&view->files[*chosen]) || left-- > 0;)
        ++*chosen;
    return true;
}

static int64_t increments(struct shrink_user *user, const struct pattern_file *file)
{
    const struct shrink_settings *s = user->settings;
    int64_t count = rng_range(&user->rng, s->extends_min, s->extends_max);
    bool grows = rng_below(&user->rng, 2) == 0;

    if (file->size_pages <= file->initial_pages)
        grows = true;
    if (file->size_pages >= file->max_pages)
        grows = false;
    count = count > 1 ? count : 1;
    return grows ? count : -count;
}

static void shrink_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct shrink_user *user = state;
    const struct shrink_settings *s = user->settings;
    unsigned file;

    user->waited = !user->waited;
    if (user->waited || !choose(user, view, &file)) {
        /* Not 0: with nothing to do in between, time would stand still. */
        int64_t ns = rng_range(&user->rng, s->interval_ns_min, s->interval_ns_max);
        *out = (struct op){.kind = OP_THINK, .think_ns = ns > 0 ? ns : 1000000};
        return;
    }
    *out = (struct op){
        .kind = OP_RESIZE, .file = file, .increments = increments(user, &view->files[file])};
}

static int64_t shrink_pages(const void *settings)
{
    (void)settings;
    return PAGES_AT_ONCE;
}

static int64_t shrink_increments(const void *settings)
{
    return ((const struct shrink_settings *)settings)->extends_max;
}

const struct pattern pattern_shrink_user = {
    .name = "ShrinkUser",
    .help = "autogrow and DBCC SHRINKFILE: files grow and shrink while they are used.",
    .section = &shrink_section,
    .user_count = shrink_count,
    .state_size = shrink_state_size,
    .init = shrink_init,
    .next = shrink_next,
    .loads = true,
    .pages_at_once = shrink_pages,
    .resizes = shrink_increments,
};
