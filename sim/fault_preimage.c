/*
 * fault_preimage.c - what ranges held before their last write, for FAULT_STALE and
 * FAULT_REPLAY.
 *
 * Invariant: the list is ordered newest first; an entry that a newer one covers wholly is dropped,
 * so the list is bounded by the ranges in use, not by the number of writes.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/fault_rule.h"

struct fault_preimage {
    struct fault_preimage *next, *prev;
    uint16_t file_uid;
    uint64_t offset;
    size_t size_bytes;
    unsigned char data[];
};

static bool overlaps(const struct fault_preimage *image, const struct fault_range *range)
{
    return image->file_uid == range->target->uid &&
           image->offset < range->offset + range->size_bytes &&
           range->offset < image->offset + image->size_bytes;
}

static bool is_covered(const struct fault_preimage *image, const struct fault_range *range)
{
    return image->file_uid == range->target->uid && image->offset >= range->offset &&
           image->offset + image->size_bytes <= range->offset + range->size_bytes;
}

static void drop_covered(struct fault_config *config, const struct fault_range *range)
{
    struct fault_preimage *next;
    for (struct fault_preimage *image = config->preimages; image; image = next) {
        next = image->next;
        if (!is_covered(image, range))
            continue;
        if (image->prev)
            image->prev->next = next;
        else
            config->preimages = next;
        if (next)
            next->prev = image->prev;
        free(image);
    }
}

static void keep(struct fault_config *config, const struct fault_range *range)
{
    struct fault_preimage *image = malloc(sizeof(*image) + range->size_bytes);
    if (image == NULL)
        return; /* the rule will not match: no wrong claim */
    *image = (struct fault_preimage){
        .file_uid = range->target->uid, .offset = range->offset, .size_bytes = range->size_bytes};
    if (fault_pread(range->target, image->data, range->size_bytes, range->offset) < 0) {
        free(image);
        return;
    }
    drop_covered(config, range);
    image->next = config->preimages;
    if (image->next)
        image->next->prev = image;
    config->preimages = image;
}

static bool wants(const struct fault_rule *rule, const struct fault_range *range)
{
    if (!fault_wants_preimage(rule->kind))
        return false;
    if (rule->file_uid != 0 && rule->file_uid != range->target->uid)
        return false;
    return (rule->low == 0 && rule->high == 0) ||
           (rule->low < range->offset + range->size_bytes && range->offset < rule->high);
}

void fault_preimage_keep(struct fault_config *config, const struct fault_range *range)
{
    for (unsigned i = 0; i < config->rule_count; i++) {
        if (wants(&config->rules[i], range)) {
            keep(config, range);
            return;
        }
    }
}

bool fault_preimage_exists(const struct fault_config *config, const struct fault_range *range)
{
    for (const struct fault_preimage *image = config->preimages; image; image = image->next) {
        if (overlaps(image, range))
            return true;
    }
    return false;
}

static void lay(const struct fault_preimage *image, const struct fault_range *range,
                unsigned char *data)
{
    uint64_t image_end = image->offset + image->size_bytes;
    uint64_t range_end = range->offset + range->size_bytes;
    uint64_t low = image->offset > range->offset ? image->offset : range->offset;
    uint64_t high = image_end < range_end ? image_end : range_end;
    memcpy(data + (low - range->offset), image->data + (low - image->offset), high - low);
}

void fault_preimage_lay(const struct fault_config *config, const struct fault_range *range,
                        unsigned char *data)
{
    const struct fault_preimage *image = config->preimages;
    while (image && image->next)
        image = image->next;
    for (; image; image = image->prev) { /* oldest first: the newest has the last word */
        if (overlaps(image, range))
            lay(image, range, data);
    }
}

void fault_preimage_clear(struct fault_config *config)
{
    while (config->preimages) {
        struct fault_preimage *image = config->preimages;
        config->preimages = image->next;
        free(image);
    }
}
