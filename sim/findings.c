/*
 * findings.c - the list of events, and what happens to each; see findings.h.
 *
 * Invariants: an event is quarantined, on disk as evidence and in the list before finding_report()
 * returns; announce and stop run outside the lock, after that.  Memory is bounded by FINDINGS_MAX.
 * What it does not do: name a fault (explain.c, page_fault.c) or join two ends of one (pairing.c).
 */
#include "sim/findings.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/error_dump.h"
#include "sim/evidence.h"
#include "sim/finding_hook.h"
#include "sim/finding_sql.h"
#include "verify/ledger.h"

int findings_init(struct findings *findings, struct clock *clock, struct ledger *ledger,
                  const char *evidence_dir, bool stop_on_error)
{
    memset(findings, 0, sizeof *findings);
    findings->list = calloc(FINDINGS_MAX, sizeof *findings->list);
    if (!findings->list || finding_sites_init(&findings->sites)) {
        free(findings->list);
        findings->list = NULL;
        return -ENOMEM;
    }
    findings->clock = clock;
    findings->ledger = ledger;
    findings->evidence_dir = evidence_dir;
    findings->stop_on_error = stop_on_error;
    pthread_mutex_init(&findings->lock, NULL);
    return 0;
}

void findings_free(struct findings *findings)
{
    if (!findings->list)
        return;
    free(findings->list);
    finding_sites_free(&findings->sites);
    pthread_mutex_destroy(&findings->lock);
    memset(findings, 0, sizeof *findings);
}

static enum severity severity_of(enum verdict verdict)
{
    return verdict_info(verdict)->severity;
}

/* ---- is it known? (under the lock) ---- */

static bool same_place(const struct finding *known, const struct finding *finding)
{
    if (known->file_uid != finding->file_uid || known->has_page != finding->has_page)
        return false;
    if (known->has_page)
        return known->page_no == finding->page_no;
    bool size = finding->verdict == VERDICT_truncated_file && known->verdict == finding->verdict;
    return size || known->offset == finding->offset;
}

/* A file that was cut, and then lengthened again by the next write beyond its end, reads as zeros
 * between the two: no page of them is an event of its own. */
static bool is_in_the_cut(const struct finding *known, const struct finding *finding)
{
    return known->verdict == VERDICT_truncated_file && finding->verdict == VERDICT_zeroed &&
           known->file_uid == finding->file_uid && finding->offset >= known->offset;
}

static bool stands_for(const struct finding *known, const struct finding *finding)
{
    if (is_in_the_cut(known, finding))
        return true;
    if (severity_of(finding->verdict) == SEVERITY_INTEGRITY)
        return severity_of(known->verdict) == SEVERITY_INTEGRITY && !known->healed &&
               same_place(known, finding);
    return known->verdict == finding->verdict && known->file_uid == finding->file_uid;
}

/* The event that already stands for this finding, or NULL. */
static struct finding *find_known(struct findings *findings, const struct finding *finding)
{
    for (unsigned i = 0; i < findings->count; i++)
        if (stands_for(&findings->list[i], finding))
            return &findings->list[i];
    return NULL;
}

/* Beyond the list the ledger remembers. */
static bool is_quarantined(struct findings *findings, const struct finding *finding)
{
    if (!findings->ledger || !finding->has_page || findings->count < FINDINGS_MAX)
        return false;
    return ledger_view(findings->ledger, finding->file_uid, finding->page_no).state ==
           LEDGER_QUARANTINED;
}

/* True: counted or ignored, nothing more to do. */
static bool fold(struct findings *findings, const struct finding *finding)
{
    struct finding *known = find_known(findings, finding);
    if (severity_of(finding->verdict) == SEVERITY_INTEGRITY)
        return known || is_quarantined(findings, finding);
    bool one_by_one =
        (finding->verdict == VERDICT_read_retry || finding->verdict == VERDICT_stalled_io ||
         finding->verdict == VERDICT_host_pause) &&
        findings->by_verdict[finding->verdict] < FINDINGS_SINGLE_MAX;
    if (!known || one_by_one)
        return false;
    known->times++;
    findings->by_verdict[finding->verdict]++;
    return true;
}

/* ---- a new event ---- */

static bool wants_evidence(struct findings *findings, const struct finding *finding,
                           const struct finding_images *images)
{
    if (!findings->evidence_dir)
        return false;
    bool minor = finding->verdict == VERDICT_stalled_io || finding->verdict == VERDICT_host_pause;
    if (minor && !images)
        return false; /* its line says it all */
    if (severity_of(finding->verdict) != SEVERITY_INTEGRITY)
        return true; /* there are few: they are folded */
    return findings->evidence_count < EVIDENCE_EVENTS_MAX && ++findings->evidence_count;
}

/* Number and list place; NULL when the list is full. Under the lock. */
static struct finding *enter(struct findings *findings, struct finding *finding)
{
    struct page_order order = {0, 0};
    struct finding *entry = NULL;
    findings->by_verdict[finding->verdict]++;
    if (findings->count < FINDINGS_MAX) {
        entry = &findings->list[findings->count];
        finding->number = ++findings->count;
        *entry = *finding;
    }
    if (findings->ledger && finding->has_page)
        order = ledger_order(findings->ledger, finding->file_uid, finding->page_no);
    finding_sites_add(&findings->sites, finding, order, true);
    return entry;
}

static void quarantine(struct findings *findings, const struct finding *finding)
{
    if (findings->ledger && finding->has_page && !finding->healed &&
        severity_of(finding->verdict) == SEVERITY_INTEGRITY)
        ledger_quarantine(findings->ledger, finding->file_uid, finding->page_no);
}

/* What could not be written belongs to what is known of the event. */
static void add_failure(struct finding *event, const char *what, int error)
{
    size_t used = strlen(event->detail);
    snprintf(event->detail + used, sizeof event->detail - used, "%sits %s could not be written: %s",
             used ? "; " : "", what, strerror(-error));
}

static void write_dump(struct findings *findings, struct finding *event,
                       const struct finding_images *images)
{
    static const struct finding_images none = {.size_bytes = 0};
    if (!findings->dump_dir || severity_of(event->verdict) != SEVERITY_INTEGRITY)
        return;
    unsigned number = __atomic_add_fetch(&findings->dump_count, 1, __ATOMIC_RELAXED);
    int error = error_dump_write(findings->dump_dir, number, findings->ledger, event,
                                 images ? images : &none, event->dump);
    if (!error)
        return;
    event->dump[0] = '\0';
    add_failure(event, "error dump", error);
}

static bool hangs(const struct finding *event)
{
    return event->verdict == VERDICT_stalled_io || event->verdict == VERDICT_stuck_io ||
           event->verdict == VERDICT_device_gone;
}

/* A look opens the file: where requests hang that may hang, too, and the map has to do. */
static void find_device(const struct findings *findings, struct finding *event,
                        struct disk_place *place)
{
    *place = (struct disk_place){.why_not = "not looked for"};
    if (!findings->sysfs || event->file[0] != '/')
        return;
    if (!hangs(event))
        disk_place_look(place, findings->sysfs, event->file, event->offset, event->size_bytes);
    else if (findings->map)
        disk_map_place(findings->map, findings->sysfs, event->file_uid, event->offset,
                       event->size_bytes, place);
    const struct disk_step *disk = disk_place_bottom(place);
    if (!disk)
        return;
    snprintf(event->device, sizeof event->device, "%s", disk->name);
    event->device_offset = disk->offset;
    event->device_sector_bytes = disk->sector_bytes;
}

static void write_evidence(struct findings *findings, struct finding *event,
                           const struct disk_place *place, const struct finding_images *images)
{
    struct evidence_sources sources = {.directory = findings->evidence_dir,
                                       .ledger = findings->ledger,
                                       .clock = findings->clock,
                                       .place = place,
                                       .histories = findings->histories};
    int error = evidence_write(&sources, event, images);
    if (error) {
        event->evidence[0] = '\0';
        add_failure(event, "evidence", error);
    }
    write_dump(findings, event, images);
}

/* What became known after the event had its number. */
static void complete(struct findings *findings, const struct finding *event, struct finding *entry)
{
    pthread_mutex_lock(&findings->lock);
    memcpy(entry->evidence, event->evidence, sizeof entry->evidence);
    memcpy(entry->dump, event->dump, sizeof entry->dump);
    memcpy(entry->detail, event->detail, sizeof entry->detail);
    memcpy(entry->device, event->device, sizeof entry->device);
    entry->device_offset = event->device_offset;
    entry->device_sector_bytes = event->device_sector_bytes;
    pthread_mutex_unlock(&findings->lock);
}

static void document(struct findings *findings, struct finding *event, struct finding *entry,
                     bool evidence, const struct finding_images *images)
{
    struct disk_place place;
    find_device(findings, event, &place);
    if (evidence)
        write_evidence(findings, event, &place, images);
    complete(findings, event, entry);
}

/* ---- the user's commands ---- */

static struct hook_event hook_event_of(const struct finding *event, uint64_t seen_ns)
{
    struct hook_event told = {
        .verdict = event->verdict,
        .stall = event->verdict == VERDICT_stalled_io,
        .file_uid = event->file_uid,
        .has_page = event->has_page,
        .page_no = event->page_no,
        .offset = event->offset,
        .size_bytes = event->size_bytes,
        .seen_ns = seen_ns,
        .age_ns = event->age_ns,
    };
    memcpy(told.file, event->file, sizeof told.file);
    memcpy(told.detail, event->detail, sizeof told.detail);
    return told;
}

static bool is_for_a_command(const struct finding *event)
{
    enum severity severity = severity_of(event->verdict);
    return severity == SEVERITY_INTEGRITY || severity == SEVERITY_IO_ERROR ||
           event->verdict == VERDICT_stalled_io;
}

static void tell_command(struct findings *findings, const struct finding *event)
{
    if (!findings->hook || !is_for_a_command(event))
        return;
    const struct hook_event told = hook_event_of(event, event->found_ns);
    (void)hook_post(findings->hook, &told);
}

unsigned finding_sight(struct findings *findings, const struct finding *finding)
{
    if (!findings->hook)
        return 0;
    struct hook_event told = hook_event_of(finding, clock_realtime_ns(findings->clock));
    told.first_sight = true;
    return hook_post(findings->hook, &told);
}

bool finding_sight_told(const struct findings *findings, unsigned number)
{
    return !findings->hook || hook_begun(findings->hook, number);
}

static bool stops_the_run(const struct findings *findings, const struct finding *finding)
{
    enum severity severity = severity_of(finding->verdict);
    return findings->stop_on_error &&
           (severity == SEVERITY_INTEGRITY || severity == SEVERITY_IO_ERROR);
}

/* What it is for SQL Server, while the image is there. */
static void know_as_sql_server(const struct findings *findings, struct finding *event,
                               const struct finding_images *images)
{
    const struct ledger_file *file =
        findings->ledger ? ledger_file_at(findings->ledger, event->file_uid) : NULL;
    if (file) {
        event->database_id = file->database_id;
        event->file_id = file->file_id;
    }
    finding_sql_reason(event, images);
}

unsigned finding_report_at(struct findings *findings, const struct finding *finding,
                           const struct finding_images *images, struct event_place place)
{
    assert(finding->verdict != VERDICT_NONE && finding->verdict < VERDICT_COUNT);
    struct finding event = *finding;
    event.found_ns = clock_realtime_ns(findings->clock);
    event.times = 1;
    event.place = place;
    if (findings->consider && severity_of(event.verdict) <= SEVERITY_IO_ERROR)
        findings->consider(findings->context, &event, images);
    know_as_sql_server(findings, &event, images);

    pthread_mutex_lock(&findings->lock);
    bool folded = fold(findings, &event);
    struct finding *entry = folded ? NULL : enter(findings, &event);
    bool evidence = entry && wants_evidence(findings, &event, images);
    quarantine(findings, &event); /* also when it folds into an event that is not of this page */
    pthread_mutex_unlock(&findings->lock);
    if (folded)
        return 0;
    tell_command(findings, &event);
    if (entry)
        document(findings, &event, entry, evidence, images);
    if (entry && findings->announce)
        findings->announce(findings->context, &event);
    if (findings->stop && stops_the_run(findings, &event))
        findings->stop(findings->context, &event);
    return event.number;
}

void finding_detail(struct findings *findings, unsigned number, const char *detail)
{
    pthread_mutex_lock(&findings->lock);
    if (number > 0 && number <= findings->count)
        snprintf(findings->list[number - 1].detail, FINDING_DETAIL_MAX, "%s", detail);
    pthread_mutex_unlock(&findings->lock);
}

/* ---- looking and joining ---- */

uint64_t findings_count(struct findings *findings, enum severity severity)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&findings->lock);
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++)
        if (severity_of((enum verdict)i) == severity)
            sum += findings->by_verdict[i];
    pthread_mutex_unlock(&findings->lock);
    return sum;
}

void findings_counts(struct findings *findings, uint64_t out[VERDICT_COUNT])
{
    pthread_mutex_lock(&findings->lock);
    memcpy(out, findings->by_verdict, sizeof findings->by_verdict);
    pthread_mutex_unlock(&findings->lock);
}

struct finding *findings_at(struct findings *findings, uint16_t file_uid, uint32_t page_no)
{
    for (unsigned i = 0; i < findings->count; i++) {
        struct finding *known = &findings->list[i];
        if (known->has_page && known->file_uid == file_uid && known->page_no == page_no &&
            !known->healed && !known->amended && severity_of(known->verdict) == SEVERITY_INTEGRITY)
            return known;
    }
    return NULL;
}

void finding_rename(struct findings *findings, struct finding *finding, enum verdict verdict)
{
    pthread_mutex_lock(&findings->lock);
    findings->by_verdict[finding->verdict]--;
    findings->by_verdict[verdict]++;
    finding->verdict = verdict;
    pthread_mutex_unlock(&findings->lock);
}

void finding_drop(struct findings *findings, struct finding *finding)
{
    pthread_mutex_lock(&findings->lock);
    if (!finding->amended)
        findings->by_verdict[finding->verdict]--;
    finding->amended = true;
    pthread_mutex_unlock(&findings->lock);
}
