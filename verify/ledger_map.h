/*
 * ledger_map.h - the mapping behind struct ledger, shared by ledger_entry.c and ledger_file.c only.
 */
#ifndef VERIFY_LEDGER_MAP_H
#define VERIFY_LEDGER_MAP_H

#include "verify/ledger.h"
#include "verify/write_order.h"

/* One file's entries and what is known of them in this process only. */
struct ledger_area {
    struct ledger_entry *entries; /* NULL for log files */
    uint32_t capacity_pages;
    _Atomic uint32_t touched_pages; /* no entry from here on was ever changed */
    _Atomic uint32_t flush;         /* number of the last flush that began */
};

struct ledger {
    uint8_t *map;
    size_t size_bytes;
    bool writable;
    bool was_clean; /* when it was opened */
    size_t file_count;
    struct write_order *order;  /* of this process; NULL: read only */
    struct ledger_area areas[]; /* by uid - 1 */
};

#endif
