/*
 * final_summary.c - see final_summary.h.
 *
 * A disk that does not answer is information: SQLIOSim makes an error of it, which every reader of
 * its logs must forgive.
 */
#include "sim/final_summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define MS(ns) ((double)(ns) / (double)NS_PER_MS)

struct rows {
    final_summary_row row;
    void *context;
};

static void __attribute__((format(printf, 2, 3)))
put(const struct rows *rows, const char *format, ...)
{
    char text[FINAL_SUMMARY_ROW_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rows->row(rows->context, text);
}

static const char *yes_no(bool value)
{
    return value ? "Yes" : "No";
}

static void put_io(const struct rows *rows, const struct report_io *io)
{
    put(rows,
        "Target IO Duration (ms) = %" PRIu32 ", Running Average IO Duration (ms) = %" PRIu32
        ", Number of times IO throttled = %" PRIu64 ", IO request blocks = %" PRIu32,
        io->target_ms, io->running_average_ms, io->throttled, io->request_blocks);
    put(rows,
        "Reads = %" PRIu64 ", Scatter Reads = %" PRIu64 ", Writes = %" PRIu64
        ", Gather Writes = %" PRIu64 ", Total IO Time (ms) = %" PRIu64,
        io->reads, io->scatter_reads, io->writes, io->gather_writes,
        (uint64_t)(io->total_io_ns / NS_PER_MS));
}

static void put_truth(const struct rows *rows, const struct report_io *io)
{
    uint64_t ops = io->reads + io->scatter_reads + io->writes + io->gather_writes;
    if (ops == 0) {
        put(rows, FINAL_SUMMARY_OURS "no I/O to this file");
        return;
    }
    put(rows,
        FINAL_SUMMARY_OURS "IOs = %" PRIu64 ", true mean (ms) = %.3f; the running average above is "
                           "of the last IOs only",
        ops, MS(io->total_io_ns) / (double)ops);
    put(rows,
        FINAL_SUMMARY_OURS "p50 (ms) = %.3f, p90 (ms) = %.3f, p99 (ms) = %.3f, p99.9 (ms) = %.3f, "
                           "max (ms) = %.3f; over all phases, from submission to completion",
        MS(io->p50_ns), MS(io->p90_ns), MS(io->p99_ns), MS(io->p999_ns), MS(io->max_ns));
}

static void put_drive(const struct rows *rows, const struct report_file *file)
{
    const struct drive_level *drive = &file->drive;
    const struct drive_counters *c = &file->drive_counters;
    if (drive->has_geometry)
        put(rows,
            "DRIVE LEVEL: Sector size = %" PRIu32 ", Cylinders = %" PRIu64
            ", Media type = %d, Sectors per track = %u, Tracks per Cylinders = %u",
            drive->sector_bytes, drive->cylinders, (int)drive->media, drive->sectors_per_track,
            drive->tracks_per_cylinder);
    if (drive->read_cache == DRIVE_UNKNOWN && drive->write_cache == DRIVE_UNKNOWN)
        put(rows, "Unable to get disk cache info for %s", file->path);
    else
        put(rows, "DRIVE LEVEL: Read cache enabled = %s, Write cache enabled = %s",
            drive_answer_text(drive->read_cache), drive_answer_text(drive->write_cache));
    if (!file->has_drive_counters)
        return;
    put(rows,
        "DRIVE LEVEL: Read count = %" PRIu64 ", Read time = %" PRIu64 ", Write count = %" PRIu64
        ", Write time = %" PRIu64 ", Idle time = %" PRIu64 ", Bytes read = %" PRIu64
        ", Bytes written = %" PRIu64
        ", Split IO Count = 0, Storage number = %u, Storage manager name = %s",
        c->reads, c->read_ms, c->writes, c->write_ms, file->drive_idle_ms, c->bytes_read,
        c->bytes_written, drive->storage_number, drive->name);
    put(rows, FINAL_SUMMARY_OURS "the counters above are the whole disk's, other programs' I/O "
                                 "included; times are ms; Linux does not count split IOs");
}

void final_summary_of(const struct report_file *file, final_summary_row row, void *context)
{
    struct rows rows = {row, context};
    put(&rows, "********** Final Summary for file %s **********", file->path);
    put(&rows, "File Attributes: Compression = %s, Encryption = %s, Sparse = %s",
        yes_no(file->compressed), yes_no(file->encrypted), yes_no(file->sparse));
    put_io(&rows, &file->io);
    put_truth(&rows, &file->io);
    put_drive(&rows, file);
    put(&rows, "Closing file %s", file->path);
}
