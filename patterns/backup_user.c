/*
 * backup_user.c - BackupUser: full backups and log backups of the databases.
 *
 * A user backs up its databases one after the other: the first time Start after the phase began,
 * then every FullInterval; between them the log every LogInterval, and at once when nothing but the
 * missing log backup keeps the log from being used again (log_reuse_wait_desc LOG_BACKUP), as an
 * alert would.
 */
#include "patterns/backup_user.h"

#include <errno.h>
#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define TRANSFER_GRAIN 65536    /* SQL Server: multiples of 64 KiB */
#define LOOK_NS        50000000 /* for the log that waits */
#define LOG_BETWEEN_NS 10000000 /* between two log backups that the log asks for */

struct backup_user {
    const struct backup_user_settings *settings;
    bool begun, full_done, log_done; /* log_done: since the last full one */
    uint64_t full_ns, log_ns;        /* when the next is due */
    uint64_t last_log_ns;
};

#define FIELD(member) OPT_FIELD(struct backup_user_settings, member)

static const struct opt backup_user_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "64",
     .unit = "users",
     FIELD(user_count),
     .help = "Backups at a time, each of another database; 0 = none."},
    {.name = "MaxTransferSize",
     .type = OPT_BYTES,
     .def = "1M",
     .min = "64K",
     .max = "4M",
     .unit = "bytes",
     FIELD(transfer_bytes),
     .help = "Size of a read of the database and of a write of the backup; a multiple of 64 KiB."},
    {.name = "BufferCount",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "256",
     .unit = "buffers",
     FIELD(buffer_count),
     .help = "Buffers of MaxTransferSize, so most transfers at a time; 0 = SQL Server's: 4 for the "
             "backup file and 2 for each volume with data files."},
    {.name = "BlockSize",
     .type = OPT_BYTES,
     .def = "512",
     .min = "512",
     .max = "64K",
     .unit = "bytes",
     FIELD(block_bytes),
     .help = "Alignment in the backup file, a power of two; the sector size of its device if that "
             "is larger."},
    {.name = "Start",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(start_ns),
     .help = "The first full backup begins so long after the main part does."},
    {.name = "FullInterval",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(full_interval_ns),
     .help = "From the start of a full backup to the next one's; 0 = one after the other."},
    {.name = "LogInterval",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(log_interval_ns),
     .help =
         "From the start of a log backup to the next one's. With it the recovery model is FULL: "
         "log that is not backed up is not used again. 0 = no log backups (SIMPLE)."},
    {.name = "Keep",
     .type = OPT_INT,
     .def = "2",
     .min = "1",
     .max = "16",
     .unit = "backups",
     FIELD(keep),
     .help = "Backup files of each database; the oldest backup is overwritten by the next one."},
    {.name = "Verify",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(verify),
     .help = "Read the newest backup of each database back at the end of the main part and check "
             "every block of it (RESTORE VERIFYONLY)."},
    {.name = "Restore",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(restore),
     .help = "Restore the newest backup of each database at the end of the main part beside it, "
             "read that back and compare every page with what it must be; then remove it."},
    {.name = "Directory",
     .type = OPT_STRING,
     .def = "",
     FIELD(directory),
     .help = "Where the backup files are written; --backup-dir sets it, else the first --dir. "
             "NUL, or neither of them = the database is read and nothing is written."},
};

#undef FIELD

static int check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct backup_user_settings *s = settings;

    if (s->transfer_bytes % TRANSFER_GRAIN) {
        snprintf(text, OPT_TEXT_MAX, "MaxTransferSize is not a multiple of 64 KiB");
        return -EINVAL;
    }
    if (s->block_bytes & (s->block_bytes - 1)) {
        snprintf(text, OPT_TEXT_MAX, "BlockSize is not a power of two");
        return -EINVAL;
    }
    return 0;
}

static const struct opt_section backup_user_section = {
    .name = "BackupUser",
    .opts = backup_user_opts,
    .count = sizeof(backup_user_opts) / sizeof(backup_user_opts[0]),
    .size_bytes = sizeof(struct backup_user_settings),
    .help = "Users that back the databases up: all pages in allocation order, then the log.",
    .through = "a full backup of each database",
    .check = check,
};

static int64_t backup_user_count(const void *settings, int64_t cpu_count)
{
    (void)cpu_count;
    return ((const struct backup_user_settings *)settings)->user_count;
}

static size_t backup_user_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct backup_user);
}

static void backup_user_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct backup_user *user = state;

    (void)seed;
    (void)actor_index;
    *user = (struct backup_user){.settings = settings};
}

static void begin(struct backup_user *user, uint64_t now_ns)
{
    user->begun = true;
    user->full_ns = now_ns + (uint64_t)user->settings->start_ns;
}

/* Before a full one that is due, too: that would hold the log longer, and with FullInterval=0 one
 * is always due. */
static bool log_goes_first(const struct backup_user *user, const struct pattern_view *view)
{
    return view->log_backup_wanted || !user->log_done || view->now_ns < user->full_ns;
}

static bool log_due(const struct backup_user *user, const struct pattern_view *view)
{
    if (user->settings->log_interval_ns == 0 || !user->full_done)
        return false;
    bool rested = view->now_ns >= user->last_log_ns + LOG_BETWEEN_NS;
    return view->now_ns >= user->log_ns || (view->log_backup_wanted && rested);
}

static void take_full(struct backup_user *user, uint64_t now_ns, struct op *out)
{
    *out = (struct op){.kind = OP_BACKUP};
    user->full_done = true;
    user->log_done = false;
    user->full_ns = now_ns + (uint64_t)user->settings->full_interval_ns;
    if (user->log_ns == 0)
        user->log_ns = now_ns + (uint64_t)user->settings->log_interval_ns;
}

static void take_log(struct backup_user *user, uint64_t now_ns, struct op *out)
{
    *out = (struct op){.kind = OP_BACKUP, .log_only = true};
    user->log_done = true;
    user->last_log_ns = now_ns;
    user->log_ns = now_ns + (uint64_t)user->settings->log_interval_ns;
}

/* The phase is over: only for those that cannot end without log. */
static void serve(struct backup_user *user, const struct pattern_view *view, struct op *out)
{
    bool rested = view->now_ns >= user->last_log_ns + LOG_BETWEEN_NS;
    if (view->log_backup_wanted && rested)
        take_log(user, view->now_ns, out);
    else
        *out = (struct op){.kind = OP_THINK, .think_ns = LOG_BETWEEN_NS};
}

/* Who is through takes log backups alone, until it is called for the next phase. */
static void rest(const struct backup_user *user, const struct pattern_view *view, struct op *out)
{
    uint64_t left_ns = view->through ? USERS_THROUGH_NS : user->full_ns - view->now_ns;
    bool logs = user->settings->log_interval_ns && user->full_done;
    if (logs && left_ns > LOOK_NS)
        left_ns = LOOK_NS;
    *out =
        (struct op){.kind = OP_THINK, .think_ns = (int64_t)left_ns, .until_called = view->through};
}

static bool has_pages(const struct pattern_view *view)
{
    for (unsigned i = 0; i < view->file_count; i++)
        if (view->files[i].size_pages)
            return true;
    return false;
}

static void backup_user_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct backup_user *user = state;
    uint64_t now_ns = view->now_ns;

    if (!user->begun)
        begin(user, now_ns);
    if (!has_pages(view)) {
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
    } else if (view->serving) {
        serve(user, view, out);
    } else if (log_due(user, view) && log_goes_first(user, view)) {
        take_log(user, now_ns, out);
    } else if (now_ns >= user->full_ns && !view->through) {
        take_full(user, now_ns, out);
    } else {
        rest(user, view, out);
    }
}

const struct pattern pattern_backup_user = {
    .name = "BackupUser",
    .help = "BACKUP DATABASE and BACKUP LOG: reads all pages in large transfers past the pool, "
            "then the log, and writes a backup file.",
    .section = &backup_user_section,
    .backs_up = true,
    .user_count = backup_user_count,
    .state_size = backup_user_state_size,
    .init = backup_user_init,
    .next = backup_user_next,
};
