/*
 * config_section.c - the tables of [CONFIG] and [FileN].
 *
 * SQLIOSim's keys, defaults and ranges first, in the order of its own files; pagestorm's own after
 * them.
 */
#include <errno.h>
#include <string.h>

#include "config/load_steps.h"
#include "config/profile.h"
#include "config/sql_server_version.h"

#define FIELD(member) OPT_FIELD(struct config_settings, member)

static const struct opt config_opts[] = {
    {.name = "ErrorFile",
     .type = OPT_STRING,
     .def = "sqliosim.log.xml",
     FIELD(error_file),
     .help = "SQLIOSim's XML log: a name in the result folder, or a path with a directory; empty = "
             "none."},
    {.name = "CPUCount",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "1024",
     .unit = "CPUs",
     FIELD(cpu_count),
     .help = "Workers (SQLIOSim's logical CPUs), from which the numbers of users derive; 0 = one "
             "for each CPU that this process may use, at most 64, SQLIOSim's limit."},
    {.name = "Affinity",
     .type = OPT_CPUS,
     .def = "0",
     FIELD(affinity),
     .help = "CPUs that workers may run on: SQLIOSim's mask (bit n is CPU n, of the first 64) or "
             "a list, 0-127,200 (one CPU alone: 200-200); 0 = any. Without CPUCount there is a "
             "worker for each of them, at most 64."},
    {.name = "IOAffinity",
     .type = OPT_CPUS,
     .def = "0",
     FIELD(io_affinity),
     .flags = OPT_UNDOCUMENTED,
     .help = "CPUs for the threads of the I/O engine, mask or list as Affinity; 0 = any. The "
             "helpers of sync are such threads, and the kernel's own that do for uring what would "
             "block; aio has none."},
    {.name = "MaxMemoryMB",
     .type = OPT_SIZE_MB,
     .def = "0",
     .min = "0",
     .max = "16777216",
     .unit = "MB",
     FIELD(max_memory_bytes),
     .help = "Size of the buffer pool; 0 = a share of the memory that is available, printed at "
             "the start (SQLIOSim would take all of it)."},
    {.name = "StopOnError",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(stop_on_error),
     .help = "End the run at the first proven fault."},
    {.name = "TestCycles",
     .type = OPT_INT,
     .def = "1",
     .min = "0",
     .max = "1000000",
     .unit = "cycles",
     FIELD(test_cycles),
     .help = "Full test cycles; 0 = until interrupted."},
    {.name = "TestCycleDuration",
     .type = OPT_SECONDS,
     .def = "300",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(test_cycle_duration_ns),
     .help = "Length of the main part of a cycle; creating the files before it and the audit "
             "after it come on top."},
    {.name = "CacheHitRatio",
     .type = OPT_HUNDREDTHS,
     .def = "1000",
     .unit = "1/100 %",
     FIELD(cache_hit_ratio),
     .flags = OPT_PHASE,
     .help = "Share of accesses to a page in the pool that are answered from memory; the others "
             "read the copy on disk again and verify it."},
    {.name = "NoBuffering",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(no_buffering),
     .help = "Bypass the file system's cache (O_DIRECT), as SQL Server does."},
    {.name = "WriteThrough",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(write_through),
     .help = "A completed write is durable (O_DSYNC), as SQL Server asks for."},
    {.name = "AlternateWriteThrough",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(alternate_write_through),
     .help = "With WriteThrough: not O_DSYNC for each write, but flushes (fdatasync) that several "
             "writes share, as SQL Server on Linux does it by default."},
    {.name = "ForcedFlush",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(forced_flush),
     .help = "Flush the log after its writes and data files at the end of a checkpoint "
             "(fdatasync), as trace flag 3982 has SQL Server on Linux do (its default); FALSE is "
             "3979, for storage with FUA. Without WriteThrough that is done in any case; with "
             "AlternateWriteThrough each write was flushed before."},
    {.name = "MaxOutstandingIO",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "140000",
     .unit = "I/Os",
     FIELD(max_outstanding_io),
     .help = "Most I/Os outstanding in the whole process; 0 = 140,000, as SQLIOSim."},
    {.name = "MaxIops",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "100000000",
     .unit = "IOPS",
     FIELD(max_iops),
     .help = "Transfers a second of the whole run at most, from its first write to its audit, for "
             "storage that others use; 0 = no limit. What waits for that counts in the response "
             "time."},
    {.name = "MaxMBps",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "1000000",
     .unit = "MB/s",
     FIELD(max_mb_per_s),
     .help = "Bytes a second of the whole run at most, as MaxIops."},
    {.name = "TargetIODuration",
     .type = OPT_MILLIS,
     .def = "100",
     .min = "0",
     .max = "86400000",
     .unit = "ms",
     FIELD(target_io_duration_ns),
     .help = "Average I/O time above which fewer I/Os are kept outstanding; very large = never "
             "throttle."},
    {.name = "AllowIOBursts",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(allow_io_bursts),
     .help = "Do not throttle the initial update and the checkpoints at both ends of a cycle."},
    {.name = "UseScatterGather",
     .alias = "ScatterGather",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(use_scatter_gather),
     .help = "Several pages in one request; FALSE = one request a page, but for the initial update "
             "and the audit at the end of a cycle."},
    {.name = "ForceReadAhead",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(force_read_ahead),
     .flags = OPT_PHASE,
     .help = "Read ahead from disk even what is in the pool already."},
    {.name = "DeleteFilesAtStartup",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(delete_files_at_startup),
     .help = "Remove the files of an earlier run first; what does not carry pagestorm's mark is "
             "never removed."},
    {.name = "DeleteFilesAtShutdown",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(delete_files_at_shutdown),
     .help = "Remove the files at the end of the run."},
    {.name = "StampFiles",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(stamp_files),
     .help = "Write zeros to new space instead of only allocating it."},
    {.name = "Seed",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "9223372036854775807",
     FIELD(seed),
     .help = "Seed of every random choice; 0 = drawn at the start and reported."},
    {.name = "Engine",
     .type = OPT_ENUM,
     .def = "auto",
     .choices = "auto|uring|aio|sync|mem",
     FIELD(engine),
     .help = "How I/O is issued: io_uring (uring), native AIO as SQL Server on Linux uses (aio), "
             "blocking calls with helper threads (sync), or not at all (mem: a model of a device, "
             "for tests); auto takes the first that works here."},
    {.name = "DeviceModel",
     .type = OPT_ENUM,
     .def = "ssd",
     .choices = "ssd|hdd",
     FIELD(device_model),
     .help =
         "What the engine mem models: eight channels of about 80 us (ssd), or one disk of 7,200 "
         "rpm with seeks, rotation and a queue of 32 (hdd)."},
    {.name = "SqlServerVersion",
     .type = OPT_ENUM,
     .def = "2022",
     .choices = SQL_SERVER_VERSION_CHOICES,
     FIELD(sql_server_version),
     .help = "Whose I/O rules are followed where no key of its own says otherwise: what it sets is "
             "said at GatherPages, TargetRecoveryTime, CheckpointSlowMs, LogWrites, LogBytes, "
             "FreshLogByte and VlfRule."},
    {.name = "SectorSize",
     .type = OPT_BYTES,
     .def = "0",
     .min = "0",
     .max = "4096",
     .unit = "bytes",
     FIELD(sector_size_bytes),
     .help = "Sector size of the log, 512 or 4096; 0 = what the file system reports."},
    {.name = "Compressibility",
     .type = OPT_HUNDREDTHS,
     .def = "0",
     .unit = "1/100 %",
     FIELD(compressibility),
     .help = "Share of a page's body that compresses away."},
    {.name = "TargetRecoveryTime",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "86400",
     .unit = "s",
     FIELD(target_recovery_ns),
     .help = "Indirect checkpoints: in place of sweeps a background writer writes the oldest dirty "
             "pages whenever more are dirty than became so in that time; 0 = automatic "
             "checkpoints. When neither this nor SqlServerVersion is set, 0, as SQLIOSim."},
    {.name = "RecoveryInterval",
     .alias = "CheckpointInterval",
     .type = OPT_SECONDS,
     .def = "60",
     .min = "1",
     .max = "86400",
     .unit = "s",
     FIELD(recovery_interval_ns),
     .help = "An automatic checkpoint begins at least this often (SQL Server's recovery interval, "
             "about a minute: so long a log is taken to be redone in that time)."},
    {.name = "LogUsedCheckpoint",
     .type = OPT_HUNDREDTHS,
     .def = "7000",
     .min = "100",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(log_used_checkpoint),
     .help = "Share of the log in use at which a checkpoint begins whatever the interval (SQL "
             "Server, simple recovery: 70 %)."},
    {.name = "CheckpointSlowMs",
     .type = OPT_MILLIS,
     .def = "50",
     .min = "1",
     .max = "60000",
     .unit = "ms",
     FIELD(checkpoint_slow_ns),
     .help = "Mean write latency above which a checkpoint keeps fewer pages outstanding."},
    {.name = "LogWrites",
     .type = OPT_INT,
     .def = "112",
     .min = "1",
     .max = "112",
     .unit = "writes",
     FIELD(log_writes_max),
     .help = "Log writes of a database outstanding at most."},
    {.name = "LogBytes",
     .type = OPT_BYTES,
     .def = "3840K",
     .min = "60K",
     .max = "16M",
     .unit = "bytes",
     FIELD(log_bytes_max),
     .help = "Bytes of log of a database outstanding at most; one write may always be under way."},
    {.name = "FreshLogByte",
     .type = OPT_ENUM,
     .def = "0xC0",
     .choices = "0x00|0xC0",
     FIELD(fresh_log_byte),
     .help = "What new log space is filled with."},
    {.name = "VlfRule",
     .type = OPT_ENUM,
     .def = "2022",
     .choices = SQL_SERVER_VLF_RULES,
     FIELD(vlf_rule),
     .help =
         "How growth of the log is cut into virtual log files: by its size (2012), one for less "
         "than an eighth of the log (2014), and for up to 64 MiB (2022)."},
    {.name = "GatherPages",
     .type = OPT_INT,
     .def = "64",
     .min = "1",
     .max = "128",
     .unit = "pages",
     FIELD(gather_pages_max),
     .help = "Most pages of one gather write. When neither this nor SqlServerVersion is set, 64: "
             "SQLIOSim's gather writes, 33 to 34 pages on average, come out with that."},
    {.name = "DelayedDurability",
     .type = OPT_HUNDREDTHS,
     .def = "0",
     .unit = "1/100 %",
     FIELD(delayed_durability),
     .help =
         "Share of the transactions of RandomUser that commit with delayed durability "
         "(10000: forced): acknowledged at once, their log is written when a block of 60 KiB is "
         "full, with the next commit that waits, or after 100 ms. A crash may lose them."},
    {.name = "LogReadBack",
     .type = OPT_HUNDREDTHS,
     .def = "1000",
     .unit = "1/100 %",
     FIELD(log_read_back),
     .help = "Share of the virtual log files that are read and verified before reuse."},
    {.name = "VerifyBeforeOverwrite",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(verify_before_overwrite),
     .help = "Read and verify the old page on disk before it is overwritten: a good write over a "
             "bad page would heal the evidence. Costs a read for each write."},
    {.name = "ReadBack",
     .type = OPT_ENUM,
     .def = "later",
     .choices = "later|immediate",
     FIELD(read_back),
     .help = "immediate = every write of pages is read back and verified before anybody may change "
             "them again; later = by whoever reads them, the audit users and the final audit."},
    {.name = "WatchFiles",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(watch_files),
     .help = "Have the kernel tell (fanotify) when another process writes to, cuts, renames or "
             "removes a file of the run: that is never blamed on the storage, and ends the run. "
             "It costs about 1 us of CPU a write."},
    {.name = "BufferSums",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(buffer_sums),
     .help = "Sum the memory of each page and log block when it is built, when its write is "
             "submitted and when it completes: what changes in between is memory_changed (832), "
             "not the storage's fault."},
    {.name = "QueueDepth",
     .type = OPT_INT,
     .def = "32",
     .min = "1",
     .max = "1024",
     .unit = "I/Os",
     FIELD(queue_depth),
     .help = "Most I/Os that one worker keeps outstanding (with sync: its helper threads)."},
    {.name = "RatedDuration",
     .type = OPT_SECONDS,
     .def = "60",
     .min = "0",
     .max = "86400",
     .unit = "s",
     FIELD(rated_duration_ns),
     .help = "Length of the rated phase, before the main part: requests arrive at a stated rate, "
             "and response times are judged; 0 = none. When it is not set, a run with a "
             "configuration file and one whose main part is shorter than a minute have none."},
    {.name = "RatedWarmUp",
     .type = OPT_SECONDS,
     .def = "10",
     .min = "0",
     .max = "86400",
     .unit = "s",
     FIELD(rated_warm_up_ns),
     .help = "The same load before the rated phase, not judged."},
    {.name = "Need",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "100000000",
     .unit = "IOPS",
     FIELD(need_iops),
     .help = "Data I/Os a second that the rated phase asks for: scales all its rates together; 0 = "
             "as they are (oltp: 1500)."},
    {.name = "NeedMBps",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "1000000",
     .unit = "MB/s",
     FIELD(need_mbps),
     .help = "MB a second that reads and writes of pages must reach together in the main part, of "
             "at least 30 s; less is FAIL (speed); 0 = not judged."},
    {.name = "Load",
     .type = OPT_STRING,
     .def = "",
     FIELD(load),
     .help = "Steps of the rated phase, e.g. 40%,80%,120%: all rates together in percent of what "
             "is set, one step of RatedDuration each, RatedWarmUp shared among them; max = each "
             "user begins when it is done, without rates and not judged; empty = one step."},
    {.name = "Arrivals",
     .type = OPT_ENUM,
     .def = "poisson",
     .choices = "poisson|fixed",
     FIELD(arrivals),
     .flags = OPT_PHASE,
     .help = "How work arrives where a rate is set: at random as from many independent clients "
             "(poisson), or in equal steps (fixed)."},
    {.name = "FailOn",
     .type = OPT_ENUM,
     .def = "fail",
     .choices = "fail|warn",
     FIELD(fail_on),
     .help = "From which grade on the exit code says so: with warn, a verdict WARN ends with 4."},
    {.name = "Reserve",
     .type = OPT_SIZE_MB,
     .def = "0",
     .min = "0",
     .max = "16777216",
     .unit = "MB",
     FIELD(reserve_bytes),
     .help = "Free space of each file system that is never used; 0 = 1 GiB or 5 %, whichever is "
             "more."},
};

#undef FIELD

static int check_config(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct config_settings *config = settings;
    int64_t sector = config->sector_size_bytes;

    if (sector != 0 && sector != 512 && sector != 4096) {
        snprintf(text, OPT_TEXT_MAX, "SectorSize must be 512, 4096 or 0");
        return -EINVAL;
    }
    return load_steps_parse(config->load, &(struct load_steps){.count = 0}, text);
}

const struct opt_section config_section = {
    .name = "CONFIG",
    .opts = config_opts,
    .count = sizeof(config_opts) / sizeof(config_opts[0]),
    .size_bytes = sizeof(struct config_settings),
    .help = "The run as a whole.",
    .run_wide = true,
    .check = check_config,
};

#define FIELD(member) OPT_FIELD(struct file_settings, member)

static const struct opt file_opts[] = {
    {.name = "FileName",
     .type = OPT_STRING,
     .def = "",
     FIELD(file_name),
     .help = "Path. f:\\x.mdx needs --map f:=DIR or a single --dir; name:stream becomes "
             "name.stream; a section with an empty name is skipped."},
    /* 16 TB and 2 TB (check_file): the largest data and log file of SQL Server */
    {.name = "InitialSize",
     .type = OPT_SIZE_MB,
     .def = "0",
     .min = "0",
     .max = "16777216",
     .unit = "MB",
     FIELD(initial_size_bytes),
     .help = "Size at the start; must be given."},
    {.name = "MaxSize",
     .type = OPT_SIZE_MB,
     .def = "0",
     .min = "0",
     .max = "16777216",
     .unit = "MB",
     FIELD(max_size_bytes),
     .help = "Size beyond which the file never grows; 0 = InitialSize."},
    {.name = "Increment",
     .type = OPT_SIZE_MB,
     .def = "0",
     .min = "0",
     .max = "16777216",
     .unit = "MB",
     FIELD(increment_bytes),
     .help =
         "Step by which the file grows and shrinks. A data file keeps its size with 0; where it "
         "is Shrinkable, MaxExtends steps are cut to its share of MaxMemoryMB. For a log file "
         "0 means 64 MB: it grows when no virtual log file is free, as far as MaxSize; so do the "
         "data files of tempdb, all together, when no extent is free."},
    {.name = "Shrinkable",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(shrinkable),
     .help = "ShrinkUser may grow and shrink the file while it is used, between InitialSize and "
             "MaxSize; needs an Increment."},
    {.name = "LogFile",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(log_file),
     .help = "A transaction log instead of a data file."},
    {.name = "Sparse",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(sparse),
     .help =
         "Leave unwritten space unallocated, as a database snapshot does: only system pages are "
         "written beforehand. An extent is allocated when a user changes the first of its pages; "
         "the rest must read as zeros."},
    {.name = "Database",
     .type = OPT_INT,
     .def = "1",
     .min = "1",
     .max = "32767",
     FIELD(database),
     .help = "Number of the database that the file belongs to."},
    {.name = "TempDb",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(tempdb),
     .help = "The file is one of tempdb's (with LogFile=TRUE its log): made anew, logged without "
             "waiting, not recovered after a crash. Database does not count then."},
};

#undef FIELD

static int check_file(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct file_settings *file = settings;
    const int64_t log_max_bytes = INT64_C(2) << 40;

    if (file->initial_size_bytes == 0) {
        snprintf(text, OPT_TEXT_MAX,
                 "InitialSize is missing or 0: say how large the file is to be");
        return -EINVAL;
    }
    if (file->initial_size_bytes > file->max_size_bytes) {
        snprintf(text, OPT_TEXT_MAX, "InitialSize is above MaxSize");
        return -EINVAL;
    }
    if (file->log_file && file->max_size_bytes > log_max_bytes) {
        snprintf(text, OPT_TEXT_MAX, "MaxSize is above 2 TB, SQL Server's limit for a log file");
        return -EINVAL;
    }
    return 0;
}

const struct opt_section file_section = {
    .name = "File",
    .numbered = true,
    .opts = file_opts,
    .count = sizeof(file_opts) / sizeof(file_opts[0]),
    .size_bytes = sizeof(struct file_settings),
    .help = "One file, N = 1, 2, 3 ...; without any, --dir makes a data and a log file.",
    .check = check_file,
};
