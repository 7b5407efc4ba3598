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
/* Several log writes are under way at once.  When one failed, or the run was killed, later ones may
 * stand behind a hole: what lies at or behind the durable end was never acknowledged, and is taken
 * out of scan->damage. */
void log_spot_drop_unacknowledged(struct log_scan *scan, uint64_t durable_end);

#endif
