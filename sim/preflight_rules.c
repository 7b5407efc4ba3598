/*
 * preflight_rules.c - see preflight_rules.h.
 *
 * A rule is a row of path_rules or host_rules; a setting that is one number is a row of
 * number_rules alone.
 */
#include "sim/preflight_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/units.h"
#include "sim/exit_code.h"

#define SECTOR_MAX_BYTES     4096 /* SQL Server knows 512 and 4,096 */
#define READ_AHEAD_KIB       2048 /* blockdev --setra 4096: units of 512 bytes */
#define FREE_PERCENT_MIN     10
#define PERCENT              100
#define AIO_USED_PERCENT_MAX 90
#define TRACE_NO_FLUSH       3979
#define TRACE_FLUSH          3982
#define NFS_MAJOR            4
#define NFS_MINOR            2

static void say(char *out, size_t out_size_bytes, const char *format, va_list arguments)
{
    size_t used = strlen(out);
    vsnprintf(out + used, out_size_bytes - used, format, arguments);
}

static void __attribute__((format(printf, 2, 3)))
value(struct preflight_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(line->value, sizeof line->value, format, arguments);
    va_end(arguments);
}

/* The worst grade stays; each reason is a sentence. */
static void __attribute__((format(printf, 3, 4)))
grade(struct preflight_line *line, enum preflight_grade grade, const char *format, ...)
{
    va_list arguments;
    if (grade > line->grade)
        line->grade = grade;
    if (line->advice[0])
        snprintf(line->advice + strlen(line->advice), sizeof line->advice - strlen(line->advice),
                 " ");
    va_start(arguments, format);
    say(line->advice, sizeof line->advice, format, arguments);
    va_end(arguments);
}

static const struct device_link *top_of(const struct path_facts *facts)
{
    return facts->place.chain.count ? &facts->place.chain.links[0] : NULL;
}

static bool is_type(const struct path_facts *facts, const char *type)
{
    return strcmp(facts->volume.type, type) == 0;
}

/* ---- file system ---- */

struct file_system_row {
    const char *type;
    enum preflight_grade grade;
    const char *why;
};

/* What is not listed is not supported. */
static const struct file_system_row file_systems[] = {
    {"xfs", PREFLIGHT_OK, ""},
    {"ext4", PREFLIGHT_OK, ""},
    {"nfs", PREFLIGHT_REFUSED,
     "Microsoft supports NFS 4.2 and later only: older versions lack what SQL Server needs "
     "(fallocate, sparse files). Mount it with vers=4.2."},
    {"tmpfs", PREFLIGHT_REFUSED, "Files there are memory: nothing survives, and O_DIRECT is none."},
    {"ramfs", PREFLIGHT_REFUSED, "Files there are memory, and there is no O_DIRECT."},
    {"overlay", PREFLIGHT_REFUSED,
     "This is a container's own layer: Microsoft does not support it for databases, and files are "
     "gone with the container. Mount a volume on XFS or ext4 there."},
    {"btrfs", PREFLIGHT_REFUSED,
     "Microsoft supports XFS and ext4. Copy-on-write turns each page write into new allocations: "
     "no write is a pure overwrite, and files break into pieces."},
    {"zfs", PREFLIGHT_REFUSED,
     "Microsoft supports XFS and ext4. ZFS has no O_DIRECT before 2.3, with which SQL Server opens "
     "its files."},
    {"ext3", PREFLIGHT_REFUSED, "Microsoft supports XFS and ext4. Convert it to ext4."},
};

static const struct file_system_row *file_system_row(const char *type)
{
    static const struct file_system_row other = {
        "", PREFLIGHT_REFUSED, "Microsoft supports XFS and ext4 for SQL Server's files."};
    if (strcmp(type, "nfs4") == 0)
        type = "nfs";
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++)
        if (strcmp(type, file_systems[i].type) == 0)
            return &file_systems[i];
    return &other;
}

static bool is_nfs_new(const char *options)
{
    unsigned major_no, minor_no;
    const char *version = strstr(options, "vers=");
    return version && sscanf(version, "vers=%u.%u", &major_no, &minor_no) == 2 &&
           (major_no > NFS_MAJOR || (major_no == NFS_MAJOR && minor_no >= NFS_MINOR));
}

static void judge_file_system(const struct path_facts *f, const struct host_facts *host,
                              struct preflight_line *line)
{
    (void)host;
    if (f->kind == PATH_BLOCK_DEVICE) {
        value(line, f->volume.type[0] ? "%s, mounted at %s" : "none is mounted from this device",
              f->volume.type, f->volume.mount_point);
        grade(line, PREFLIGHT_NOTE,
              "SQL Server needs a file system: make XFS on it, mount it, and look at the mount "
              "point.");
        return;
    }
    if (!f->volume.type[0]) {
        value(line, "unknown");
        grade(line, PREFLIGHT_NOTE, "This system does not show its mounts.");
        return;
    }
    value(line, "%s on %s at %s", f->volume.type, f->volume.source, f->volume.mount_point);
    const struct file_system_row *row = file_system_row(f->volume.type);
    if (strcmp(row->type, "nfs") == 0 && is_nfs_new(f->volume.options)) {
        if (!device_facts_option(f->volume.options, "nolock") &&
            !device_facts_option(f->volume.options, "local_lock"))
            grade(line, PREFLIGHT_ADVICE,
                  "Microsoft asks for the mount option nolock with NFS 4.2.");
    } else if (row->grade != PREFLIGHT_OK) {
        grade(line, row->grade, "%s", row->why);
    }
}

static void judge_options(const struct path_facts *f, const struct host_facts *host,
                          struct preflight_line *line)
{
    (void)host;
    if (!f->volume.options[0])
        return;
    value(line, "%s", f->volume.options);
    if (f->read_only ||
        (f->kind != PATH_BLOCK_DEVICE && device_facts_option(f->volume.options, "ro")))
        grade(line, PREFLIGHT_REFUSED, "It is mounted read-only: mount it with rw.");
    if ((is_type(f, "xfs") || is_type(f, "ext4") || is_type(f, "btrfs")) &&
        !device_facts_option(f->volume.options, "noatime"))
        grade(line, PREFLIGHT_ADVICE,
              "noatime is recommended: without it reads cause writes of access times.");
    if (device_facts_option(f->volume.options, "nobarrier") ||
        strstr(f->volume.options, "barrier=0"))
        grade(line, PREFLIGHT_ADVICE,
              "Without barriers a volatile cache is not flushed: acknowledged data is lost with "
              "the power.");
    if (device_facts_option(f->volume.options, "dax"))
        grade(line, PREFLIGHT_ADVICE,
              "With dax, data files may lie here, log files may not: they need sectors that are "
              "written whole.");
}

static void judge_attributes(const struct path_facts *f, const struct host_facts *host,
                             struct preflight_line *line)
{
    (void)host;
    bool squeezed = f->compressed || device_facts_option(f->volume.options, "compress") ||
                    device_facts_option(f->volume.options, "compress-force");
    if (f->kind == PATH_BLOCK_DEVICE || (!squeezed && !f->encrypted && !is_type(f, "btrfs")))
        return;
    if (is_type(f, "btrfs"))
        value(line, f->no_cow ? "no copy-on-write" : "copy-on-write");
    if (squeezed)
        value(line, "%scompressed", line->value[0] ? ", " : "");
    if (f->encrypted)
        value(line, "%sencrypted", line->value[0] ? ", " : "");
    if (squeezed)
        grade(line, PREFLIGHT_REFUSED,
              "SQL Server's files may not be compressed: the file system would split and move "
              "pages. Use a directory without compression.");
    if (f->encrypted)
        grade(line, PREFLIGHT_ADVICE,
              "Encrypted by the file system: direct I/O may go through the page cache. Encrypt "
              "below it (LUKS), or let SQL Server do it (TDE).");
    if (is_type(f, "btrfs") && !f->no_cow)
        grade(line, PREFLIGHT_ADVICE,
              "chattr +C on the empty directory turns copy-on-write and checksums off.");
}

/* ---- device ---- */

static void judge_device(const struct path_facts *f, const struct host_facts *host,
                         struct preflight_line *line)
{
    (void)host;
    const struct device_chain *chain = &f->place.chain;
    for (unsigned i = 0; i < chain->count; i++) {
        const struct device_link *link = &chain->links[i];
        value(line, "%s%s (%s%s%s)",
              i ? link->depth > chain->links[i - 1].depth ? " < " : ", " : "", link->name,
              device_kind_text(link->kind), link->detail[0] ? ": " : "", link->detail);
    }
    if (chain->cut)
        value(line, " and more");
    if (!chain->count) {
        value(line, "%s", f->volume.source[0] ? f->volume.source : "unknown");
        grade(line, PREFLIGHT_NOTE,
              "No disk is seen below: its sectors, cache and load are not "
              "known here.");
    }
    if (device_chain_is_remote(chain))
        grade(line, PREFLIGHT_NOTE,
              "Storage behind a network: a lost path stalls I/O (833 from 15 s on).");
    if (device_chain_find(chain, DEVICE_LOOP))
        grade(line, PREFLIGHT_ADVICE,
              "A loop device adds a file system and maybe a cache: good for trials only.");
    if (device_chain_find(chain, DEVICE_MEMORY))
        grade(line, PREFLIGHT_REFUSED, "This is memory: nothing survives a power cut.");
    if (device_chain_find(chain, DEVICE_USB))
        grade(line, PREFLIGHT_ADVICE, "USB bridges often ignore flushes.");
}

/* 5179: the volume's sectors are too large; 5178: the file was made for smaller ones. */
static void judge_sectors(const struct path_facts *f, const struct host_facts *host,
                          struct preflight_line *line)
{
    (void)host;
    const struct device_link *top = top_of(f);
    if (!top || !top->logical_bytes) {
        value(line, "unknown");
        grade(line, PREFLIGHT_NOTE, "Nothing here tells the sectors of the device.");
        return;
    }
    uint64_t physical = top->physical_bytes ? top->physical_bytes : top->logical_bytes;
    value(line, "logical %" PRIu64 ", physical %" PRIu64 " bytes", top->logical_bytes, physical);
    if (physical > SECTOR_MAX_BYTES || top->logical_bytes > SECTOR_MAX_BYTES)
        grade(line, PREFLIGHT_REFUSED,
              "SQL Server accepts sectors of 512 and 4,096 bytes: error 5179. Have the device show "
              "4,096 (on Windows: ForcedPhysicalSectorSizeInBytes \"* 4095\").");
    else if (f->file_sector_bytes && f->file_sector_bytes < physical)
        grade(line, PREFLIGHT_REFUSED,
              "The file was made for sectors of %" PRIu32 " bytes: error 5178. Restore it from a "
              "backup here, or put it on a device with its sectors.",
              f->file_sector_bytes);
    else if (physical == SECTOR_MAX_BYTES)
        value(line, ": log blocks of 4,096 bytes");
    else
        value(line,
              ": log blocks of %" PRIu64 " bytes (trace flag 1800 makes them 4,096, for "
              "replicas on 4K sectors)",
              physical);
}

/* What this user may not do says nothing of SQL Server's. */
static bool may_not_try(const struct path_facts *f)
{
    if (f->kind == PATH_BLOCK_DEVICE)
        return f->direct_error == -EPERM || f->direct_error == -EACCES;
    return !f->writable;
}

static void judge_direct(const struct path_facts *f, const struct host_facts *host,
                         struct preflight_line *line)
{
    (void)host;
    if (may_not_try(f)) {
        value(line, "not tried");
        if (f->kind == PATH_BLOCK_DEVICE)
            grade(line, PREFLIGHT_NOTE, "This user may not open the device: root may.");
        else if (!f->read_only)
            grade(line, PREFLIGHT_ADVICE,
                  "%s is not writable for this user: try as SQL Server's (mssql), who must be "
                  "able to, or as root.",
                  f->directory);
    } else if (f->direct_error) {
        value(line, "failed: %s", strerror(-f->direct_error));
        grade(line, PREFLIGHT_REFUSED,
              "A small file could not be written and read back with "
              "O_DIRECT and O_DSYNC, with which SQL Server works.");
    } else if (!f->direct.works) {
        value(line, "no");
        grade(line, PREFLIGHT_REFUSED,
              "SQL Server opens its files with O_DIRECT, which this file "
              "system does not have or serves from memory.");
    } else if (!f->direct.came_back) {
        value(line, "wrong data");
        grade(line, PREFLIGHT_REFUSED, "What was written came back otherwise: do not use it.");
    } else {
        value(line, "works, aligned to %" PRIu32 " bytes (memory %" PRIu32 ")%s",
              f->direct.offset_bytes, f->direct.memory_bytes,
              f->kind == PATH_BLOCK_DEVICE ? "" : "; written and read back");
        if (f->direct.offset_bytes > SECTOR_MAX_BYTES)
            grade(line, PREFLIGHT_REFUSED,
                  "Log blocks are multiples of 512 or 4,096 bytes and "
                  "would be misaligned (9012).");
    }
}

bool preflight_fua_usable(const struct path_facts *facts, const struct host_facts *host)
{
    const struct device_link *top = top_of(facts);
    bool kernel = (is_type(facts, "xfs") && host_facts_kernel_is(host, 4, 18)) ||
                  (is_type(facts, "ext4") && host_facts_kernel_is(host, 5, 6));
    return kernel && top && top->fua == DRIVE_YES;
}

static void judge_cache(const struct path_facts *f, const struct host_facts *host,
                        struct preflight_line *line)
{
    (void)host;
    const struct device_link *top = top_of(f);
    if (!top || top->write_cache == DRIVE_UNKNOWN) {
        value(line, "unknown");
        grade(line, PREFLIGHT_NOTE,
              "Whether acknowledged writes lie in a volatile cache is not "
              "shown here.");
    } else if (top->write_cache == DRIVE_NO) {
        value(line, "write through: the device says that a completed write is durable");
    } else {
        value(line, "write back: durable after a flush or FUA");
    }
}

static void judge_fua(const struct path_facts *f, const struct host_facts *host,
                      struct preflight_line *line)
{
    const struct device_link *top = top_of(f);
    if (!top || top->fua == DRIVE_UNKNOWN)
        value(line, "unknown");
    else
        value(line, "%s", top->fua == DRIVE_YES ? "yes" : "no");
    if (preflight_fua_usable(f, host))
        value(line, ": a write-through write needs no flush behind it");
    else if (top && top->fua == DRIVE_YES)
        value(line, ", but kernel %s flushes on %s all the same (XFS: from 4.18, ext4: from 5.6)",
              host->kernel[0] ? host->kernel : "(unknown)",
              f->volume.type[0] ? f->volume.type : "it");
    else if (top && top->fua == DRIVE_NO && top->write_cache == DRIVE_NO)
        value(line, ", and not needed: there is no volatile cache to pass by");
    else if (top && top->write_cache == DRIVE_YES)
        value(line, ": each write-through write is a write and a flush");
}

static void judge_atomic(const struct path_facts *f, const struct host_facts *host,
                         struct preflight_line *line)
{
    (void)host;
    const struct device_link *top = top_of(f);
    if (top && top->atomic_write_bytes >= PAGE_BYTES)
        value(line, "up to %" PRIu64 " bytes are written whole or not at all",
              top->atomic_write_bytes);
    else if (top && top->atomic_write_bytes)
        value(line, "up to %" PRIu64 " bytes: a page of 8,192 may be torn",
              top->atomic_write_bytes);
    else
        value(line, "not reported: a power cut may tear a page (824), which its checksum shows");
}

static void judge_queue(const struct path_facts *f, const struct host_facts *host,
                        struct preflight_line *line)
{
    (void)host;
    const struct device_link *top = top_of(f);
    if (!top)
        return;
    value(line, "scheduler %s, %" PRIu64 " requests, %s", top->scheduler[0] ? top->scheduler : "-",
          top->queue_requests,
          top->rotational == DRIVE_YES  ? "rotational"
          : top->rotational == DRIVE_NO ? "not rotational"
                                        : "rotational unknown");
    if (top->rotational == DRIVE_NO && strcmp(top->scheduler, "bfq") == 0)
        grade(line, PREFLIGHT_NOTE, "none or mq-deadline suit a database better than bfq.");
}

static void judge_read_ahead(const struct path_facts *f, const struct host_facts *host,
                             struct preflight_line *line)
{
    (void)host;
    const struct device_link *top = top_of(f);
    if (!top || !top->logical_bytes)
        return;
    value(line, "%" PRIu64 " KiB", top->read_ahead_kib);
    if (top->read_ahead_kib < READ_AHEAD_KIB)
        grade(line, PREFLIGHT_ADVICE, "%d KiB are recommended: blockdev --setra 4096 /dev/%s",
              READ_AHEAD_KIB, top->name);
}

static void judge_space(const struct path_facts *f, const struct host_facts *host,
                        struct preflight_line *line)
{
    char all[UNITS_TEXT_MAX], available[UNITS_TEXT_MAX];
    (void)host;
    if (f->kind == PATH_BLOCK_DEVICE || !f->volume.total_bytes)
        return;
    units_human_size((int64_t)f->volume.total_bytes, all, sizeof all);
    units_human_size((int64_t)f->volume.available_bytes, available, sizeof available);
    value(line, "%s free of %s", available, all);
    if (f->volume.available_bytes < f->volume.total_bytes / PERCENT * FREE_PERCENT_MIN)
        grade(line, PREFLIGHT_ADVICE,
              "Less than %d %% are free: growing files will meet the end (1105, 9002).",
              FREE_PERCENT_MIN);
}

/* ---- who else ---- */

static void judge_users(const struct path_facts *f, const struct host_facts *host,
                        struct preflight_line *line)
{
    const struct device_users *users = &f->users;
    (void)host;
    for (unsigned i = 0; i < users->count; i++) {
        const struct device_user *user = &users->list[i];
        value(line, "%s%s (%s, pid %d): %u file%s, %s", i ? "; " : "", device_user_text(user->kind),
              user->program, user->pid, user->files, user->files == 1 ? "" : "s", user->file);
    }
    if (users->count)
        grade(line, PREFLIGHT_ADVICE,
              "They share this device: a test would slow them, and they would blur what it "
              "measures.%s",
              device_users_find(users, DEVICE_USER_SQL_SERVER)
                  ? " `pagestorm run` refuses beside a SQL Server unless --beside-others says so."
                  : "");
    else
        value(line, "nobody that is seen");
    if (users->unseen_sql_server)
        grade(line, PREFLIGHT_ADVICE,
              "A SQL Server runs here (pid %d) whose files only root may see.",
              users->unseen_sql_server);
    else if (users->unseen)
        grade(line, PREFLIGHT_NOTE, "%u processes may not be looked at: root sees more.",
              users->unseen);
}

static void judge_busy(const struct path_facts *f, const struct host_facts *host,
                       struct preflight_line *line)
{
    (void)host;
    if (!f->busy.known)
        return;
    value(line, "%u %% of the time, %.1f MB/s read, %.1f MB/s written", f->busy.percent,
          f->busy.read_mb_per_s, f->busy.write_mb_per_s);
    if (f->busy.percent > DEVICE_BUSY_PERCENT)
        grade(line, PREFLIGHT_ADVICE,
              "Somebody works on it: measure when it is idle, or figures are those of both.");
}

static void judge_locks(const struct path_facts *f, const struct host_facts *host,
                        struct preflight_line *line)
{
    (void)host;
    if (f->kind != PATH_FILE || !f->lock_pid)
        return;
    if (f->lock_pid > 0)
        value(line, "process %d holds a lock on this file", f->lock_pid);
    else
        value(line, "a process holds a lock on this file");
    grade(line, PREFLIGHT_ADVICE, "It is in use.");
}

/* ---- tables ---- */

typedef void path_rule(const struct path_facts *facts, const struct host_facts *host,
                       struct preflight_line *line);

/* A rule that leaves its value empty has nothing to say of this path. */
static const struct {
    const char *key, *label;
    path_rule *judge;
} path_rules[] = {
    {"file_system", "file system", judge_file_system},
    {"mount_options", "options", judge_options},
    {"attributes", "attributes", judge_attributes},
    {"device", "device", judge_device},
    {"sectors", "sectors", judge_sectors},
    {"o_direct", "O_DIRECT", judge_direct},
    {"write_cache", "write cache", judge_cache},
    {"fua", "FUA", judge_fua},
    {"atomic_writes", "atomic", judge_atomic},
    {"queue", "queue", judge_queue},
    {"read_ahead", "read-ahead", judge_read_ahead},
    {"space", "space", judge_space},
    {"users", "in use by", judge_users},
    {"locks", "locks", judge_locks},
    {"busy", "busy", judge_busy},
};

enum number_test { NUMBER_IS, NUMBER_AT_LEAST };

static const struct {
    const char *key;
    enum host_number number;
    enum number_test test;
    int64_t wanted;
} number_rules[] = {
    {"vm.swappiness", HOST_SWAPPINESS, NUMBER_IS, 1},
    {"vm.dirty_background_ratio", HOST_DIRTY_BACKGROUND_RATIO, NUMBER_IS, 3},
    {"vm.dirty_ratio", HOST_DIRTY_RATIO, NUMBER_IS, 80},
    {"vm.dirty_expire_centisecs", HOST_DIRTY_EXPIRE_CENTISECS, NUMBER_IS, 500},
    {"vm.dirty_writeback_centisecs", HOST_DIRTY_WRITEBACK_CENTISECS, NUMBER_IS, 100},
    {"vm.max_map_count", HOST_MAX_MAP_COUNT, NUMBER_AT_LEAST, 1600000},
    {"kernel.numa_balancing", HOST_NUMA_BALANCING, NUMBER_IS, 0},
};

static struct preflight_line *line_begin(struct preflight_result *result, const char *key,
                                         const char *label)
{
    struct preflight_line *line = &result->lines[result->count];
    *line = (struct preflight_line){.key = key, .label = label};
    return line;
}

static void line_end(struct preflight_result *result, const struct preflight_line *line)
{
    if (!line->value[0])
        return;
    if (line->grade > result->worst)
        result->worst = line->grade;
    result->count++;
}

void preflight_judge_path(struct preflight_result *result, const struct path_facts *facts,
                          const struct host_facts *host)
{
    static_assert(sizeof path_rules / sizeof path_rules[0] < PREFLIGHT_LINES_MAX, "a line each");
    result->count = 0;
    result->worst = PREFLIGHT_OK;
    for (size_t i = 0; i < sizeof path_rules / sizeof path_rules[0]; i++) {
        struct preflight_line *line = line_begin(result, path_rules[i].key, path_rules[i].label);
        path_rules[i].judge(facts, host, line);
        line_end(result, line);
    }
}

static void judge_number(struct preflight_result *result, const struct host_facts *host, size_t i)
{
    struct preflight_line *line = line_begin(result, number_rules[i].key, number_rules[i].key);
    int64_t now = host->numbers[number_rules[i].number], wanted = number_rules[i].wanted;
    if (now == HOST_NUMBER_NONE)
        return;
    bool fine = number_rules[i].test == NUMBER_IS ? now == wanted : now >= wanted;
    value(line, "%" PRId64, now);
    if (!fine)
        grade(line, PREFLIGHT_ADVICE, "%" PRId64 "%s is recommended", wanted,
              number_rules[i].test == NUMBER_IS ? "" : " or more");
    line_end(result, line);
}

static void judge_memory_and_cpu(struct preflight_result *result, const struct host_facts *host)
{
    struct preflight_line *line =
        line_begin(result, "transparent_hugepage", "transparent huge pages");
    value(line, "%s", host->huge_pages);
    if (strcmp(host->huge_pages, "always") != 0)
        grade(line, PREFLIGHT_ADVICE, "always is recommended");
    line_end(result, line);
    line = line_begin(result, "cpu_governor", "CPU governor");
    value(line, "%s", host->governor);
    if (strcmp(host->governor, "performance") != 0)
        grade(line, PREFLIGHT_ADVICE,
              "performance is recommended: cpupower frequency-set -g "
              "performance");
    line_end(result, line);
}

static void judge_aio(struct preflight_result *result, const struct host_facts *host)
{
    struct preflight_line *line = line_begin(result, "fs.aio-nr", "fs.aio-nr");
    int64_t most = host->numbers[HOST_AIO_MAX_NR], used = host->numbers[HOST_AIO_NR];
    if (most == HOST_NUMBER_NONE || used == HOST_NUMBER_NONE)
        return;
    value(line, "%" PRId64 " of %" PRId64 " (fs.aio-max-nr)", used, most);
    if (used > most / PERCENT * AIO_USED_PERCENT_MAX)
        grade(line, PREFLIGHT_ADVICE,
              "SQL Server does its I/O by native AIO and stops without a context: raise "
              "fs.aio-max-nr.");
    line_end(result, line);
}

static const char *setting_text(int64_t number)
{
    return number == HOST_NUMBER_NONE ? "by default" : number ? "1" : "0";
}

/* Trace flag 3979 and no alternate write-through where FUA works, else the defaults. */
static void judge_flush(struct preflight_result *result, const struct host_facts *host,
                        const struct path_facts *paths, unsigned path_count)
{
    struct preflight_line *line = line_begin(result, "mssql_conf", "mssql.conf");
    bool usable = path_count > 0;
    for (unsigned i = 0; i < path_count; i++)
        usable = usable && preflight_fua_usable(&paths[i], host);
    bool no_flush = host_facts_has_trace(host, TRACE_NO_FLUSH);
    bool through = host->write_through != 0, alternate = host->alternate_write_through != 0;
    bool fine = through && no_flush == usable && alternate == !usable;
    if (host->has_mssql_conf)
        value(line, "trace flag %u %s, writethrough %s, alternatewritethrough %s", TRACE_NO_FLUSH,
              no_flush ? "on" : "off", setting_text(host->write_through),
              setting_text(host->alternate_write_through));
    else
        value(line, "not here, or not readable");
    if (host->has_mssql_conf && fine)
        return line_end(result, line);
    grade(line, host->has_mssql_conf ? PREFLIGHT_ADVICE : PREFLIGHT_NOTE,
          usable ? "FUA works on every path: trace flag %u on, control.writethrough 1, "
                   "control.alternatewritethrough 0 halve the device's I/Os for writes."
                 : "Without FUA on every path: forced flush (trace flag %u off: 3982 is the "
                   "default), control.writethrough 1, control.alternatewritethrough 1.",
          TRACE_NO_FLUSH);
    if (host->has_mssql_conf && !through)
        grade(line, PREFLIGHT_ADVICE,
              "writethrough 0 leaves acknowledged writes in a volatile cache.");
    line_end(result, line);
}

void preflight_judge_host(struct preflight_result *result, const struct host_facts *host,
                          const struct path_facts *paths, unsigned path_count)
{
    result->count = 0;
    result->worst = PREFLIGHT_OK;
    for (size_t i = 0; i < sizeof number_rules / sizeof number_rules[0]; i++)
        judge_number(result, host, i);
    judge_memory_and_cpu(result, host);
    judge_aio(result, host);
    judge_flush(result, host, paths, path_count);
}

const char *preflight_grade_text(enum preflight_grade grade)
{
    static const char *const texts[] = {"ok", "note", "advice", "refused"};
    return texts[grade];
}

int preflight_exit_code(enum preflight_grade worst)
{
    if (worst == PREFLIGHT_REFUSED)
        return EXIT_CODE_INCOMPLETE;
    return worst == PREFLIGHT_ADVICE ? EXIT_CODE_SPEED : EXIT_CODE_OK;
}
