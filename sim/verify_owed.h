/*
 * verify_owed.h - is a page of ours what this run must find there?  By ledger and log.
 *
 *   believed ledger: every page against its entry; one that was in flight or whose write failed is
 *                    indeterminate
 *   otherwise:       the page must be whole and of this place; a tear is what a power cut may leave
 *   either way:      no page is newer than the end of the log; what the log still covers was logged
 *                    with at least this generation; a system page says what its log record says
 */
#ifndef SIM_VERIFY_OWED_H
#define SIM_VERIFY_OWED_H

#include "sim/verify_files.h"

/* One page. allocated: -1 when no PFS page tells. */
void verify_owed_page(struct verify_set *set, struct verify_file *file, uint32_t page_no,
                      const uint8_t *page, int allocated);
/* After the last page of a file: what concerns it as a whole. */
void verify_owed_end(struct verify_set *set, struct verify_file *file);

#endif
