/* report_backups.c - see report_backups.h. */
#include "sim/report_backups.h"

#include <inttypes.h>

#include "sim/backup_media.h"

#define BYTES_MB    1048576.0
#define MB_OF_TB    1048576.0
#define HOUR_S      3600.0
#define WRONG_SHOWN 10 /* the rest stands in result.json */

double report_backup_mb_per_s(const struct backup_record *record)
{
    double seconds = (double)(record->took_ns ? record->took_ns : 1) / (double)NS_PER_S;
    return (double)record->bytes / BYTES_MB / seconds;
}

/* Of one kind of one database. */
struct sums {
    uint64_t count, incomplete, verified, restored;
    struct backup_record all; /* the complete ones together */
};

static struct sums sums_of(const struct backup_records *records, bool log)
{
    struct sums sums = {0};
    for (size_t i = 0; i < backup_records_count(records); i++) {
        const struct backup_record *record = backup_record_at(records, i);
        if (record->log != log)
            continue;
        sums.count += record->complete;
        sums.incomplete += !record->complete;
        if (!record->complete)
            continue;
        sums.all.pages += record->pages;
        sums.all.log_bytes += record->log_bytes;
        sums.all.bytes += record->bytes;
        sums.all.took_ns += record->took_ns;
        sums.verified += record->verified == BACKUP_LOOK_RIGHT;
        sums.restored += record->restored == BACKUP_LOOK_RIGHT;
    }
    return sums;
}

static void write_sums(const struct sums *sums, unsigned database, bool log, FILE *out)
{
    double mb_per_s = report_backup_mb_per_s(&sums->all);
    double hours = mb_per_s > 0 ? MB_OF_TB / mb_per_s / HOUR_S : 0;
    if (sums->count + sums->incomplete == 0)
        return;
    fprintf(out,
            "  %-8s %8u %6" PRIu64 " %11" PRIu64 " %9.1f %9.1f %8.1f %9.1f %9" PRIu64 " %8" PRIu64
            "\n",
            log ? "log" : "full", database, sums->count, sums->all.pages,
            (double)sums->all.log_bytes / BYTES_MB, (double)sums->all.took_ns / (double)NS_PER_S,
            mb_per_s, hours, sums->verified, sums->restored);
}

static bool is_wrong(const struct backup_record *record)
{
    return !record->complete || record->verified == BACKUP_LOOK_WRONG ||
           record->restored == BACKUP_LOOK_WRONG;
}

static const char *what_is_wrong(const struct backup_record *record)
{
    if (!record->complete)
        return record->why;
    return record->verified == BACKUP_LOOK_WRONG ? "what was read back is damaged"
                                                 : "what was restored is not right";
}

static void write_wrong(const struct backup_records *records, unsigned database, FILE *out)
{
    unsigned shown = 0, more = 0;
    for (size_t i = 0; i < backup_records_count(records); i++) {
        const struct backup_record *record = backup_record_at(records, i);
        if (!is_wrong(record))
            continue;
        if (shown++ < WRONG_SHOWN)
            fprintf(out, "  %s backup %u of database %u %s: %s\n", record->log ? "log" : "full",
                    record->number, database, record->complete ? "is wrong" : "is incomplete",
                    what_is_wrong(record));
        else
            more++;
    }
    if (more)
        fprintf(out, "  and %u more, which result.json names\n", more);
}

static bool any_backup(const struct run *run)
{
    uint64_t made = 0;
    for (unsigned i = 0; i < run->user_database_count && run->backups; i++)
        made += run->backups[i].records.made;
    return made > 0;
}

void report_backups_text(const struct report *report, FILE *out)
{
    const struct run *run = report->run;
    if (!any_backup(run))
        return;
    fprintf(out, "\n%-10s %8s %6s %11s %9s %9s %8s %9s %9s %8s\n", "backups", "database", "count",
            "pages", "log MB", "seconds", "MB/s", "hours/TB", "verified", "restored");
    for (unsigned i = 0; i < run->user_database_count; i++) {
        const struct backup_records *records = &run->backups[i].records;
        for (int log = 0; log <= 1; log++) {
            struct sums sums = sums_of(records, log);
            write_sums(&sums, i + 1, log, out);
        }
        write_wrong(records, i + 1, out);
    }
}
