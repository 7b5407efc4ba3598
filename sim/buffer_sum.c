/* buffer_sum.c - see buffer_sum.h. */
#include "sim/buffer_sum.h"

#include <string.h>

#include "verify/check.h"
#include "verify/checksum.h"

static bool is_system(const struct gather *gather, uint32_t page_no)
{
    return syspage_kind(page_no, gather->file->primary) != SYSPAGE_NONE;
}

/* The page as it was before it was sealed; of a snapshot's page nobody can tell. */
static void build(const struct gather *gather, unsigned index, uint8_t out[PAGE_BYTES])
{
    const struct page_image *image = &gather->images[index];
    const struct file_mark *mark = &gather->file->file.mark;
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id,
                                     gather->first_page + index, image->generation};
    page_fill(out, gather->file->database->run, &identity, image->actor);
}

/* Byte for byte, but for the sum; as it is built, or as it is sealed.  Who changed it last is taken
 * from the page: a frame that was read does not know. */
static bool is_same(const uint8_t *page, const uint8_t *right)
{
    uint8_t other[PAGE_BYTES];
    memcpy(other, right, PAGE_BYTES);
    struct page_stamp *stamp = (struct page_stamp *)(other + PAGE_STAMP_OFFSET);
    stamp->actor = page_stamp_of(page)->actor;
    stamp->xxh3 = page_stamp_of(page)->xxh3;
    if (memcmp(page, other, PAGE_BYTES) == 0)
        return true;
    page_seal(other, page_lsn(page), page_stamp_of(page)->write_time_ns);
    return memcmp(page, other, PAGE_BYTES) == 0;
}

void buffer_check_built(struct gather *gather, unsigned index)
{
    const struct database *database = gather->file->database;
    struct page_image *image = &gather->images[index];
    const struct page_stamp *stamp = page_stamp_of(image->bytes);
    uint8_t right[PAGE_BYTES];
    if (!database->on_memory_changed)
        return;
    bool named = stamp->generation == image->generation &&
                 stamp->page_no == gather->first_page + index &&
                 stamp->file_uid == gather->file->file.mark.file_uid;
    if (!CHECKED(buffer_built) || (named && page_is_as_built(image->bytes)))
        return;
    build(gather, index, right);
    if (is_same(image->bytes, right))
        return;
    database->on_memory_changed(gather, index, right, false);
    memcpy(image->bytes, right, PAGE_BYTES);
}

/* A page that has just been sealed has its sum; it and the checksum, which it does not cover. */
static bool has_seal(const struct gather *gather, unsigned index)
{
    return !gather->file->snapshot_of && !is_system(gather, gather->first_page + index);
}

static uint64_t seal_of(const void *page)
{
    return page_stamp_of(page)->xxh3 ^ page_header_of(page)->torn_bits;
}

void buffer_sum(struct gather *gather, unsigned index)
{
    struct page_image *image = &gather->images[index];
    if (gather->file->database->on_memory_changed)
        image->sum =
            has_seal(gather, index) ? seal_of(image->bytes) : xxh3_64(image->bytes, PAGE_BYTES);
}

static bool is_as_submitted(const struct gather *gather, unsigned index)
{
    const struct page_image *image = &gather->images[index];
    if (!has_seal(gather, index))
        return image->sum == xxh3_64(image->bytes, PAGE_BYTES);
    return image->sum == seal_of(image->bytes) && page_is_as_built(image->bytes);
}

void buffer_check_sum(struct gather *gather, unsigned index)
{
    const struct database *database = gather->file->database;
    struct page_image *image = &gather->images[index];
    uint32_t page_no = gather->first_page + index;
    uint8_t right[PAGE_BYTES], other[PAGE_BYTES];
    struct syspage_images images = {.acked = other, .issued = right};
    if (!CHECKED(buffer_sum) || !database->on_memory_changed || is_as_submitted(gather, index))
        return;
    bool known = !gather->file->snapshot_of;
    if (known && is_system(gather, page_no)) {
        syspage_images_copy(gather->file, page_no, &images);
        known = images.has_issued;
    } else if (known) {
        build(gather, index, right);
        page_seal(right, image->lsn, clock_realtime_ns(gather->worker->clock));
    }
    database->on_memory_changed(gather, index, known ? right : NULL, true);
    if (known)
        memcpy(image->bytes, right, PAGE_BYTES);
}
