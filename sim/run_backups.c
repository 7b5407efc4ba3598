/* run_backups.c - see run_backups.h. */
#include "sim/run_backups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/paths.h"
#include "sim/actor.h"
#include "sim/backup.h"
#include "sim/restore.h"
#include "sim/run_actors.h"
#include "verify/syspage_hash.h"

#define RESTORED_PREFIX "restored-"

/* ---- the tail of the log ---- */

struct tail {
    bool done;
};

static size_t tail_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct tail);
}

static void tail_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)settings;
    (void)seed;
    (void)actor_index;
    ((struct tail *)state)->done = false;
}

static void tail_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct tail *tail = state;
    (void)view;
    *out = (struct op){.kind = tail->done ? OP_END : OP_BACKUP, .log_only = true};
    tail->done = true;
}

static const struct pattern pattern_tail = {
    .name = "TailBackup",
    .help = "the log backup at the end of the main part",
    .section = NULL,
    .backs_up = true,
    .state_size = tail_state_size,
    .init = tail_init,
    .next = tail_next,
};

int run_backups_tail(struct run *run)
{
    unsigned first = run->actor_count;
    bool wanted = false;
    for (unsigned i = 0; i < run->user_database_count; i++)
        wanted |= run->backups[i].log_hold.held;
    if (!wanted)
        return 0;
    struct actor *actor;
    int error = run_actor_add(run, run->config.profile, &pattern_tail, 0, NULL, &actor);
    if (error)
        return error;
    run->phase_deadline_ns = UINT64_MAX;
    run_actors_run(run, first);
    return 0;
}

/* ---- judging a restored page ---- */

struct judging {
    struct run *run;
    struct backup_media *media;
    bool to_the_end; /* all log that there is was redone */
    struct syspage_images images;
};

static uint64_t floor_of(const struct judging *j, const struct data_file *file, uint32_t page_no)
{
    unsigned index = (unsigned)(file - j->media->database->files);
    bool known = j->media->floors && page_no < j->media->floor_pages[index];
    return known ? j->media->floors[index][page_no] : 0;
}

static bool judge_system(struct judging *j, struct data_file *file, uint32_t page_no,
                         const void *page)
{
    if (!j->to_the_end)
        return true; /* redo proved it by the hash in its log record */
    syspage_images_copy(file, page_no, &j->images);
    if (!j->images.has_acked)
        return true;
    return syspage_content_xxh3(page) == syspage_content_xxh3(j->images.acked);
}

static bool judge_page(void *context, uint16_t file_uid, uint32_t page_no, const void *page,
                       char text[FINDING_DETAIL_MAX])
{
    struct judging *j = context;
    struct data_file *file = run_file_by_uid(j->run, file_uid);
    if (!file || page_no >= file->file.size_pages)
        return true;
    struct ledger_view view = ledger_view(j->run->ledger, file_uid, page_no);
    bool known = view.state == LEDGER_QUIET || view.state == LEDGER_NEVER_WRITTEN;
    if (syspage_kind(page_no, file->primary) != SYSPAGE_NONE) {
        snprintf(text, FINDING_DETAIL_MAX,
                 "the restored system page is not what it must be at the end of the log");
        return !known || judge_system(j, file, page_no, page);
    }
    bool zero = page_is_zero(page, PAGE_BYTES);
    uint64_t generation = zero ? 0 : page_stamp_of(page)->generation;
    uint64_t least = j->to_the_end && known ? view.acked : floor_of(j, file, page_no);
    uint64_t most = j->to_the_end && known ? view.acked : view.issued;
    if ((zero || page_check(page) == PAGE_OK) && generation >= least && generation <= most)
        return true;
    snprintf(text, FINDING_DETAIL_MAX,
             "the restored page has generation %" PRIu64 ", the ledger allows %" PRIu64
             " to %" PRIu64,
             generation, least, most);
    return false;
}

/* ---- restore ---- */

static int step_tick(void *context, uint64_t bytes)
{
    struct run *run = context;
    run_step_done(run, bytes);
    return run_interrupted(run) ? -EINTR : 0;
}

static void tell(struct run *run, const struct restore *r, unsigned database, uint64_t begun_ns)
{
    double seconds = (double)(clock_now_ns(run->clock) - begun_ns + 1) / (double)NS_PER_S;
    run_say(run,
            "Database %u was restored from its backup and %u log backups: %" PRIu64
            " pages, %" PRIu64 " of them redone, in %.3f s; each was read back and compared",
            database + 1, r->log_backups, r->pages, r->redone, seconds);
}

static void restore_prepare(struct run *run, struct backup_media *media, struct restore *r,
                            const char *directory)
{
    *r = (struct restore){.io = &run->io,
                          .directory = directory,
                          .prefix = RESTORED_PREFIX,
                          .how = {.direct = run->settings->no_buffering,
                                  .dsync = run->settings->write_through,
                                  .delete_own = run->settings->delete_files_at_startup},
                          .findings = &run->findings,
                          .actor = "restore",
                          .now_ns = clock_realtime_ns(run->clock),
                          .judge = judge_page};
    r->sources[r->source_count++] = &media->full[media->current].file;
    if (media->log && media->log[media->current].number > media->full[media->current].number)
        r->sources[r->source_count++] = &media->log[media->current].file;
}

/* What a restore could not do, said once. */
static int restore_failed(struct run *run, const struct restore *r, int error)
{
    if (error == -EBADMSG) /* its findings say it */
        return 0;
    if (error == -EINTR)
        return error;
    run_tell(run, EVENT_ERROR, EVENT_HERE, "The restore failed: %s%s",
             r->message[0] ? r->message : strerror(-error),
             error == -ENOSPC ? " (SQL Server: 3257)" : "");
    return error;
}

/* Of the log backups all that stand in the file belong to it. */
static void restored(struct backup_media *media, const struct restore *r, bool right)
{
    backup_records_restored(&media->records, &media->full[media->current], right, r->pages);
    if (r->source_count > 1)
        backup_records_restored(&media->records, &media->log[media->current], right, 0);
}

static int restore(struct run *run, struct backup_media *media)
{
    uint64_t begun_ns = clock_now_ns(run->clock);
    struct backup_file *full = &media->full[media->current];
    struct restore r;
    char *directory = path_directory_of(full->file.path);
    struct judging judging = {.run = run, .media = media};
    struct tick progress = {step_tick, run};
    judging.images.acked = malloc(PAGE_BYTES);
    judging.images.issued = malloc(PAGE_BYTES);
    restore_prepare(run, media, &r, directory);
    r.tick = &progress;
    r.context = &judging;
    uint64_t end =
        r.source_count > 1 ? media->log[media->current].end_position : full->end_position;
    judging.to_the_end = end >= atomic_load(&media->database->wal.durable_end);
    int error = judging.images.acked && judging.images.issued ? restore_run(&r) : -ENOMEM;
    restore_close(&r, false);
    if (!error || error == -EBADMSG)
        restored(media, &r, error == 0 && r.damaged == 0);
    if (error)
        error = restore_failed(run, &r, error);
    else
        tell(run, &r, media->database->index, begun_ns);
    free(judging.images.acked);
    free(judging.images.issued);
    free(directory);
    return error;
}

/* ---- verify only ---- */

static void report_missing(struct run *run, const struct backup_file *file, uint32_t newest)
{
    struct finding finding = {.verdict = VERDICT_lost_write,
                              .offset = BACKUP_FIRST_OFFSET,
                              .size_bytes = BACKUP_META_BYTES,
                              .file_uid = file->file.mark.file_uid};
    snprintf(finding.file, sizeof finding.file, "%s", file->file.path);
    snprintf(finding.actor, sizeof finding.actor, "backup check");
    snprintf(finding.detail, sizeof finding.detail,
             "backup %u was completed here, and the file shows %u as its newest complete one",
             file->number, newest);
    finding_report(&run->findings, &finding, NULL);
}

static int check_file(struct run *run, struct backup_media *media, struct backup_file *file)
{
    struct tick progress = {step_tick, run};
    struct backup_checker checker = {.io = &run->io,
                                     .file = &file->file,
                                     .findings = &run->findings,
                                     .actor = "backup check",
                                     .tick = &progress};
    int error = backup_checker_init(&checker);
    if (!error)
        error = backup_check_file(&checker);
    if (!error && !checker.counts.damaged && checker.counts.newest != file->number && !run->stuck)
        report_missing(run, file, checker.counts.newest);
    bool right = !checker.counts.damaged && checker.counts.newest == file->number;
    if (!error && !run->stuck)
        backup_records_verified(&media->records, file, right);
    if (!error && !checker.counts.damaged)
        run_say(run, "%s: %" PRIu64 " backups, %" PRIu64 " blocks read back and right",
                file->file.path, checker.counts.backups, checker.counts.blocks);
    backup_checker_free(&checker);
    return error;
}

static int look(struct run *run, struct backup_media *media)
{
    const struct backup_user_settings *settings = backup_settings(run);
    struct backup_file *full = media->full ? &media->full[media->current] : NULL;
    if (!full || !full->number)
        return 0;
    struct backup_file *log = media->log ? &media->log[media->current] : NULL;
    bool logs = log && log->number > full->number;
    int error = 0;
    if (settings->verify || settings->restore)
        error = check_file(run, media, full);
    if (!error && logs && (settings->verify || settings->restore))
        error = check_file(run, media, log);
    if (!error && settings->restore && !run_stopping(run))
        error = restore(run, media);
    return error;
}

/* Bytes to be read, about. */
static uint64_t bytes_of(const struct run *run)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->user_database_count; i++) {
        const struct backup_media *media = &run->backups[i];
        if (media->full && media->full[media->current].number)
            sum += media->full[media->current].end_offset;
        if (media->log && media->log[media->current].number)
            sum += media->log[media->current].end_offset;
    }
    return backup_settings(run)->restore ? 3 * sum : sum;
}

int run_backups_look(struct run *run)
{
    int error = 0;
    uint64_t total = bytes_of(run);
    if (total == 0)
        return 0;
    run_step(run,
             backup_settings(run)->restore ? "restoring the newest backup"
                                           : "reading the newest backup back",
             total);
    for (unsigned i = 0; i < run->user_database_count && !error; i++)
        error = look(run, &run->backups[i]);
    run_step(run, NULL, 0);
    return error == -EINTR ? 0 : error;
}
