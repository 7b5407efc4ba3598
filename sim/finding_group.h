/*
 * finding_group.h - many findings become one event: the first of them stays and stands for all.
 *
 * The others are dropped from list and counts; the event gets the number of pages and their ranges.
 *
 * Called when no worker is running.
 */
#ifndef SIM_FINDING_GROUP_H
#define SIM_FINDING_GROUP_H

#include <stddef.h>

#include "sim/findings.h"

/* Sites of one event, by file and page. */
struct finding_group {
    struct finding_site **sites;
    size_t count;
};

/* The sites that `belongs` accepts and no event stands for yet; sorted.  0 or -ENOMEM. */
int finding_group_make(struct finding_group *group, struct finding_sites *sites,
                       bool (*belongs)(const void *context, const struct finding_site *site),
                       const void *context) __attribute__((warn_unused_result));
void finding_group_free(struct finding_group *group);
/* Ranges of consecutive pages; writes_min (may be NULL): at least so many writes, of pages_max
 * pages at most, it took to write them. */
size_t finding_group_ranges(const struct finding_group *group, unsigned pages_max,
                            size_t *writes_min);
/* The event that now stands for the group, or NULL when none of its sites is in the list (nothing
 * is changed then).  Its detail is the caller's to set. */
struct finding *finding_group_join(struct findings *findings, struct finding_group *group,
                                   enum verdict verdict);
/* What found no room among the sites shares the fate of its class, if all of that are part of an
 * event of many. */
void finding_group_take_rest(struct findings *findings, struct finding *event, enum verdict of);
/* "pages 8-15, 20 and 3 more ranges" */
void finding_group_ranges_text(const struct finding *event, char *out, size_t out_size_bytes);

#endif
