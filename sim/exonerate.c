/* exonerate.c - see exonerate.h. */
#include "sim/exonerate.h"

#include <stdio.h>
#include <string.h>

#include "sim/evidence_image.h"
#include "sim/foreign.h"

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
    if (foreign_wrote(run, event->file_uid, who, sizeof who))
        rename_to(event, VERDICT_foreign_write,
                  "found wrong after %s wrote to the file: not proven to be the storage's", who);
    else if (images && is_one_image(event, images))
        rename_to(event, VERDICT_memory_changed, "%s",
                  "the same bytes were judged wrong and then right: the memory or a CPU of this "
                  "machine erred, not the storage. Test the memory of this machine");
    else if (images && is_what_was_owed(run, event, images))
        rename_to(event, VERDICT_memory_changed, "%s",
                  "judged again by a second routine, the bytes that were read are right: the "
                  "memory or a CPU of this machine erred, not the storage. Test the memory of this "
                  "machine");
}
