/* log_spot.c - see log_spot.h. */
#include "sim/log_spot.h"

#include <inttypes.h>
#include <stdio.h>

#include "verify/logblk.h"

enum verdict log_spot_verdict(enum log_block_check what, bool reused)
{
    switch (what) {
    case LOG_BLOCK_ZERO:
    case LOG_BLOCK_STAMP:
    case LOG_BLOCK_GAP:
        return VERDICT_log_lost;
    case LOG_BLOCK_OLD_PARITY:
    case LOG_BLOCK_OLD_SEQUENCE:
        return VERDICT_log_old_use;
    case LOG_BLOCK_NOT_A_BLOCK:
        return reused ? VERDICT_log_old_use : VERDICT_log_torn;
    default:
        return VERDICT_log_torn;
    }
}

/* A VLF header with newer blocks behind it is sound but of an older use, or of none: the write of
 * the newer header is missing. */
static enum verdict verdict_of(const struct log_damage *damage, bool reused)
{
    if (damage->what == LOG_BLOCK_BAD_VLF && damage->newer_follows)
        return reused ? VERDICT_log_old_use : VERDICT_log_lost;
    return log_spot_verdict(damage->what, reused);
}

struct finding log_spot_finding(const struct log_damage *damage, bool reused)
{
    struct finding finding = {
        .verdict = verdict_of(damage, reused),
        .offset = damage->offset,
        .size_bytes = damage->what == LOG_BLOCK_BAD_VLF ? VLF_HEADER_BYTES : LOG_SECTOR_BYTES,
        .actor = "log audit",
    };
    snprintf(finding.detail, sizeof finding.detail,
             "VLF sequence %" PRIu32 ", block %" PRIu32 ": %s%s", damage->fseq, damage->block,
             log_block_check_text(damage->what),
             damage->newer_follows ? "; newer blocks of the same log follow" : "");
    return finding;
}
