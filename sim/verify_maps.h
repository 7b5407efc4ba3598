/*
 * verify_maps.h - the PFS and GAM pages that the offline check of a data file asks.
 *
 * The page that covers the present one is kept; neighbours ask for the same.  A map that is not one
 * (another type, unreadable, beyond the file) answers nothing.  One thread.
 */
#ifndef SIM_VERIFY_MAPS_H
#define SIM_VERIFY_MAPS_H

#include "sim/verify_files.h"

struct verify_map {
    uint32_t page_no;  /* of the kept page */
    bool kept;         /* page_no says which one was asked for last */
    bool usable;       /* it is a map of its kind */
    bool protected_ok; /* and its protection holds */
    uint8_t *page;     /* PAGE_BYTES, aligned; torn bits restored */
};

struct verify_maps {
    struct verify_map pfs, gam;
    uint8_t *memory;
};

int verify_maps_init(struct verify_maps *maps) __attribute__((warn_unused_result));
void verify_maps_free(struct verify_maps *maps);
/* The map of kind SYSPAGE_PFS or SYSPAGE_GAM that covers page_no. */
const struct verify_map *verify_map_for(struct verify_set *set, struct verify_file *file,
                                        struct verify_maps *maps, enum syspage_kind kind,
                                        uint32_t page_no);
/* PFS byte of the page, -1 if no PFS page tells. */
int verify_pfs_byte(struct verify_set *set, struct verify_file *file, struct verify_maps *maps,
                    uint32_t page_no);

/* Does SQL Server's protection of the page hold?  An unprotected page passes. */
bool verify_protection_holds(const void *page);

#endif
