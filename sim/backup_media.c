/* backup_media.c - see backup_media.h. */
#include "sim/backup_media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exit_code.h"
#include "sim/io_trace.h"
#include "sim/plan_backup.h"

const struct backup_user_settings *backup_settings(const struct run *run)
{
    return profile_section(run->config.profile, "BackupUser");
}

struct backup_file *backup_media_file(const struct run *run, unsigned index)
{
    const struct plan *plan = run->config.plan;
    const struct plan_backup *row = &plan->backups[index];
    unsigned slot = 0;
    for (unsigned i = 0; i < index; i++)
        slot += plan->backups[i].database == row->database && plan->backups[i].log == row->log;
    struct backup_media *media = &run->backups[row->database];
    return row->log ? &media->log[slot] : &media->full[slot];
}

struct ledger_file_spec backup_media_spec(const struct run *run, unsigned index)
{
    const struct file *file = &backup_media_file(run, index)->file;
    return (struct ledger_file_spec){.incarnation = file->mark.incarnation,
                                     .file_id = file->mark.file_id,
                                     .database_id = file->mark.database_id,
                                     .kind = FILE_KIND_BACKUP,
                                     .path = file->path};
}

static int file_make(struct run *run, unsigned index)
{
    const struct plan_backup *row = &run->config.plan->backups[index];
    const struct database *database = &run->databases[row->database];
    struct file *file = &backup_media_file(run, index)->file;
    struct file_mark mark = {
        .file_uid = (uint16_t)(run->config.plan->file_count + index + 1),
        .incarnation = 1,
        .file_id = 1,
        .database_id = database->logs[0].mark.database_id,
        .kind = FILE_KIND_BACKUP,
        .seed = run->config.plan->seed,
        .compressible = run->identity.compressible,
    };
    memcpy(mark.run_id, run->run_id, sizeof mark.run_id);
    struct file_open how = {
        .path = row->path,
        .direct = run->settings->no_buffering,
        .dsync = run->settings->write_through,
        .coalesced = run->settings->alternate_write_through,
        .delete_own = run->settings->delete_files_at_startup,
        .forced_sector_bytes = (uint32_t)run->settings->sector_size_bytes,
    };
    int error =
        file_create(file, &how, &mark, (uint32_t)(row->size_bytes / PAGE_BYTES), run->message);
    if (error) {
        bool path_bad = error == -EEXIST || error == -EBUSY || error == -EACCES || error == -EPERM;
        run->exit_code = path_bad ? EXIT_CODE_USAGE : EXIT_CODE_INCOMPLETE;
        return error;
    }
    run->message[0] = 0;
    if (run->config.trace)
        io_trace_file(run->config.trace, mark.file_uid, file->path);
    return run_attach(run, &file->target);
}

static int floors_make(struct backup_media *media)
{
    const struct database *database = media->database;
    media->floors = calloc(database->file_count, sizeof *media->floors);
    media->floor_pages = calloc(database->file_count, sizeof *media->floor_pages);
    if (!media->floors || !media->floor_pages)
        return -ENOMEM;
    for (unsigned i = 0; i < database->file_count; i++) {
        media->floor_pages[i] = database->files[i].file.size_pages;
        media->floors[i] = calloc(media->floor_pages[i], sizeof *media->floors[i]);
        if (!media->floors[i])
            return -ENOMEM;
    }
    return 0;
}

/* The log is backed up at some time of the run (plan_backup.c). */
static bool has_log_backups(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->backup_count; i++)
        if (plan->backups[i].log)
            return true;
    return false;
}

static int media_make(struct run *run, unsigned index)
{
    const struct backup_user_settings *settings = backup_settings(run);
    struct backup_media *media = &run->backups[index];
    media->database = &run->databases[index];
    if (plan_backups_are_wanted(run->config.profile) && backup_records_make(&media->records))
        return -ENOMEM;
    if (run->config.plan->backup_count == 0)
        return 0;
    media->keep = (unsigned)settings->keep;
    media->current = media->keep - 1;
    media->full = calloc(media->keep, sizeof *media->full);
    bool log = has_log_backups(run->config.plan);
    media->log = log ? calloc(media->keep, sizeof *media->log) : NULL;
    if (!media->full || (log && !media->log))
        return -ENOMEM;
    for (unsigned i = 0; i < media->keep; i++) {
        media->full[i].file.target.fd = -1;
        if (media->log)
            media->log[i].file.target.fd = -1;
    }
    return settings->restore ? floors_make(media) : 0;
}

int backup_media_create(struct run *run)
{
    int error = 0;
    run->backups = calloc(run->database_count, sizeof *run->backups);
    if (!run->backups)
        return -ENOMEM;
    for (unsigned i = 0; i < run->database_count && !error; i++)
        error = media_make(run, i);
    for (unsigned i = 0; i < run->config.plan->backup_count && !error; i++) {
        error = file_make(run, i);
        run->backup_files_made += !error;
    }
    return error;
}

void backup_media_remove(struct run *run)
{
    char message[FILE_MESSAGE_MAX];
    for (unsigned i = 0; i < run->backup_files_made; i++)
        if (file_delete_own(run->config.plan->backups[i].path, run->run_id, message))
            run_warn(run, "%s", message);
}

void backup_media_free(struct run *run)
{
    for (unsigned i = 0; i < run->database_count && run->backups; i++) {
        struct backup_media *media = &run->backups[i];
        for (unsigned j = 0; j < media->keep; j++) {
            if (media->full)
                file_close(&media->full[j].file);
            if (media->log)
                file_close(&media->log[j].file);
        }
        for (unsigned j = 0; media->floors && j < media->database->file_count; j++)
            free(media->floors[j]);
        backup_records_free(&media->records);
        free(media->floors);
        free(media->floor_pages);
        free(media->full);
        free(media->log);
    }
    free(run->backups);
}
