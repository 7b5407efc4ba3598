/* reuse.c - see reuse.h. */
#include "sim/reuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "sim/database.h"

#define ANEW "Run without --reuse, which makes the files anew."

static int __attribute__((format(printf, 3, 4)))
refuse(char message[PLAN_MESSAGE_MAX], int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, PLAN_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    return error;
}

/* ---- did that run end in order? ---- */

static int check_end(const struct reuse *reuse, char *message)
{
    const struct ledger_header *header = ledger_header_of(reuse->ledger);
    if (!header->clean)
        return refuse(message, -EBUSY,
                      "--reuse %s: that run is still going, or did not end in order (killed, power "
                      "lost): changes of pages lie in its log alone, and its last writes are in "
                      "doubt. `pagestorm verify %s` says what it left. " ANEW,
                      reuse->directory, reuse->directory);
    if (header->phase == LEDGER_PHASE_CREATING)
        return refuse(message, -EINVAL,
                      "--reuse %s: that run was ended before its files were filled. " ANEW,
                      reuse->directory);
    if (header->phase != LEDGER_PHASE_SETTLED)
        return refuse(message, -EINVAL,
                      "--reuse %s: that run was stopped by an error before its last checkpoint, so "
                      "changes of pages lie in its log alone. " ANEW,
                      reuse->directory);
    return 0;
}

static const char *state_text(enum ledger_state state)
{
    switch (state) {
    case LEDGER_IN_FLIGHT:
    case LEDGER_INDETERMINATE:
        return "is in doubt after a failed write";
    case LEDGER_QUARANTINED:
        return "was found wrong";
    case LEDGER_NEVER_WRITTEN:
    case LEDGER_FREED:
    case LEDGER_QUIET:
        break;
    }
    return "is not settled";
}

/* A page that belongs to nobody is not owed. */
static bool is_settled(const struct ledger_view *view)
{
    return view->state == LEDGER_NEVER_WRITTEN || view->state == LEDGER_FREED ||
           (view->state == LEDGER_QUIET && view->acked == view->issued &&
            view->durable == view->issued);
}

/* The initial update formats each page; what a growth added may be unused. */
static bool must_be_written(const struct ledger_file *file, const struct plan_file *planned,
                            uint32_t page)
{
    bool primary = file->file_id == 1;
    return !planned->sparse && page < planned->size_bytes / PAGE_BYTES &&
           syspage_kind(page, primary) == SYSPAGE_NONE;
}

static int check_pages(const struct reuse *reuse, const struct ledger_file *file,
                       const struct plan_file *planned, char *message)
{
    for (uint32_t page = 0; page < file->capacity_pages; page++) {
        struct ledger_view view = ledger_view(reuse->ledger, file->uid, page);
        bool written = view.state != LEDGER_NEVER_WRITTEN && view.state != LEDGER_FREED;
        if (!written && must_be_written(file, planned, page))
            return refuse(message, -EINVAL,
                          "--reuse %s: page %" PRIu32
                          " of %s is used by nobody: the file began smaller than it is planned "
                          "here and grew. Give the size that run had (--size, InitialSize). " ANEW,
                          reuse->directory, page, file->path);
        if (!is_settled(&view))
            return refuse(message, -EINVAL, "--reuse %s: page %" PRIu32 " of %s %s. " ANEW,
                          reuse->directory, page, file->path, state_text(view.state));
    }
    return 0;
}

/* ---- are they the files of the plan? ---- */

static bool same_path(const char *planned, const char *path)
{
    char *directory = path_directory_of(planned), *real = realpath(directory, NULL);
    char *whole =
        real ? alloc_printf("%s/%s", strcmp(real, "/") == 0 ? "" : real, path_last_name(planned))
             : alloc_text(planned);
    bool same = strcmp(whole, path) == 0;
    free(whole);
    free(real);
    free(directory);
    return same;
}

/* The size that run left; and what it knows of pages beyond is not lost. */
static int check_size(const struct reuse *reuse, const struct ledger_file *file,
                      const struct plan_file *planned, char *message)
{
    uint64_t bytes = (uint64_t)file->size_pages_acked * PAGE_BYTES;
    uint64_t knows = (uint64_t)file->capacity_pages * PAGE_BYTES;
    uint64_t room = plan_file_capacity(planned);
    if (!planned->tempdb && bytes < planned->size_bytes)
        return refuse(message, -EINVAL,
                      "--reuse %s: %s has %" PRIu64 " bytes there, %" PRIu64
                      " here. Give the size that run had (--size, InitialSize). " ANEW,
                      reuse->directory, file->path, bytes, planned->size_bytes);
    if (!planned->is_log && knows > room && knows > bytes)
        return refuse(message, -EINVAL,
                      "--reuse %s: %s could grow to %" PRIu64 " bytes there, to %" PRIu64
                      " here. Give the sizes that run had (--size, InitialSize, MaxSize, "
                      "Increment). " ANEW,
                      reuse->directory, file->path, knows, room);
    return 0;
}

/* Is it still the file that run left? */
static int check_identity(const struct reuse *reuse, const struct ledger_file *file, char *message)
{
    uint64_t bytes = (uint64_t)file->size_pages_acked * PAGE_BYTES;
    struct stat st;
    if (lstat(file->path, &st) != 0)
        return refuse(message, -errno, "--reuse %s: %s: %s. " ANEW, reuse->directory, file->path,
                      strerror(errno));
    if (file->device && (st.st_dev != file->device || st.st_ino != file->inode))
        return refuse(message, -ESTALE,
                      "--reuse %s: %s is not the file of that run any more: it was replaced or "
                      "copied. " ANEW,
                      reuse->directory, file->path);
    if ((uint64_t)st.st_size != bytes)
        return refuse(message, -ESTALE,
                      "--reuse %s: %s has %" PRIu64 " bytes now, that run left %" PRIu64 ". " ANEW,
                      reuse->directory, file->path, (uint64_t)st.st_size, bytes);
    return 0;
}

static int check_file(const struct reuse *reuse, const struct ledger_file *file,
                      const struct plan_file *planned, char *message)
{
    unsigned id = planned->tempdb ? DATABASE_ID_TEMPDB : planned->database + DATABASE_ID_FIRST;
    if (!same_path(planned->path, file->path))
        return refuse(message, -EINVAL, "--reuse %s: file %u is %s there, %s here. " ANEW,
                      reuse->directory, file->uid, file->path, planned->path);
    if (file->kind != (uint32_t)(planned->is_log ? FILE_KIND_LOG : FILE_KIND_DATA))
        return refuse(message, -EINVAL, "--reuse %s: %s is a %s file there, a %s file here. " ANEW,
                      reuse->directory, file->path, planned->is_log ? "data" : "log",
                      planned->is_log ? "log" : "data");
    if (file->database_id != id)
        return refuse(message, -EINVAL,
                      "--reuse %s: %s is of the database with id %u there, %u here. " ANEW,
                      reuse->directory, file->path, file->database_id, id);
    int error = check_size(reuse, file, planned, message);
    if (!error)
        error = check_identity(reuse, file, message);
    if (!error && !planned->tempdb)
        error = check_pages(reuse, file, planned, message);
    return error;
}

/* Backups and snapshots come behind; the new run makes its own. */
static unsigned database_files(const struct reuse *reuse)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ledger_header_of(reuse->ledger)->file_count; i++) {
        uint32_t kind = ledger_file_at(reuse->ledger, (uint16_t)(i + 1))->kind;
        count += kind == FILE_KIND_DATA || kind == FILE_KIND_LOG;
    }
    return count;
}

static int check_files(const struct reuse *reuse, const struct plan *plan, char *message)
{
    unsigned count = database_files(reuse);
    if (count != plan->file_count)
        return refuse(message, -EINVAL,
                      "--reuse %s: that run had %u data and log files, this one plans %u. Use the "
                      "same configuration. " ANEW,
                      reuse->directory, count, plan->file_count);
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct ledger_file *file = ledger_file_at(reuse->ledger, (uint16_t)(i + 1));
        int error = check_file(reuse, file, &plan->files[i], message);
        if (error)
            return error;
    }
    return 0;
}

/* ---- the plan learns of it ---- */

/* Backup files of earlier sessions are never overwritten. */
static void name_backup(struct plan_backup *backup, uint64_t session)
{
    char *directory = path_directory_of(backup->path);
    const char *name = path_last_name(backup->path);
    char *path = alloc_printf("%s/session%" PRIu64 "-%s", directory, session, name);
    free(directory);
    free(backup->path);
    backup->path = path;
}

/* The plan counted on the space of files under the old names. */
static int check_backup_space(const struct reuse *reuse, const struct plan *plan,
                              const struct config_settings *settings, char *message)
{
    uint64_t wanted = plan->restore_bytes, available, total, device;
    if (plan->backup_count == 0)
        return 0;
    for (unsigned i = 0; i < plan->backup_count; i++)
        wanted += plan->backups[i].size_bytes;
    char *directory = path_directory_of(plan->backups[0].path);
    int error = file_system_space(directory, &available, &total, &device);
    uint64_t kept = error ? 0 : plan_reserve_bytes(settings, total);
    if (!error && available < wanted + kept)
        error = refuse(message, -ENOSPC,
                       "--reuse %s: the backups of this run need %" PRIu64 " MB in %s, and %" PRIu64
                       " MB are free (%" PRIu64 " MB of them reserved); those of the earlier run "
                       "stay. Remove what is not needed any more, or leave BackupUser out.",
                       reuse->directory, wanted >> 20, directory, available >> 20, kept >> 20);
    else if (error)
        refuse(message, error, "%s: its free space cannot be asked: %s", directory,
               strerror(-error));
    free(directory);
    return error;
}

/* Files have the sizes that they have; logs are written before the load, and tempdb. */
static void tell_plan(const struct reuse *reuse, struct plan *plan)
{
    uint64_t session = ledger_header_of(reuse->ledger)->session + 1;
    plan->prepared = true;
    plan->bytes_to_write = 0;
    for (unsigned i = 0; i < plan->file_count; i++) {
        struct plan_file *file = &plan->files[i];
        const struct ledger_file *left = ledger_file_at(reuse->ledger, (uint16_t)(i + 1));
        uint64_t bytes = (uint64_t)left->size_pages_acked * PAGE_BYTES;
        if (!file->tempdb)
            file->initial_bytes = file->size_bytes;
        if (!file->tempdb || file->is_log)
            file->size_bytes = bytes;
        plan->bytes_to_write += file->is_log ? file->size_bytes : 0;
    }
    for (unsigned i = 0; i < plan->backup_count; i++)
        name_backup(&plan->backups[i], session);
}

/* ---- all ---- */

static int check(const struct reuse *reuse, struct plan *plan,
                 const struct config_settings *settings, char *message)
{
    const struct ledger_header *header = ledger_header_of(reuse->ledger);
    int error = check_end(reuse, message);
    if (error)
        return error;
    if (header->compressible != settings->compressibility)
        return refuse(message, -EINVAL,
                      "--reuse %s: Compressibility was %u there and is %" PRId64 " here. Set it as "
                      "it was. " ANEW,
                      reuse->directory, header->compressible, settings->compressibility);
    error = check_files(reuse, plan, message);
    if (!error)
        error = check_backup_space(reuse, plan, settings, message);
    if (!error)
        tell_plan(reuse, plan);
    return error;
}

int reuse_open(struct reuse *reuse, const char *directory, struct plan *plan,
               const struct config_settings *settings, char message[PLAN_MESSAGE_MAX])
{
    const char *reason = "";
    *reuse = (struct reuse){
        .directory = alloc_text(directory),
        .ledger_path = alloc_printf("%s/" LEDGER_FILE_NAME, directory),
    };
    int error = ledger_open(&reuse->ledger, reuse->ledger_path, false, &reason);
    if (error) {
        reuse->ledger = NULL;
        return refuse(message, error,
                      "--reuse %s: it has no ledger that can be read (%s): it is no result folder, "
                      "or a later run took its files over. Name the folder of the last run.",
                      directory, error == -EBADMSG ? reason : strerror(-error));
    }
    return check(reuse, plan, settings, message);
}

void reuse_close(struct reuse *reuse)
{
    ledger_close(reuse->ledger, false);
    free(reuse->directory);
    free(reuse->ledger_path);
    *reuse = (struct reuse){.ledger = NULL};
}

int reuse_taken(const struct reuse *reuse)
{
    return unlink(reuse->ledger_path) == 0 ? 0 : -errno;
}

void reuse_adopt(const struct reuse *reuse, struct ledger *ledger, uint16_t uid, bool anew)
{
    const struct ledger_file *file = ledger_file_at(reuse->ledger, uid);
    uint32_t capacity = ledger_file_at(ledger, uid)->capacity_pages;
    for (uint32_t page = 0; page < file->capacity_pages && page < capacity; page++) {
        struct ledger_view view = ledger_view(reuse->ledger, uid, page);
        if (view.issued == 0)
            continue;
        ledger_adopt(ledger, uid, page, view.issued);
        if (anew || view.state == LEDGER_FREED)
            ledger_free(ledger, uid, page, view.issued);
    }
}

/* One VLF may have been begun behind the last durable block. */
uint32_t reuse_first_fseq(const struct reuse *reuse, uint16_t log_uid)
{
    const struct ledger_file *file = ledger_file_at(reuse->ledger, log_uid);
    uint64_t position = atomic_load(&file->log_durable_position);
    uint32_t first = run_first_fseq(ledger_header_of(reuse->ledger)->run_id);
    uint32_t next = (uint32_t)(position >> 32) + 2;
    return next > first ? next : first;
}

struct run_identity reuse_identity(const struct reuse *reuse)
{
    const struct ledger_header *header = ledger_header_of(reuse->ledger);
    return run_identity_make(header->run_id, header->seed, header->compressible);
}
