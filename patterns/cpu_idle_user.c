/*
 * cpu_idle_user.c - CpuIdleUser: SQLIOSim's "CPU Idle User", which validates buffers when a logical
 * CPU has nothing to do.
 *
 * It checks one clean page at a time: mostly in memory (a page that changed there while nobody was
 * allowed to change it is SQL Server's error 832), now and then on the disk as an audit user does.
 * SQLIOSim has no section for it; the keys here are pagestorm's.
 *
 * Invariant: it never burns an idle CPU: it works in bursts, one every 10 ms, of as many pages as
 * PagesPerSecond allows, and one burst a page or two apart where that is less than a page in 10 ms.
 *
 * What it does not do: choose pages (sim/frame_check.c walks the pool), or run while its worker has
 * other work: the worker sees to that.
 */
#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define RNG_PURPOSE      0x49444C45 /* "IDLE" */
#define SECOND_NS        1000000000
#define BURSTS_PER_S     100
#define PAGES_PER_S_TEXT "10000000" /* 80 GB/s: more than a CPU can check */
#define SHARE_WHOLE      10000

struct cpu_idle_settings {
    int64_t user_count;
    int64_t pages_per_second;
    int64_t disk_share;
};

struct cpu_idle_user {
    const struct cpu_idle_settings *settings;
    struct rng rng;
    int64_t left; /* pages of this burst */
};

#define FIELD(member) OPT_FIELD(struct cpu_idle_settings, member)

static const struct opt cpu_idle_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "-1",
     .min = "-1",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(user_count),
     .help = "Number of idle users; -1 = one for each CPU, as SQLIOSim has; 0 = none."},
    {.name = "PagesPerSecond",
     .type = OPT_INT,
     .def = "1000",
     .min = "1",
     .max = PAGES_PER_S_TEXT,
     .unit = "pages",
     FIELD(pages_per_second),
     .help = "Most clean pages that one idle user checks in a second: 1,000 cost about half a per "
             "cent of a CPU."},
    {.name = "DiskShare",
     .type = OPT_HUNDREDTHS,
     .def = "100",
     .unit = "1/100 %",
     FIELD(disk_share),
     .help = "Share of these pages that is read again from the disk and verified there instead of "
             "in memory."},
};

static const struct opt_section cpu_idle_section = {
    .name = "CpuIdleUser",
    .opts = cpu_idle_opts,
    .count = sizeof(cpu_idle_opts) / sizeof(cpu_idle_opts[0]),
    .size_bytes = sizeof(struct cpu_idle_settings),
    .help = "Users that run while a CPU is idle and check that clean pages in memory did not "
            "change (SQL Server: 832).",
    .run_wide = true, /* a service: it goes on through all phases */
};

static int64_t cpu_idle_count(const void *settings, int64_t cpu_count)
{
    const int64_t count = ((const struct cpu_idle_settings *)settings)->user_count;

    return count < 0 ? cpu_count : count;
}

static size_t cpu_idle_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct cpu_idle_user);
}

static void cpu_idle_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct cpu_idle_user *user = state;

    *user = (struct cpu_idle_user){.settings = settings};
    rng_split(&user->rng, seed, RNG_PURPOSE, actor_index);
}

static void cpu_idle_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct cpu_idle_user *user = state;
    const int64_t rate = user->settings->pages_per_second;
    const int64_t burst = rate > BURSTS_PER_S ? rate / BURSTS_PER_S : 1;

    (void)view;
    if (user->left == 0) {
        user->left = burst;
        *out = (struct op){.kind = OP_THINK, .think_ns = burst * SECOND_NS / rate};
        return;
    }
    user->left--;
    *out = (struct op){
        .kind = OP_FRAME_CHECK,
        .on_disk = rng_below(&user->rng, SHARE_WHOLE) < (uint64_t)user->settings->disk_share,
    };
}

const struct pattern pattern_cpu_idle_user = {
    .name = "CpuIdleUser",
    .help =
        "CPU idle user: checks clean pages in memory, and some on the disk, while a CPU is idle.",
    .section = &cpu_idle_section,
    .service = true,
    .idle = true,
    .checks = true,
    .user_count = cpu_idle_count,
    .state_size = cpu_idle_state_size,
    .init = cpu_idle_init,
    .next = cpu_idle_next,
};
