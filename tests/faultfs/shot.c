/* shot.c - what a rule does to the bytes; see shot.h. */
#include "tests/faultfs/shot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/faultfs/damage.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/power.h"
#include "tests/faultfs/snapshot.h"

static void random_bytes(const struct rule *rule, unsigned char *bytes, size_t size_bytes)
{
    uint64_t state = rule_draw(rule, 'g');
    for (size_t i = 0; i < size_bytes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(state >> 56);
    }
}

/* Bytes [at, at + length) of a unit, cut to fit. */
static void change_range(const struct rule *rule, unsigned char *bytes, size_t size_bytes)
{
    size_t at = rule->at < size_bytes ? (size_t)rule->at : 0;
    size_t length =
        rule->length && rule->length < size_bytes - at ? (size_t)rule->length : size_bytes - at;
    if (rule->class == CLASS_zero)
        memset(bytes + at, 0, length);
    else
        random_bytes(rule, bytes + at, length);
}

static void flip(const struct rule *rule, unsigned char *bytes, size_t size_bytes)
{
    uint64_t place = rule->has_at ? rule->at : rule_draw(rule, 'f') % size_bytes;
    unsigned first = (unsigned)(rule_draw(rule, 'b') % 8);
    for (uint64_t i = 0; i < rule->bits; i++) {
        uint64_t bit = first + i;
        bytes[(place + bit / 8) % size_bytes] ^= (unsigned char)(1u << bit % 8);
    }
}

/* Sectors that are not in the mask stay as they were; without a mask, the second half. */
static void tear(const struct rule *rule, unsigned char *bytes, const unsigned char *old,
                 size_t size_bytes)
{
    size_t sectors = size_bytes / SECTOR_BYTES;
    for (size_t i = 0; i < sectors; i++) {
        bool written = rule->mask ? rule->mask >> (i % 64) & 1 : i < sectors / 2;
        if (!written)
            memcpy(bytes + i * SECTOR_BYTES, old + i * SECTOR_BYTES, SECTOR_BYTES);
    }
}

/* The content of another place; 0 or -errno, -ENODATA when there is none. */
static int from_elsewhere(struct fs *fs, const struct request *request, const struct shot *shot,
                          unsigned char *bytes)
{
    const struct rule *rule = shot->rule;
    if (rule->class == CLASS_old)
        return snapshot_read(fs, rule->snap, request->node, bytes, shot->size_bytes, shot->offset);
    struct node *node = request->node;
    uint64_t offset = shot->offset;
    if (rule->class == CLASS_misreadfile)
        node = node_by_path(&fs->nodes, rule->file);
    else
        offset += (uint64_t)rule->d;
    ssize_t n = node ? content_read(node, bytes, shot->size_bytes, offset) : -ENODATA;
    return n < 0 ? (int)n : (size_t)n < shot->size_bytes ? -ENODATA : 0;
}

static int damaged_bytes(struct fs *fs, const struct request *request, const struct shot *shot,
                         unsigned char *bad)
{
    const struct rule *rule = shot->rule;
    switch (rule->class) {
    case CLASS_bitflip:
        flip(rule, bad, shot->size_bytes);
        return 0;
    case CLASS_zero:
    case CLASS_garbage:
        change_range(rule, bad, shot->size_bytes);
        return 0;
    case CLASS_torn:
        tear(rule, bad, shot->old, shot->size_bytes);
        return 0;
    case CLASS_lost:
    case CLASS_misdir:
    case CLASS_misfile:
    case CLASS_stale:
        memcpy(bad, shot->old, shot->size_bytes);
        return 0;
    case CLASS_old:
    case CLASS_misread:
    case CLASS_misreadfile:
        return from_elsewhere(fs, request, shot, bad);
    default:
        return 0;
    }
}

static struct event *new_event(struct fs *fs, const struct request *request,
                               const struct rule *rule)
{
    return truth_event(&fs->truth, rule->id, request->op, class_infos[rule->class].name);
}

struct event *shot_note(struct fs *fs, const struct request *request, const struct rule *rule,
                        const char *path)
{
    struct event *event = new_event(fs, request, rule);
    struct place *place =
        truth_place(event, path, request->offset, request->size_bytes, NULL, NULL);
    place_read(place, request->begin_ns); /* whoever asked is told at once */
    return event;
}

/* The other end of a write: the bytes that went astray, or garbage. */
static int hit_other(struct fs *fs, const struct request *request, const struct shot *shot,
                     struct event *event, const unsigned char *bytes)
{
    unsigned char *before = memory_zeroed(shot->other_bytes);
    unsigned char *after = memory_copy(bytes, shot->other_bytes);
    if (shot->rule->class == CLASS_neighbour)
        random_bytes(shot->rule, after, shot->other_bytes);
    ssize_t n = content_read(shot->other, before, shot->other_bytes, shot->other_offset);
    const struct patch patch = {
        event,  shot->other, shot->other_offset,  shot->other_bytes,
        before, after,       shot->rule->overlay, .durable = request->durable};
    int rc = n < 0 ? (int)n : damage_patch(fs, &patch);
    free(before);
    free(after);
    return rc;
}

int shot_write(struct fs *fs, const struct request *request, const struct shot *shot)
{
    const struct rule *rule = shot->rule;
    const unsigned char *good = request->bytes + (shot->offset - request->offset);
    struct event *event = new_event(fs, request, rule);
    if (rule->class == CLASS_replay) {
        damage_arm(request->node, event, good, shot->size_bytes, shot->offset);
        return 0;
    }
    int rc = 0;
    if (rule->class != CLASS_dup && rule->class != CLASS_neighbour) {
        unsigned char *bad = memory_copy(good, shot->size_bytes);
        rc = damaged_bytes(fs, request, shot, bad);
        if (rc == -ENODATA) /* nothing there: nothing happened */
            rc = 0;
        const struct patch patch = {.event = event,
                                    .node = request->node,
                                    .offset = shot->offset,
                                    .size_bytes = shot->size_bytes,
                                    .good = good,
                                    .bad = bad,
                                    .overlay = rule->overlay || rule->class == CLASS_stale,
                                    .durable = request->durable,
                                    .heal_reads = rule->class == CLASS_stale ? rule->reads : 0};
        if (rc == 0)
            rc = damage_patch(fs, &patch);
        free(bad);
    }
    if (rc == 0 && shot->other) {
        size_t size = shot->other_bytes > shot->size_bytes ? shot->other_bytes : shot->size_bytes;
        unsigned char *astray = memory_zeroed(size);
        memcpy(astray, good, shot->size_bytes);
        rc = hit_other(fs, request, shot, event, astray);
        free(astray);
    }
    return rc;
}

/* Once, for this reader alone. */
static void read_once(struct event *event, const struct request *request, const struct shot *shot,
                      const char *path, const unsigned char *good, const unsigned char *bad)
{
    struct place *place = truth_place(event, path, shot->offset, shot->size_bytes, good, bad);
    for (size_t i = 0; i < shot->size_bytes; i += SECTOR_BYTES) {
        size_t left = shot->size_bytes - i;
        place->sectors += memcmp(good + i, bad + i, left < SECTOR_BYTES ? left : SECTOR_BYTES) != 0;
    }
    if (place->sectors)
        place_read(place, request->begin_ns);
}

int shot_read(struct fs *fs, const struct request *request, const struct shot *shot)
{
    const struct rule *rule = shot->rule;
    unsigned char *at = request->bytes + (shot->offset - request->offset);
    unsigned char *bad = memory_copy(at, shot->size_bytes);
    struct event *event = new_event(fs, request, rule);
    const struct patch patch = {
        event, request->node, shot->offset,    shot->size_bytes,
        at,    bad,           .overlay = true, .unreadable = rule->class == CLASS_eio};
    int rc = damaged_bytes(fs, request, shot, bad);
    if (rc == -ENODATA)
        rc = 0;
    if (rc == 0 && (rule->overlay || patch.unreadable))
        rc = damage_patch(fs, &patch);
    if (rc == 0 && (rule->overlay || patch.unreadable)) {
        rc = damage_read(fs, request->node, at, shot->size_bytes, shot->offset, request->begin_ns);
    } else if (rc == 0) {
        char *path = node_path(&fs->nodes, request->node);
        read_once(event, request, shot, path, at, bad);
        free(path);
        memcpy(at, bad, shot->size_bytes);
    }
    free(bad);
    return rc;
}
