/*
 * rule.h - rules: which requests are hit, and by what.
 *
 *   add OPS CLASS GLOB LOW HIGH NTH COUNT [key=value ...]
 *
 * A request matches when its operation is one of OPS, its file's path below the mount matches GLOB
 * and it has a candidate in bytes [LOW, HIGH): the request itself, or with `unit` each aligned unit
 * of so many bytes in it.  Flushes have no bytes: any range matches.  No candidate is a unit with
 * damage that is still there (a fault over a fault has no one name), one that is all zeros with
 * over=1, one that any rule hit before with apart=1 (a read that is repeated), or one whose other
 * end is not in the file.  Matches are counted by each rule for itself;
 * it fires at match NTH, then at each `every`th, COUNT times (0: for ever).
 */
#ifndef FAULTFS_RULE_H
#define FAULTFS_RULE_H

#include <stdbool.h>
#include <stdint.h>

#define OTHER_END  1u
#define ERRNO      2u
#define NEEDS_OLD  4u
#define WHOLE      8u
#define RULE_WORDS 64

enum class_id {
#define CLASS(name, ops, flags, what) CLASS_##name,
#include "tests/faultfs/classes.def"
#undef CLASS
    CLASS_COUNT
};

struct class_info {
    const char *name, *ops, *what;
    unsigned flags;
};

extern const struct class_info class_infos[CLASS_COUNT];

struct rule {
    unsigned id;
    char ops[4];
    enum class_id class;
    char glob[128], file[128], snap[64];
    uint64_t low, high, nth, count, every;
    uint64_t matched, fired;
    uint64_t unit, size_min, size_max, at, length, bits, mask, keep, ms, reads, modulus, seed;
    int64_t d;
    bool overlay, sticky, over, apart, has_at;
};

struct rules {
    struct rule *list[RULE_WORDS * 16];
    unsigned count, last_id;
};

/* 0, or -EINVAL with a sentence. */
int rule_parse(const char *text, struct rule *rule, char *why, unsigned why_bytes)
    __attribute__((warn_unused_result));
/* May the rule, by what does not change with its content, hit such a request? */
bool rule_concerns(const struct rule *rule, char op, const char *path);
bool rule_spent(const struct rule *rule);
/* One more match: does it fire? */
bool rule_match(struct rule *rule);
/* A number that depends on the rule's seed, how often it fired, and the purpose. */
uint64_t rule_draw(const struct rule *rule, unsigned purpose);

#endif
