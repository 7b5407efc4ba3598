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

void log_spot_drop_unacknowledged(struct log_scan *scan, uint64_t durable_end)
{
    size_t listed =
        scan->damage_count < LOG_SCAN_DAMAGE_MAX ? scan->damage_count : LOG_SCAN_DAMAGE_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < listed; i++) {
        struct log_damage damage = scan->damage[i];
        uint64_t position = (uint64_t)damage.fseq << 32 | damage.block;
        if (position < durable_end)
            scan->damage[kept++] = damage;
    }
    if (kept < listed) /* they are in order: what found no room in the list lies behind, too */
        scan->damage_count = kept;
}
