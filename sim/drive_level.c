/* drive_level.c - see drive_level.h; the files are those of Linux' Documentation/ABI (block). */
#include "sim/drive_level.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sim/small_file.h"

#define SYSFS_SECTOR_BYTES  512 /* of size and stat, whatever the disk has */
#define SECTORS_PER_TRACK   63
#define TRACKS_PER_CYLINDER 255
#define PATH_BYTES          512
#define TEXT_BYTES          SMALL_FILE_TEXT_MAX

/* ---- parts ---- */

static void look_at_name(struct drive_level *out, const char *folder)
{
    char target[PATH_BYTES];
    ssize_t length = readlink(folder, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(out->name, sizeof out->name, "%s", slash ? slash + 1 : target);
}

static void look_at_geometry(struct drive_level *out, const char *disk)
{
    uint64_t sectors, sector_bytes, removable = 0;
    if (!small_file_number(disk, "size", &sectors) ||
        !small_file_number(disk, "queue/logical_block_size", &sector_bytes) || sector_bytes == 0 ||
        sector_bytes > UINT32_MAX)
        return;
    out->has_geometry = true;
    out->sector_bytes = (uint32_t)sector_bytes;
    out->sectors_per_track = SECTORS_PER_TRACK;
    out->tracks_per_cylinder = TRACKS_PER_CYLINDER;
    out->cylinders =
        sectors * SYSFS_SECTOR_BYTES / sector_bytes / SECTORS_PER_TRACK / TRACKS_PER_CYLINDER;
    (void)!small_file_number(disk, "removable", &removable);
    out->media = removable ? DRIVE_MEDIA_REMOVABLE : DRIVE_MEDIA_FIXED;
}

/* Of SCSI and SATA disks alone the kernel knows the read cache: "write back", "write through",
 * "none", "write back, no read (daft)". */
static enum drive_answer read_cache_of(const char *disk)
{
    char pattern[PATH_BYTES], text[TEXT_BYTES];
    glob_t found;
    enum drive_answer answer = DRIVE_UNKNOWN;
    snprintf(pattern, sizeof pattern, "%s/device/scsi_disk/*", disk);
    if (glob(pattern, 0, NULL, &found) != 0)
        return DRIVE_UNKNOWN;
    if (found.gl_pathc == 1 && small_file_text(found.gl_pathv[0], "cache_type", text, sizeof text))
        answer = strcmp(text, "none") == 0 || strstr(text, "no read") ? DRIVE_NO : DRIVE_YES;
    globfree(&found);
    return answer;
}

static void look_at_caches(struct drive_level *out, const char *disk)
{
    char text[TEXT_BYTES];
    out->read_cache = read_cache_of(disk);
    if (!small_file_text(disk, "queue/write_cache", text, sizeof text))
        return;
    if (strcmp(text, "write back") == 0)
        out->write_cache = DRIVE_YES;
    else if (strcmp(text, "write through") == 0)
        out->write_cache = DRIVE_NO;
}

/* "reads merged sectors ms writes merged sectors ms in-flight busy-ms ..." */
static void look_at_counters(struct drive_level *out, const char *folder)
{
    char text[TEXT_BYTES];
    struct drive_counters *c = &out->counters;
    uint64_t read_sectors, written_sectors;
    if (!small_file_text(folder, "stat", text, sizeof text))
        return;
    int count = sscanf(text,
                       "%" SCNu64 " %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %" SCNu64
                       " %" SCNu64 " %*u %" SCNu64,
                       &c->reads, &read_sectors, &c->read_ms, &c->writes, &written_sectors,
                       &c->write_ms, &c->busy_ms);
    out->has_counters = count == 7;
    c->bytes_read = read_sectors * SYSFS_SECTOR_BYTES;
    c->bytes_written = written_sectors * SYSFS_SECTOR_BYTES;
    if (!out->has_counters)
        *c = (struct drive_counters){0};
}

/* ---- all ---- */

void drive_level_look(struct drive_level *out, const char *sysfs, uint64_t device)
{
    char folder[PATH_BYTES / 2], disk[PATH_BYTES / 2 + 4];
    char partition[TEXT_BYTES];
    *out = (struct drive_level){.media = DRIVE_MEDIA_FIXED, .storage_number = minor(device)};
    snprintf(folder, sizeof folder, "%s/dev/block/%u:%u", sysfs, major(device), minor(device));
    if (access(folder, F_OK) != 0)
        return;
    /* The folder of a partition lies in its disk's, which alone has a queue. */
    bool is_partition = small_file_text(folder, "partition", partition, sizeof partition);
    snprintf(disk, sizeof disk, "%s%s", folder, is_partition ? "/.." : "");
    look_at_name(out, folder);
    look_at_geometry(out, disk);
    look_at_caches(out, disk);
    look_at_counters(out, folder);
}

bool drive_level_since(const struct drive_level *start, const struct drive_level *now,
                       struct drive_counters *out)
{
    const struct drive_counters *a = &start->counters, *b = &now->counters;
    *out = (struct drive_counters){0};
    if (!start->has_counters || !now->has_counters || b->reads < a->reads ||
        b->writes < a->writes || b->read_ms < a->read_ms || b->write_ms < a->write_ms ||
        b->bytes_read < a->bytes_read || b->bytes_written < a->bytes_written ||
        b->busy_ms < a->busy_ms)
        return false;
    *out = (struct drive_counters){
        .reads = b->reads - a->reads,
        .read_ms = b->read_ms - a->read_ms,
        .bytes_read = b->bytes_read - a->bytes_read,
        .writes = b->writes - a->writes,
        .write_ms = b->write_ms - a->write_ms,
        .bytes_written = b->bytes_written - a->bytes_written,
        .busy_ms = b->busy_ms - a->busy_ms,
    };
    return true;
}

const char *drive_answer_text(enum drive_answer answer)
{
    switch (answer) {
    case DRIVE_YES:
        return "Yes";
    case DRIVE_NO:
        return "No";
    case DRIVE_UNKNOWN:
        break;
    }
    return "Unknown";
}
