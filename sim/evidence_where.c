/* evidence_where.c - see evidence_where.h. */
#include "sim/evidence_where.h"

#include <inttypes.h>
#include <linux/fiemap.h>
#include <string.h>
#include <time.h>

#include "sim/io.h"
#include "verify/page.h"

/* ---- devices ---- */

static void write_step(FILE *out, const char *title, const struct disk_step *step)
{
    fprintf(out, "%-16s /dev/%s, byte %" PRIu64 " (LBA %" PRIu64 " of %" PRIu32 "-byte sectors",
            title, step->name, step->offset, step->offset / step->sector_bytes, step->sector_bytes);
    fprintf(out, step->offset % step->sector_bytes ? ", byte %" PRIu64 " of it)\n" : ")\n",
            step->offset % step->sector_bytes);
}

static const struct {
    uint32_t flag;
    const char *text;
} extent_flags[] = {
    {FIEMAP_EXTENT_UNKNOWN, "place unknown"},     {FIEMAP_EXTENT_DELALLOC, "not yet allocated"},
    {FIEMAP_EXTENT_ENCODED, "encoded"},           {FIEMAP_EXTENT_DATA_INLINE, "inline"},
    {FIEMAP_EXTENT_NOT_ALIGNED, "not aligned"},   {FIEMAP_EXTENT_UNWRITTEN, "unwritten"},
    {FIEMAP_EXTENT_SHARED, "shared with others"},
};

static void write_extent(FILE *out, const struct disk_extent *extent)
{
    fprintf(out, "extent           file byte %" PRIu64 ", %" PRIu64 " bytes", extent->file_offset,
            extent->size_bytes);
    if (extent->placed)
        fprintf(out, ", at byte %" PRIu64 " of the file system's device", extent->fs_offset);
    for (size_t i = 0; i < sizeof extent_flags / sizeof extent_flags[0]; i++)
        if (extent->flags & extent_flags[i].flag)
            fprintf(out, ", %s", extent_flags[i].text);
    fputc('\n', out);
}

/* The sectors of a page that are not the ones that were owed, each where it is on the disk. */
static void write_sector_places(FILE *out, const struct finding *finding,
                                const struct disk_place *place)
{
    const struct disk_step *disk = disk_place_bottom(place);
    size_t count = strlen(finding->why.sectors);
    if (!finding->has_page || !disk)
        return;
    for (size_t i = 0; i < count; i++) {
        char letter = finding->why.sectors[i];
        uint64_t at;
        if (letter == SECTOR_NEW ||
            !disk_place_find(place, disk, finding->offset + i * PAGE_SECTOR_BYTES, &at))
            continue;
        fprintf(out, "sector %-2zu = %c    /dev/%s, byte %" PRIu64 " (LBA %" PRIu64 ")\n", i,
                letter, disk->name, at, at / disk->sector_bytes);
    }
}

void evidence_write_place(FILE *out, const struct finding *finding, const struct disk_place *place)
{
    if (!place) {
        fputs("device           not looked for\n", out);
        return;
    }
    if (!place->step_count)
        fprintf(out, "device           not known: %s\n", place->why_not);
    for (unsigned i = 0; i < place->step_count; i++)
        write_step(out, i ? "  on" : "device", &place->steps[i]);
    for (unsigned i = 0; i < place->extent_count; i++)
        write_extent(out, &place->extents[i]);
    if (place->cut)
        fputs("extent           ... and more\n", out);
    write_sector_places(out, finding, place);
}

/* ---- history ---- */

/* "2026-01-01 00:00:00.000123" */
static void write_time(FILE *out, uint64_t realtime_ns)
{
    char text[32] = "?";
    time_t seconds = (time_t)(realtime_ns / NS_PER_S);
    struct tm broken;
    if (gmtime_r(&seconds, &broken))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &broken);
    fprintf(out, "%s.%06u", text, (unsigned)(realtime_ns % NS_PER_S / 1000));
}

static const char *op_text(uint8_t op)
{
    return op == IO_READ ? "read" : op == IO_WRITE ? "write" : "flush";
}

static void write_past(FILE *out, const struct io_past *past, uint64_t epoch_ns)
{
    write_time(out, epoch_ns + past->submit_ns);
    fprintf(out, " %12.3f %-5s %14" PRIu64 " %8" PRIu32 " %-16s %6u %8" PRIu32 " ",
            (double)past->latency_ns / (double)NS_PER_MS, op_text(past->op), past->offset,
            past->size_bytes, stream_name((enum stream)past->stream), past->ring, past->others);
    if (past->error)
        fprintf(out, "error %d, %s\n", past->error, strerror(past->error));
    else
        fputs("ok\n", out);
}

struct table {
    FILE *out;
    const struct io_histories *histories;
    uint64_t epoch_ns; /* realtime of the run clock's 0 */
};

/* size_bytes 0: flushes. */
static void write_table(const struct table *table, const char *title, uint16_t file_uid,
                        uint64_t offset, uint64_t size_bytes, unsigned max)
{
    struct io_past past[EVIDENCE_HISTORY_MAX];
    uint64_t left_out = 0;
    unsigned count =
        io_history_collect(table->histories, file_uid, offset, size_bytes, past, max, &left_out);
    fprintf(table->out, "\n%s: %u", title, count);
    if (left_out)
        fprintf(table->out, " (%" PRIu64 " older ones left out)", left_out);
    fputc('\n', table->out);
    if (count)
        fputs("submitted (UTC)                      ms op            offset    bytes stream       "
              "    worker   others result\n",
              table->out);
    for (unsigned i = 0; i < count; i++)
        write_past(table->out, &past[i], table->epoch_ns);
}

void evidence_write_history(FILE *out, const struct finding *finding, const struct clock *clock,
                            const struct io_histories *histories)
{
    const struct explanation *why = &finding->why;
    if (!histories || !histories->count)
        return;
    struct table table = {.out = out,
                          .histories = histories,
                          .epoch_ns = clock_realtime_ns(clock) - clock_now_ns(clock)};
    uint64_t since_ns = io_history_since_ns(histories);
    fputs("\nI/O history      every request since ", out);
    if (since_ns)
        write_time(out, table.epoch_ns + since_ns);
    fputs(since_ns ? " UTC is remembered\n" : "the run began is remembered\n", out);
    write_table(&table, "requests that touched these bytes", finding->file_uid, finding->offset,
                finding->size_bytes ? finding->size_bytes : 1, EVIDENCE_HISTORY_MAX);
    write_table(&table, "flushes of this file", finding->file_uid, 0, 0, EVIDENCE_FLUSHES_MAX);
    if (why->has_origin && !why->origin_other_run)
        write_table(&table, "requests that touched the page whose content was read",
                    why->origin_file_uid, (uint64_t)why->origin_page_no * PAGE_BYTES, PAGE_BYTES,
                    EVIDENCE_HISTORY_MAX);
}
