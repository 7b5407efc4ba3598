/* exonerate.c - see exonerate.h. */
#include "sim/exonerate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/evidence_image.h"
#include "sim/foreign.h"
#include "verify/check.h"

static bool blames_storage(const struct finding *event)
{
    return verdict_info(event->verdict)->blame == BLAME_STORAGE;
}

/* What was wrong and what was right a moment later: the same bytes? */
static bool is_one_image(const struct finding *event, const struct finding_images *images)
{
    return event->healed && images->read_image && images->good_image &&
           memcmp(images->read_image, images->good_image, images->size_bytes) == 0;
}

/* Byte by byte the owed image, whatever the first judgement says? */
static bool is_what_was_owed(const struct run *run, const struct finding *event,
                             const struct finding_images *images)
{
    uint8_t owed[PAGE_BYTES];
    size_t compared_from;
    return images->read_image && event->has_page && images->size_bytes == PAGE_BYTES &&
           evidence_expected(run->ledger, event, images, owed, &compared_from) &&
           compared_from == 0 && memcmp(owed, images->read_image, PAGE_BYTES) == 0;
}

/* ---- is the device gone? ---- */

static const struct file *file_of(const struct run *run, uint16_t uid)
{
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++)
            if (run->databases[i].logs[j].mark.file_uid == uid)
                return &run->databases[i].logs[j];
    const struct data_file *data = run_file_by_uid(run, uid);
    return data ? &data->file : NULL;
}

static bool is_unreadable(const struct file *file, uint64_t offset, void *page)
{
    ssize_t got;
    do {
        got = pread(file->target.fd, page, PAGE_BYTES, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    return got < 0;
}

/* Not with a modelled device: the file is not what is asked. */
static bool is_gone(const struct run *run, const struct finding *event)
{
    const struct file *file = file_of(run, event->file_uid);
    void *page = NULL;
    if (event->error != EIO || run->config.virtual_clock || !file ||
        posix_memalign(&page, PAGE_BYTES, PAGE_BYTES))
        return false;
    uint64_t size_bytes = atomic_load(&file->target.size_bytes);
    uint64_t last = size_bytes > PAGE_BYTES ? size_bytes / PAGE_BYTES * PAGE_BYTES - PAGE_BYTES : 0;
    bool gone = is_unreadable(file, 0, page) && is_unreadable(file, last, page);
    free(page);
    return gone;
}

/* ---- the right name ---- */

static void rename_to(struct finding *event, enum verdict verdict, const char *format,
                      const char *detail)
{
    event->verdict = verdict;
    event->why.verdict = verdict;
    snprintf(event->detail, sizeof event->detail, format, detail);
}

void exonerate(void *context, struct finding *event, const struct finding_images *images)
{
    struct run *run = context;
    char who[64];
    if (!blames_storage(event))
        return;
    bool integrity = verdict_info(event->verdict)->severity == SEVERITY_INTEGRITY;
    if (integrity && foreign_wrote(run, event->file_uid, who, sizeof who))
        rename_to(event, VERDICT_foreign_write,
                  "found wrong after %s wrote to the file: not proven to be the storage's", who);
    else if (is_gone(run, event)) {
        rename_to(event, VERDICT_device_gone, "%s",
                  "neither the first nor the last page of the file can be read: its device is "
                  "gone, or its file system shut itself down. What was verified until then stands; "
                  "look at the kernel's log");
        run_stop(run, RUN_STOP_ERROR);
    } else if (CHECKED(one_image) && images && is_one_image(event, images))
        rename_to(event, VERDICT_memory_changed, "%s",
                  "the same bytes were judged wrong and then right: the memory or a CPU of this "
                  "machine erred, not the storage. Test the memory of this machine");
    else if (CHECKED(rejudge) && images && is_what_was_owed(run, event, images))
        rename_to(event, VERDICT_memory_changed, "%s",
                  "judged again by a second routine, the bytes that were read are right: the "
                  "memory or a CPU of this machine erred, not the storage. Test the memory of this "
                  "machine");
}
