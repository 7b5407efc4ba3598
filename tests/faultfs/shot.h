/*
 * shot.h - one rule that hits one request: where exactly (aiming, before it is counted), and what
 * then becomes of the bytes.  Gate: alone.
 */
#ifndef FAULTFS_SHOT_H
#define FAULTFS_SHOT_H

#include "tests/faultfs/fs.h"

#define SHOTS_MAX 4u /* rules that hit one request; others wait for the next one */

struct request {
    char op;
    struct node *node;
    unsigned char *bytes;
    size_t size_bytes;
    uint64_t offset;
    bool durable;
    uint64_t begin_ns;
};

struct shot {
    struct rule *rule;
    uint64_t offset; /* the unit that is hit */
    size_t size_bytes;
    struct node *other; /* the other end, or NULL */
    uint64_t other_offset;
    size_t other_bytes;
    unsigned char *old; /* the content before the write, or NULL */
};

struct shots {
    struct shot list[SHOTS_MAX];
    unsigned count;
};

/* Matches, counts and collects the rules that fire, but for those of errors and times. */
void shots_aim(struct fs *fs, const struct request *request, const char *path, struct shots *shots);
/* The first rule of such a class that fires for the request as a whole, or NULL. */
struct rule *shot_whole(struct fs *fs, const struct request *request, const char *path,
                        unsigned flags, enum class_id class);
/* What becomes of a write that is done, or of what was read.  0 or -errno. */
int shot_write(struct fs *fs, const struct request *request, const struct shot *shot)
    __attribute__((warn_unused_result));
int shot_read(struct fs *fs, const struct request *request, const struct shot *shot)
    __attribute__((warn_unused_result));
void shots_free(struct shots *shots);
/* An event without marks: an error, a short transfer, a delay. */
struct event *shot_note(struct fs *fs, const struct request *request, const struct rule *rule,
                        const char *path);

#endif
