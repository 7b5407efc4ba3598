/*
 * foreign.c - see foreign.h.
 *
 * Invariants: a file is told of once for each kind of deed; findings are reported outside the lock,
 * since reporting one may look here again.
 */
#include "sim/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/file_events.h"
#include "sim/file_mount.h"

#define WHO_MAX      64
#define WATCHER      "Display Monitor" /* SQLIOSim's name of who looks */
#define WAIT_STEPS   20
#define WAIT_STEP_NS (50 * (long)NS_PER_MS)

struct foreign_file {
    const struct file *file;
    int mount_id;
    bool opened, written, named, unmounted; /* by another process */
    bool awaited;                           /* what the opener would do, since it was opened */
    bool told_written, told_named, told_unmounted;
    char who[WHO_MAX];
};

struct foreign {
    pthread_mutex_t lock;
    struct file_events *events;
    struct foreign_file *files;
    unsigned count, capacity;
    bool blind_told;
};

/* ---- what the kernel tells, under the lock ---- */

static void name_process(int pid, char who[WHO_MAX])
{
    char path[64], name[32] = "";
    snprintf(who, WHO_MAX, "another process");
    if (pid <= 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *in = fopen(path, "re");
    if (in && fgets(name, sizeof name, in))
        name[strcspn(name, "\n")] = '\0';
    if (in)
        fclose(in);
    snprintf(who, WHO_MAX, "process %d%s%s%s", pid, name[0] ? " (" : "", name, name[0] ? ")" : "");
}

static struct foreign_file *entry_of(struct foreign *foreign, const struct file *file)
{
    for (unsigned i = 0; i < foreign->count; i++)
        if (foreign->files[i].file == file)
            return &foreign->files[i];
    return NULL;
}

static bool is_cut(const struct file *file)
{
    uint64_t now_bytes;
    return file_check_identity(file, &now_bytes) == -ENODATA;
}

static bool is_elsewhere(const struct file *file)
{
    uint64_t now_bytes;
    int error = file_check_identity(file, &now_bytes);
    return error == -ENOENT || error == -ESTALE;
}

static void note(void *context, const struct file_deed *deed)
{
    struct foreign_file *entry = entry_of(context, deed->file);
    bool written, named;
    entry->opened |= deed->opened;
    entry->awaited &= !deed->opened;
    written = deed->written && !entry->written && (entry->opened || is_cut(deed->file));
    named = deed->named && !entry->named && is_elsewhere(deed->file);
    if (written || named)
        name_process(deed->pid, entry->who);
    entry->written |= written;
    entry->named |= named;
}

static void note_mounts(struct foreign *foreign)
{
    for (unsigned i = 0; i < foreign->count; i++) {
        struct foreign_file *entry = &foreign->files[i];
        bool known = i > 0 && entry->mount_id == foreign->files[i - 1].mount_id;
        entry->unmounted |=
            known ? foreign->files[i - 1].unmounted : !file_mount_is_there(entry->mount_id);
    }
}

/* ---- findings ---- */

static void tell(struct run *run, const struct foreign_file *entry, enum verdict verdict,
                 const char *what)
{
    struct finding finding = {
        .verdict = verdict, .file_uid = entry->file->mark.file_uid, .actor = WATCHER};
    snprintf(finding.file, sizeof finding.file, "%s", entry->file->path);
    snprintf(finding.detail, sizeof finding.detail, "%s", what);
    finding_report(&run->findings, &finding, NULL);
    run_stop(run, RUN_STOP_ERROR);
}

static void tell_written(struct run *run, const struct foreign_file *entry)
{
    char what[FINDING_DETAIL_MAX];
    uint64_t now_bytes = 0;
    bool cut = file_check_identity(entry->file, &now_bytes) == -ENODATA;
    if (cut)
        snprintf(what, sizeof what,
                 "%s cut the file to %" PRIu64 " bytes, %" PRIu64
                 " were acknowledged; the storage is not to blame. Keep others away from the "
                 "files and run again",
                 entry->who, now_bytes, (uint64_t)atomic_load(&entry->file->target.size_bytes));
    else
        snprintf(what, sizeof what,
                 "%s wrote to the file while this run used it; what is read from it now says "
                 "nothing about the storage. Keep others away from the files and run again",
                 entry->who);
    tell(run, entry, VERDICT_foreign_write, what);
}

static void tell_named(struct run *run, const struct foreign_file *entry)
{
    char what[FINDING_DETAIL_MAX];
    snprintf(what, sizeof what,
             "%s removed, renamed or replaced the file while this run used it. Keep others away "
             "from the files and run again",
             entry->who);
    tell(run, entry, VERDICT_file_replaced, what);
}

static void tell_unmounted(struct run *run, const struct foreign_file *entry)
{
    tell(run, entry, VERDICT_device_gone,
         "its file system was unmounted (umount -l) while this run used it: open files go on "
         "working, nobody else sees them. What was verified until now stands; mount it and run "
         "again");
}

/* What is new of one file; false: nothing. */
static bool fresh(struct foreign *foreign, unsigned index, struct foreign_file *out)
{
    struct foreign_file *entry = &foreign->files[index];
    *out = *entry;
    entry->told_written = entry->written;
    entry->told_named = entry->named;
    entry->told_unmounted = entry->unmounted;
    out->written &= !out->told_written;
    out->named &= !out->told_named;
    out->unmounted &= !out->told_unmounted;
    return out->written || out->named || out->unmounted;
}

static void events_look(struct foreign *foreign)
{
    if (foreign->events)
        file_events_look(foreign->events, note, foreign);
}

void foreign_look(struct run *run)
{
    struct foreign *foreign = run->foreign;
    if (!foreign || !run->findings.list)
        return;
    pthread_mutex_lock(&foreign->lock);
    note_mounts(foreign);
    events_look(foreign);
    pthread_mutex_unlock(&foreign->lock);
    for (unsigned i = 0; i < foreign->count; i++) {
        struct foreign_file entry;
        pthread_mutex_lock(&foreign->lock);
        bool any = fresh(foreign, i, &entry);
        pthread_mutex_unlock(&foreign->lock);
        if (any && entry.unmounted)
            tell_unmounted(run, &entry);
        else if (any && entry.named)
            tell_named(run, &entry);
        if (any && entry.written)
            tell_written(run, &entry);
    }
}

/* ---- for who found something ---- */

static struct foreign_file ask(struct run *run, uint16_t file_uid)
{
    struct foreign *foreign = run->foreign;
    struct foreign_file found = {0};
    foreign_look(run);
    pthread_mutex_lock(&foreign->lock);
    for (unsigned i = 0; i < foreign->count; i++)
        if (foreign->files[i].file->mark.file_uid == file_uid) {
            found = foreign->files[i];
            foreign->files[i].awaited |= found.opened;
        }
    pthread_mutex_unlock(&foreign->lock);
    return found;
}

bool foreign_wrote(struct run *run, uint16_t file_uid, char *who, size_t who_size_bytes)
{
    static const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
    if (!run->foreign)
        return false;
    struct foreign_file found = ask(run, file_uid);
    /* A write is told when it ends, its bytes can be read before: wait, once for each opening. */
    bool waits = found.opened && !found.awaited;
    for (unsigned i = 0; i < WAIT_STEPS && waits && !found.written; i++) {
        nanosleep(&step, NULL);
        found = ask(run, file_uid);
    }
    snprintf(who, who_size_bytes, "%s", found.who);
    return found.written;
}

bool foreign_unmounted(const struct run *run, const struct file *file)
{
    const struct foreign *foreign = run->foreign;
    for (unsigned i = 0; foreign && i < foreign->count; i++)
        if (foreign->files[i].file == file)
            return !file_mount_is_there(foreign->files[i].mount_id);
    return false;
}

/* ---- life ---- */

static void blind(struct run *run, const char *why)
{
    if (!run->foreign->blind_told)
        run_log(run, "System", EVENT_HERE,
                "Not watched: writes of other processes to the files of this run (%s). Keep others "
                "away from them: such a write would be taken for the storage's.",
                why);
    run->foreign->blind_told = true;
}

int foreign_make(struct run *run)
{
    const struct plan *plan = run->config.plan;
    char why[FILE_EVENTS_WHY_MAX];
    if (run->config.virtual_clock || !run->settings->watch_files)
        return 0;
    struct foreign *foreign = calloc(1, sizeof *foreign);
    if (!foreign)
        return -ENOMEM;
    run->foreign = foreign;
    pthread_mutex_init(&foreign->lock, NULL);
    foreign->capacity = plan->file_count + plan->backup_count + plan->snapshot_count;
    foreign->files = calloc(foreign->capacity, sizeof *foreign->files);
    if (!foreign->files)
        return -ENOMEM;
    if (file_events_create(&foreign->events, why))
        blind(run, why);
    return 0;
}

void foreign_add(struct run *run, const struct file *file)
{
    struct foreign *foreign = run->foreign;
    char why[FILE_EVENTS_WHY_MAX];
    if (!foreign || foreign->count == foreign->capacity)
        return;
    foreign->files[foreign->count++] =
        (struct foreign_file){.file = file, .mount_id = file_mount_id(file->target.fd)};
    if (foreign->events && file_events_add(foreign->events, file, why))
        blind(run, why);
}

void foreign_free(struct run *run)
{
    if (!run->foreign)
        return;
    file_events_free(run->foreign->events);
    pthread_mutex_destroy(&run->foreign->lock);
    free(run->foreign->files);
    free(run->foreign);
    run->foreign = NULL;
}
