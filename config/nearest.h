/*
 * nearest.h - the known name that a mistyped word most likely meant.
 *
 * Offer the candidates one by one; nearest_name() answers with the best, or NULL when none is close
 * enough to be a likely slip.  Case does not count.  Names must outlive the struct.
 */
#ifndef CONFIG_NEAREST_H
#define CONFIG_NEAREST_H

struct nearest {
    const char *word;
    const char *best;
    unsigned distance; /* of best */
};

void nearest_init(struct nearest *nearest, const char *word);
void nearest_offer(struct nearest *nearest, const char *candidate);
const char *nearest_name(const struct nearest *nearest);
/* Edits (insert, delete, change, swap of neighbours) from a to b, any case; UINT_MAX when either is
 * longer than a name can be. */
unsigned nearest_distance(const char *a, const char *b);

#endif
