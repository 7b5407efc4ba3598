/*
 * logvlfs.h - the VLFs of a log file as they are found, for logscan.c.
 *
 * Invariants: headers[] holds only headers that agree with themselves and with their place; what is
 * wrong with the others is in scan->damage.  Memory is the caller's.  One thread.
 */
#ifndef VERIFY_LOGVLFS_H
#define VERIFY_LOGVLFS_H

#include "verify/logscan.h"
#include "verify/logwindow.h"

struct log_vlfs {
    size_t count;
    size_t used_count; /* after log_vlfs_order: headers[0 .. used_count-1] by rising FSeqNo */
    size_t lost_count; /* damaged headers */
    struct vlf_header headers[LOG_SCAN_VLF_MAX];
};

/* Note a damage; those beyond LOG_SCAN_DAMAGE_MAX are only counted. */
void log_damage_add(struct log_scan *scan, const struct log_damage *damage);

/* Turn the window to a file of the log, by its number. */
void log_vlfs_turn(struct log_window *window, struct log_scan *scan, unsigned file);
/* Read the headers of each file from 0x2000 to its end.  After a damaged one the next is searched
 * for. 0, the window's error, -EINVAL (no VLF at all) or -EFBIG (more than LOG_SCAN_VLF_MAX). */
int log_vlfs_walk(struct log_vlfs *vlfs, struct log_window *window, struct log_scan *scan)
    __attribute__((warn_unused_result));
/* Used VLFs first, by rising FSeqNo; a FSeqNo that occurs twice is damage, the second one is
 * dropped. */
void log_vlfs_order(struct log_vlfs *vlfs, struct log_scan *scan);
/* Do FSeqNos between headers[index - 1] and headers[index] (used ones) miss, and is that damage? */
bool log_vlfs_gap(const struct log_vlfs *vlfs, size_t index, struct log_scan *scan);

#endif
