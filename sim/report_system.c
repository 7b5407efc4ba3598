/* report_system.c - see report_system.h. */
#include "sim/report_system.h"

#include <inttypes.h>

#define NS_PER_MS_REAL 1e6

static void checkpoint_row(const struct database *database, enum checkpoint_kind kind, FILE *out)
{
    const struct checkpoint_account *account = &database->desk.accounts[kind];
    double count = (double)account->count;
    double writes = account->writes ? (double)account->writes : 1;
    fprintf(out, "  %-10s %8u %8" PRIu64 " %11.1f %11.1f %11.1f %11.1f\n",
            checkpoint_kind_name(kind), database->index + 1, account->count,
            (double)account->pages / count, (double)account->pages / writes,
            (double)account->ns / count / NS_PER_MS_REAL, (double)account->ns_max / NS_PER_MS_REAL);
}

static void checkpoints_text(const struct run *run, FILE *out)
{
    bool headed = false;
    for (unsigned i = 0; i < run->database_count; i++) {
        const struct database *database = &run->databases[i];
        for (enum checkpoint_kind kind = 0; kind < CHECKPOINT_KINDS; kind++) {
            if (database->desk.accounts[kind].count == 0)
                continue;
            if (!headed)
                fprintf(out, "\n%-12s %8s %8s %11s %11s %11s %11s\n", "checkpoints", "database",
                        "count", "pages each", "a write", "ms each", "ms longest");
            headed = true;
            checkpoint_row(database, kind, out);
        }
    }
}

/* The load was not what users asked for where this is much. */
static void limit_text(const struct run *run, FILE *out)
{
    struct io_limit *limit = (struct io_limit *)(uintptr_t)&run->limit;
    const struct config_settings *settings = run->settings;
    uint64_t held = atomic_load(&limit->held);
    if (!limit->on)
        return;
    fprintf(out, "\nlimit");
    if (settings->max_iops)
        fprintf(out, "  %" PRId64 " IOPS (MaxIops)", settings->max_iops);
    if (settings->max_mb_per_s)
        fprintf(out, "  %" PRId64 " MB/s (MaxMBps)", settings->max_mb_per_s);
    fprintf(out, ": %" PRIu64 " requests were held back", held);
    if (held)
        fprintf(out, ", %.1f ms on average",
                (double)atomic_load(&limit->held_ns) / (double)held / NS_PER_MS_REAL);
    fputc('\n', out);
}

void report_system_text(const struct report *report, FILE *out)
{
    checkpoints_text(report->run, out);
    limit_text(report->run, out);
}
