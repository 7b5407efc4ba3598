/*
 * damage.h - sectors that are not what they should be: who did it, and what a read gets.
 *
 * Two modes.  Stored damage is in the backing file; an overlay leaves the backing file right and is
 * laid over what is read, so that it can be switched off, or heals by itself.  Either goes when the
 * sector is written again.  Gate: alone.
 */
#ifndef FAULTFS_DAMAGE_H
#define FAULTFS_DAMAGE_H

#include <sys/types.h>

#include "tests/faultfs/fs.h"

struct sector {
    struct place *place;    /* whose mark, or NULL */
    unsigned char *overlay; /* what a read gets, or NULL: what is stored */
    uint64_t heal_reads;    /* the overlay is gone after so many reads; 0: it stays */
    bool unreadable;
    unsigned char *armed; /* comes again over the next write */
    struct event *armed_event;
};

struct patch {
    struct event *event;
    struct node *node;
    uint64_t offset;
    size_t size_bytes;
    const unsigned char *good, *bad; /* as it should be, as it is */
    bool overlay, unreadable, durable;
    uint64_t heal_reads;
};

bool damage_in(const struct node *node, uint64_t offset, size_t size_bytes);
/* Wrong bytes for right ones: stored or laid over, and marked where they differ. */
int damage_patch(struct fs *fs, const struct patch *patch) __attribute__((warn_unused_result));
/* Lays overlays over what was read, and notes who saw what.  0, or -EIO. */
int damage_read(struct fs *fs, struct node *node, void *bytes, size_t size_bytes, uint64_t offset,
                uint64_t begin_ns) __attribute__((warn_unused_result));
void damage_arm(struct node *node, struct event *event, const unsigned char *bytes,
                size_t size_bytes, uint64_t offset);
/* Armed content of one event within the range goes over bytes; NULL where there is none. */
struct event *damage_take_armed(struct node *node, unsigned char *bytes, size_t size_bytes,
                                uint64_t offset);
/* Sectors that a write covers as a whole are right again. */
void damage_rewritten(struct node *node, uint64_t offset, size_t size_bytes);
/* Cut off, or removed: from this offset on. */
void damage_gone(struct node *node, uint64_t offset);

#endif
