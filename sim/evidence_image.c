/* evidence_image.c - see evidence_image.h. */
#include "sim/evidence_image.h"

#include <string.h>
#include <time.h>

#include "verify/ledger.h"

#define HEX_BYTES 16 /* of a line: whole lines are compared */

static bool is_data_page(const void *image)
{
    return page_stamp_of(image)->magic == PAGE_STAMP_MAGIC;
}

/* The image that the place owed: the caller's, else built from what the ledger knows. */
static bool expected_image(struct ledger *ledger, const struct finding *finding,
                           const struct finding_images *images, uint8_t out[PAGE_BYTES])
{
    if (images->expected_image) {
        memcpy(out, images->expected_image, PAGE_BYTES);
        return true;
    }
    if (!ledger || !finding->has_page || !finding->why.generation_expected)
        return false;
    const struct ledger_header *header = ledger_header_of(ledger);
    const struct ledger_file *file = ledger_file_at(ledger, finding->file_uid);
    struct run_identity run = run_identity_make(header->run_id, header->seed, header->compressible);
    struct page_identity id = {.file_uid = finding->file_uid,
                               .incarnation = file->incarnation,
                               .file_id = file->file_id,
                               .page_no = finding->page_no,
                               .generation = finding->why.generation_expected};
    page_fill(out, &run, &id, finding->writer);
    return true;
}

/* Complete a regenerated page with what only its writer knew; false if that cannot be told. */
static bool seal_like(uint8_t expected[PAGE_BYTES], const uint8_t *read)
{
    struct page_stamp *stamp = (struct page_stamp *)(expected + PAGE_STAMP_OFFSET);
    if (!is_data_page(expected))
        return true; /* a system page: the run held its image */
    if (!page_header_crc_ok(read) || page_stamp_of(read)->generation != stamp->generation)
        return false;
    stamp->actor = page_stamp_of(read)->actor;
    page_seal(expected, page_lsn(read), page_stamp_of(read)->write_time_ns);
    return true;
}

bool evidence_expected(struct ledger *ledger, const struct finding *finding,
                       const struct finding_images *images, uint8_t out[PAGE_BYTES],
                       size_t *compared_from)
{
    *compared_from = 0;
    if (images->size_bytes != PAGE_BYTES || !expected_image(ledger, finding, images, out))
        return false;
    if (images->read_image && !seal_like(out, images->read_image))
        *compared_from = PAGE_BODY_OFFSET / HEX_BYTES * HEX_BYTES + HEX_BYTES;
    return true;
}

void evidence_time_text(uint64_t realtime_ns, bool utc, char *out, size_t out_size_bytes)
{
    time_t seconds = (time_t)(realtime_ns / NS_PER_S);
    struct tm broken;
    if (!(utc ? gmtime_r(&seconds, &broken) : localtime_r(&seconds, &broken)) ||
        strftime(out, out_size_bytes, utc ? "%Y-%m-%d %H:%M:%S UTC" : "%Y-%m-%d %H:%M:%S %Z",
                 &broken) == 0)
        snprintf(out, out_size_bytes, "unknown");
}

void evidence_hex_line(FILE *out, const uint8_t *bytes, size_t offset, size_t count)
{
    fprintf(out, "%04zx ", offset);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %02x", bytes[offset + i]);
    fprintf(out, "\n");
}
