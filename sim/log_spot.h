/*
 * log_spot.h - a damaged spot of a log as a finding: which class, in whose words.
 *
 * Shared by the audit of a live log (logaudit.c) and by the offline check (verify_log.c).  Pure.
 */
#ifndef SIM_LOG_SPOT_H
#define SIM_LOG_SPOT_H

#include "sim/findings.h"
#include "verify/logscan.h"

/* What a place that should hold an acknowledged block means.  reused: the VLF had an earlier use,
 * so that the middle of an old block may stand there. */
enum verdict log_spot_verdict(enum log_block_check what, bool reused);
/* A finding for the damage; file and file_uid are the caller's. */
struct finding log_spot_finding(const struct log_damage *damage, bool reused);
/* What was read at the damaged block. */
struct log_spot_content {
    const uint8_t *bytes; /* from the block's first sector on */
    size_t size_bytes;
    uint8_t parity; /* of the VLF's present use */
    const struct run_identity *run;
    bool fresh_is_zero; /* the log was filled with zeros before its use, not with 0xC0 */
    uint64_t serial;    /* of the poison that was there before the read; 0: none was */
    uint8_t *scratch;   /* LOG_BLOCK_BYTES_MAX bytes */
};
/* Give a finding of log_spot_finding() the name that the content proves: bytes_not_read, a data
 * page or a block of another place of this log (misdirected_write), zeros where none were written
 * (zeroed), nothing that a log ever has (garbage); else it keeps the one it has. */
void log_spot_look(struct finding *finding, const struct log_damage *damage, bool reused,
                   const struct log_spot_content *content);
/* The name of a spot that a later read showed right. */
enum verdict log_spot_healed(enum verdict verdict);
/* Several log writes are under way at once.  When one failed, or the run was killed, later ones may
 * stand behind a hole: what lies at or behind the durable end was never acknowledged, and is taken
 * out of scan->damage. */
void log_spot_drop_unacknowledged(struct log_scan *scan, uint64_t durable_end);

#endif
