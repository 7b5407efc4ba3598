/* run_log.c - see run_log.h. */
#include "sim/run_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run_errors.h"
#include "sim/wal_growth.h"
#include "sim/wal_read_back.h"

static unsigned database_number(const struct wal *wal)
{
    const struct database *database =
        (const struct database *)((const char *)wal - offsetof(struct database, wal));
    return database->index + 1;
}

static void growth_tell(struct wal *wal, enum wal_growth_event event)
{
    struct run *run = wal->context;
    const struct wal_growth_now *now = wal_growth_now(wal);
    struct file *file = &wal->files[now->file];
    switch (event) {
    case WAL_GROWTH_BEGINS:
        run_task_started(run, false);
        return;
    case WAL_GROWTH_ENDS:
        run_log(run, "System", EVENT_HERE,
                "The log of database %u has grown from %" PRIu64 " to %" PRIu64
                " MiB: no virtual log file was free (log_reuse_wait %s): %s",
                database_number(wal), now->from_bytes >> 20, now->to_bytes >> 20,
                wal_reuse_wait_name(wal_reuse_wait(wal)), file->path);
        break;
    case WAL_GROWTH_FAILED:
        run_growth_error(run, file, now->error_offset, now->error);
        break;
    }
    run_task_ended(run, false);
}

static void full_tell(struct wal *wal)
{
    run_tell(wal->context, EVENT_WARNING, EVENT_HERE,
             "The log of database %u is full and stays so: log_reuse_wait is %s. Transactions are "
             "refused until space is given back (SQL Server: 9002). Make the log larger, or let it "
             "grow (MaxSize, Increment)",
             database_number(wal), wal_reuse_wait_name(wal->full_why));
}

int run_log_prepare(struct run *run, struct database *database)
{
    const struct config_settings *settings = run->settings;
    struct wal *wal = &database->wal;
    struct wal_growth_rule *rules = calloc(wal->file_count, sizeof *rules);
    bool grows = false;
    if (!rules)
        return -ENOMEM;
    for (unsigned i = 0; i < wal->file_count; i++) {
        const struct plan_file *planned = &run->config.plan->files[wal->files[i].mark.file_uid - 1];
        rules[i] = (struct wal_growth_rule){planned->increment_bytes, planned->max_bytes};
        grows |= planned->max_bytes > planned->size_bytes;
    }
    wal->on_full = full_tell;
    struct wal_growth_how how = {
        .rules = rules,
        .vlf_rule = (enum vlf_rule)settings->vlf_rule,
        .fresh_byte = settings->fresh_log_byte == CONFIG_FRESH_LOG_C0 ? 0xC0 : 0x00,
        .on_growth = growth_tell,
    };
    struct wal_read_back_how read_back = {
        .findings = &run->findings,
        .run = &run->identity,
        .share = (uint64_t)settings->log_read_back,
        .seed = run->config.plan->seed,
        .fresh_is_zero = settings->fresh_log_byte != CONFIG_FRESH_LOG_C0,
    };
    int error = grows ? wal_growth_enable(wal, &how) : 0;
    if (!error && settings->log_read_back)
        error = wal_read_back_enable(wal, &read_back);
    free(rules);
    return error;
}
