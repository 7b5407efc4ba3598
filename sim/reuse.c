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
                      "--reuse %s: that run is still going, or did not end in order, so that its "
                      "pages are not all known. `pagestorm verify` says what it left. " ANEW,
                      reuse->directory);
    if (header->phase != LEDGER_PHASE_SETTLED)
        return refuse(message, -EINVAL,
                      "--reuse %s: that run did not come to its end (last checkpoint, audit of "
                      "every page), so changes of pages may lie in its log alone. " ANEW,
                      reuse->directory);
    return 0;
}

static const char *state_text(enum ledger_state state)
{
    switch (state) {
    case LEDGER_IN_FLIGHT:
    case LEDGER_INDETERMINATE:
        return "is in doubt after a failed write";
    case LEDGER_FREED:
        return "was given back (its file was made smaller)";
    case LEDGER_QUARANTINED:
        return "was found wrong";
    case LEDGER_NEVER_WRITTEN:
    case LEDGER_QUIET:
        break;
    }
    return "is not settled";
}

static bool is_settled(const struct ledger_view *view)
{
    return view->state == LEDGER_NEVER_WRITTEN ||
           (view->state == LEDGER_QUIET && view->acked == view->issued &&
            view->durable == view->issued);
}

/* The initial update formats each page; what a growth added and nobody used was never written. */
static bool must_be_written(const struct ledger_file *file, uint32_t page, bool sparse)
{
    bool primary = file->file_id == 1;
    return !sparse && page < file->size_pages_acked && syspage_kind(page, primary) == SYSPAGE_NONE;
}

static int check_pages(const struct reuse *reuse, const struct ledger_file *file, bool sparse,
                       char *message)
{
    for (uint32_t page = 0; page < file->capacity_pages; page++) {
        struct ledger_view view = ledger_view(reuse->ledger, file->uid, page);
        if (view.state == LEDGER_NEVER_WRITTEN && must_be_written(file, page, sparse))
            return refuse(message, -EINVAL,
                          "--reuse %s: page %" PRIu32
                          " of %s was never written: the file grew, and "
                          "such files are not taken over. " ANEW,
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

static int check_file(const struct reuse *reuse, const struct ledger_file *file,
                      const struct plan_file *planned, char *message)
{
    uint64_t bytes = (uint64_t)file->size_pages_acked * PAGE_BYTES;
    struct stat st;
    if (!same_path(planned->path, file->path))
        return refuse(message, -EINVAL, "--reuse %s: file %u is %s there, %s here. " ANEW,
                      reuse->directory, file->uid, file->path, planned->path);
    if (file->kind != (uint32_t)(planned->is_log ? FILE_KIND_LOG : FILE_KIND_DATA))
        return refuse(message, -EINVAL, "--reuse %s: %s is a %s file there, a %s file here. " ANEW,
                      reuse->directory, file->path, planned->is_log ? "data" : "log",
                      planned->is_log ? "log" : "data");
    if (file->database_id != planned->database + DATABASE_ID_FIRST)
        return refuse(message, -EINVAL, "--reuse %s: %s is of database %u there, %u here. " ANEW,
                      reuse->directory, file->path, file->database_id - DATABASE_ID_FIRST + 1,
                      planned->database + 1);
    if (bytes != planned->size_bytes)
        return refuse(message, -EINVAL,
                      "--reuse %s: %s has %" PRIu64 " bytes there, %" PRIu64
                      " here. Give the size that run had (--size, InitialSize); a file that grew "
                      "since is not taken over. " ANEW,
                      reuse->directory, file->path, bytes, planned->size_bytes);
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

static int check_files(const struct reuse *reuse, const struct plan *plan, char *message)
{
    const struct ledger_header *header = ledger_header_of(reuse->ledger);
    if (header->file_count != plan->file_count)
        return refuse(message, -EINVAL,
                      "--reuse %s: that run had %" PRIu32 " files, this one plans %u. Use the same "
                      "configuration; backups and snapshots are not taken over. " ANEW,
                      reuse->directory, header->file_count, plan->file_count);
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct ledger_file *file = ledger_file_at(reuse->ledger, (uint16_t)(i + 1));
        int error = check_file(reuse, file, &plan->files[i], message);
        if (!error)
            error = check_pages(reuse, file, plan->files[i].sparse, message);
        if (error)
            return error;
    }
    return 0;
}

/* ---- all ---- */

static int check(const struct reuse *reuse, const struct plan *plan,
                 const struct config_settings *settings, char *message)
{
    const struct ledger_header *header = ledger_header_of(reuse->ledger);
    int error = check_end(reuse, message);
    if (error)
        return error;
    if (plan->backup_count || plan->snapshot_count)
        return refuse(message, -EINVAL,
                      "--reuse %s: backups and snapshots cannot be made beside files that are "
                      "taken over. Leave BackupUser and the snapshot of DbccUser out, or run "
                      "without --reuse.",
                      reuse->directory);
    for (unsigned i = 0; i < plan->file_count; i++)
        if (plan->files[i].tempdb)
            return refuse(message, -EINVAL,
                          "--reuse %s: tempdb is made anew at each start, so a run with tempdb "
                          "files cannot take others over. Leave it out, or run without --reuse.",
                          reuse->directory);
    if (header->compressible != settings->compressibility)
        return refuse(message, -EINVAL,
                      "--reuse %s: Compressibility was %u there and is %" PRId64 " here. Set it as "
                      "it was. " ANEW,
                      reuse->directory, header->compressible, settings->compressibility);
    return check_files(reuse, plan, message);
}

int reuse_open(struct reuse *reuse, const char *directory, const struct plan *plan,
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

void reuse_adopt(const struct reuse *reuse, struct ledger *ledger, uint16_t uid)
{
    const struct ledger_file *file = ledger_file_at(reuse->ledger, uid);
    for (uint32_t page = 0; page < file->size_pages_acked; page++) {
        struct ledger_view view = ledger_view(reuse->ledger, uid, page);
        if (view.state != LEDGER_NEVER_WRITTEN)
            ledger_adopt(ledger, uid, page, view.acked);
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
