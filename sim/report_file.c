/* report_file.c - see report_file.h. */
#include "sim/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define STAT_BLOCK_BYTES 512 /* the unit of st_blocks */

static void freeze_io(struct report_io *out, const struct io_account *account)
{
    struct hist hist;
    io_account_hist(account, &hist);
    *out = (struct report_io){
        .target_ms = account->target_ms,
        .running_average_ms = atomic_load(&account->running_average_ms),
        .request_blocks = atomic_load(&account->outstanding_high),
        .throttled = atomic_load(&account->throttled),
        .reads = atomic_load(&account->reads),
        .scatter_reads = atomic_load(&account->scatter_reads),
        .writes = atomic_load(&account->writes),
        .gather_writes = atomic_load(&account->gather_writes),
        .total_io_ns = atomic_load(&account->total_io_ns),
        .p50_ns = hist_quantile_ns(&hist, 0.50),
        .p90_ns = hist_quantile_ns(&hist, 0.90),
        .p99_ns = hist_quantile_ns(&hist, 0.99),
        .p999_ns = hist_quantile_ns(&hist, 0.999),
        .max_ns = hist.max_ns,
    };
}

static void freeze_attributes(struct report_file *out)
{
    struct statx st;
    if (statx(AT_FDCWD, out->path, AT_SYMLINK_NOFOLLOW, STATX_SIZE | STATX_BLOCKS, &st) != 0)
        return;
    out->compressed = st.stx_attributes & STATX_ATTR_COMPRESSED;
    out->encrypted = st.stx_attributes & STATX_ATTR_ENCRYPTED;
    out->sparse = st.stx_blocks < st.stx_size / STAT_BLOCK_BYTES;
}

static void freeze_drive(const struct run *run, struct report_file *out, const struct file *file)
{
    const struct drive_level *start = &run->drives[file->mark.file_uid - 1];
    uint64_t run_ms = (clock_now_ns(run->clock) - run->drives_ns) / NS_PER_MS;
    drive_level_look(&out->drive, DRIVE_SYSFS, file->device);
    out->has_drive_counters = drive_level_since(start, &out->drive, &out->drive_counters);
    uint64_t busy_ms = out->drive_counters.busy_ms;
    out->drive_idle_ms = run_ms > busy_ms ? run_ms - busy_ms : 0;
}

/* A modelled device has no disk, and its file's attributes are the host's business. */
void report_file_freeze(const struct report *report, struct report_file *out,
                        const struct file *file)
{
    freeze_io(&out->io, &file->target.account);
    if (!report->run->drives)
        return;
    freeze_attributes(out);
    freeze_drive(report->run, out, file);
}
