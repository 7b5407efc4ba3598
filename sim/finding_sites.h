/*
 * finding_sites.h - every page with a persistent integrity finding, small: for the end of a run.
 *
 * What only many pages together can name (reverted.h, wrapped.h) needs more of them than the list
 * of events keeps.  Bounded: FINDING_SITES_MAX sites; beyond that the number of each class remains.
 *
 * Locks: the caller's (findings.h).
 */
#ifndef SIM_FINDING_SITES_H
#define SIM_FINDING_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/verdict.h"
#include "verify/write_order.h"

#define FINDING_SITES_MAX 65536u /* of 48 bytes; memory is touched when it is used */

struct finding;

struct finding_site {
    uint64_t written;          /* the lost write in the order of all writes; 0 = not known */
    uint64_t found_written_ns; /* of the older image that stands there; 0 = not known */
    uint64_t number;           /* of the event in the list; 0 = it found no room there */
    uint32_t page_no, origin_page_no;
    uint16_t file_uid, origin_file_uid;
    uint8_t verdict; /* enum verdict */
    bool has_origin; /* of this run */
    bool all_zero;
    bool none_newest; /* no sector is what was owed */
    bool counted;     /* among the findings; else only a look at the end met it */
    bool joined;      /* into an event that stands for many */
};

struct finding_sites {
    struct finding_site *list;
    unsigned count;
    uint64_t beyond[VERDICT_COUNT];
};

int finding_sites_init(struct finding_sites *sites) __attribute__((warn_unused_result));
void finding_sites_free(struct finding_sites *sites);
/* Takes note of what is a persistent integrity finding of a page, and of nothing else. */
void finding_sites_add(struct finding_sites *sites, const struct finding *finding,
                       struct page_order order, bool counted);

#endif
