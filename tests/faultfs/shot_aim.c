/* shot_aim.c - which rule hits which unit of a request; see shot.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/faultfs/damage.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/power.h"
#include "tests/faultfs/shot.h"

static bool overlap(uint64_t a, size_t a_bytes, uint64_t b, size_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool is_zero(const unsigned char *bytes, size_t size_bytes)
{
    return size_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size_bytes - 1) == 0);
}

static uint64_t end_sector(uint64_t offset, size_t size_bytes)
{
    return (offset + size_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

static bool hit_before(const struct rule *rule, const struct node *node, uint64_t offset,
                       size_t size_bytes)
{
    return rule->apart && table_next(&node->hit, offset / SECTOR_BYTES,
                                     end_sector(offset, size_bytes)) != TABLE_NOTHING;
}

/* The entry is the rule's number, as a pointer. */
static void note_hit(const struct rule *rule, struct node *node, uint64_t offset, size_t size_bytes)
{
    for (uint64_t i = offset / SECTOR_BYTES; i < end_sector(offset, size_bytes); i++)
        table_set(&node->hit, i, (void *)(uintptr_t)rule->id);
}

static uint64_t file_size(const struct node *node)
{
    struct stat st;
    return fstat(node->fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

/* Where the other end of a unit lies, if the class has one; false: nowhere that it may. */
static bool find_other(struct fs *fs, const struct request *request, struct shot *shot)
{
    const struct rule *rule = shot->rule;
    if (!(class_infos[rule->class].flags & OTHER_END))
        return true;
    shot->other = request->node;
    shot->other_bytes = shot->size_bytes;
    int64_t distance = rule->d;
    if (rule->class == CLASS_misfile) {
        shot->other = node_by_path(&fs->nodes, rule->file);
        distance = 0;
    } else if (rule->class == CLASS_neighbour) {
        shot->other_bytes = rule->length ? rule->length : SECTOR_BYTES;
        distance = rule->d < 0 ? -(int64_t)shot->other_bytes : (int64_t)shot->size_bytes;
    }
    if (!shot->other || (distance < 0 && (uint64_t)-distance > shot->offset))
        return false;
    shot->other_offset = shot->offset + (uint64_t)distance;
    if (shot->other_offset + shot->other_bytes > file_size(shot->other) ||
        damage_in(shot->other, shot->other_offset, shot->other_bytes))
        return false;
    return shot->other != request->node ||
           !overlap(shot->other_offset, shot->other_bytes, request->offset, request->size_bytes);
}

static bool taken(const struct shots *shots, const struct request *request, const struct shot *shot)
{
    for (unsigned i = 0; i < shots->count; i++) {
        const struct shot *earlier = &shots->list[i];
        if (overlap(earlier->offset, earlier->size_bytes, shot->offset, shot->size_bytes))
            return true;
        if (earlier->other && shot->other == earlier->other &&
            overlap(earlier->other_offset, earlier->other_bytes, shot->other_offset,
                    shot->other_bytes))
            return true;
    }
    return damage_in(request->node, shot->offset, shot->size_bytes);
}

/* Is the unit a candidate?  Fills what is known of it. */
static bool eligible(struct fs *fs, const struct request *request, const struct shots *shots,
                     struct shot *shot)
{
    const struct rule *rule = shot->rule;
    if (hit_before(rule, request->node, shot->offset, shot->size_bytes) ||
        !find_other(fs, request, shot) || taken(shots, request, shot))
        return false;
    bool needs_old = class_infos[rule->class].flags & NEEDS_OLD || rule->over;
    if (!needs_old)
        return true;
    shot->old = memory_zeroed(shot->size_bytes);
    if (content_read(request->node, shot->old, shot->size_bytes, shot->offset) >= 0 &&
        !(rule->over && is_zero(shot->old, shot->size_bytes)))
        return true;
    free(shot->old);
    shot->old = NULL;
    return false;
}

static bool size_fits(const struct rule *rule, const struct request *request)
{
    return request->size_bytes >= rule->size_min && request->size_bytes <= rule->size_max;
}

static bool aim(struct fs *fs, const struct request *request, const struct shots *shots,
                struct shot *shot)
{
    const struct rule *rule = shot->rule;
    uint64_t end = request->offset + request->size_bytes;
    if (!size_fits(rule, request) || request->size_bytes == 0 ||
        !(request->offset < rule->high && end > rule->low))
        return false;
    shot->offset = request->offset;
    shot->size_bytes = request->size_bytes;
    if (!rule->unit)
        return eligible(fs, request, shots, shot);
    uint64_t low = rule->low > request->offset ? rule->low : request->offset;
    uint64_t high = rule->high < end ? rule->high : end;
    uint64_t first = (low + rule->unit - 1) / rule->unit, last = high / rule->unit;
    if (first >= last)
        return false;
    uint64_t start = rule_draw(rule, 'u');
    shot->size_bytes = rule->unit;
    for (uint64_t i = 0; i < last - first; i++) {
        shot->offset = (first + (start + i) % (last - first)) * rule->unit;
        if (eligible(fs, request, shots, shot))
            return true;
    }
    return false;
}

void shots_aim(struct fs *fs, const struct request *request, const char *path, struct shots *shots)
{
    for (unsigned i = 0; i < fs->rules.count && shots->count < SHOTS_MAX; i++) {
        struct rule *rule = fs->rules.list[i];
        struct shot *shot = &shots->list[shots->count];
        bool whole = class_infos[rule->class].flags & (WHOLE | ERRNO) &&
                     !(rule->class == CLASS_eio && rule->sticky && request->op == 'r');
        *shot = (struct shot){.rule = rule};
        if (whole || !rule_concerns(rule, request->op, path) || !aim(fs, request, shots, shot))
            continue;
        if (!rule_match(rule)) {
            free(shot->old);
            continue;
        }
        note_hit(rule, request->node, shot->offset, shot->size_bytes);
        shots->count++;
    }
}

struct rule *shot_whole(struct fs *fs, const struct request *request, const char *path,
                        unsigned flags, enum class_id class)
{
    uint64_t end = request->offset + request->size_bytes;
    for (unsigned i = 0; i < fs->rules.count; i++) {
        struct rule *rule = fs->rules.list[i];
        bool wanted = flags ? class_infos[rule->class].flags & flags : rule->class == class;
        if (!wanted || (rule->sticky && request->op == 'r') ||
            !rule_concerns(rule, request->op, path))
            continue;
        if (request->op != 's' &&
            (!size_fits(rule, request) || !(request->offset < rule->high && end > rule->low) ||
             damage_in(request->node, request->offset, request->size_bytes) ||
             hit_before(rule, request->node, request->offset, request->size_bytes)))
            continue;
        if (rule_match(rule)) {
            note_hit(rule, request->node, request->offset, request->size_bytes);
            return rule;
        }
    }
    return NULL;
}

void shots_free(struct shots *shots)
{
    for (unsigned i = 0; i < shots->count; i++)
        free(shots->list[i].old);
    shots->count = 0;
}
