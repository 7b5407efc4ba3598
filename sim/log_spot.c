/* log_spot.c - see log_spot.h. */
#include "sim/log_spot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verify/explain.h"
#include "verify/logblk.h"
#include "verify/page.h"

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

/* ---- what stands there ---- */

static const uint8_t *sector_at(const struct log_spot_content *content, size_t index)
{
    return content->bytes + index * LOG_SECTOR_BYTES;
}

/* Sectors of the block that should be there, as far as its size is known; at least one. */
static size_t sectors_of(const struct log_damage *damage, const struct log_spot_content *content)
{
    size_t have = content->size_bytes / LOG_SECTOR_BYTES;
    size_t size =
        log_block_peek(content->bytes, content->parity, damage->fseq, NULL) / LOG_SECTOR_BYTES;
    size = size ? size : 1;
    return size < have ? size : have;
}

static bool is_zero_sector(const uint8_t *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, LOG_SECTOR_BYTES - 1) == 0;
}

/* A sector of a data page of this run. */
static bool is_of_a_page(const uint8_t *sector, size_t left, const struct run_identity *run,
                         struct explanation *why)
{
    struct sector_identity id;
    const struct page_stamp *stamp = page_stamp_of(sector);
    if (left >= LOG_SECTOR_BYTES && page_header_crc_ok(sector) &&
        memcmp(stamp->run_id, run->run_id, RUN_ID_BYTES) == 0) {
        why->origin_file_uid = stamp->file_uid;
        why->origin_page_no = stamp->page_no;
        why->origin_generation = stamp->generation;
    } else if (sector_stamp_read(sector, &id) && id.run_tag == run->run_tag) {
        why->origin_file_uid = id.file_uid;
        why->origin_page_no = id.page_no;
        why->origin_generation = id.generation_low;
    } else {
        return false;
    }
    why->has_origin = true;
    why->generation_found = why->origin_generation;
    return true;
}

/* A whole block of ours whose own words name another place, or a use of this one that is yet to
 * come. */
static bool is_other_block(const struct log_damage *damage, const struct log_spot_content *content,
                           struct log_block_info *info)
{
    struct log_block_header header;
    memcpy(&header, content->bytes, sizeof header);
    uint8_t parity = content->bytes[0] & LOG_PARITY_MASK;
    if (log_block_check(content->bytes, content->size_bytes, parity, header.fseq, header.block,
                        false, 0, content->scratch, info) != LOG_BLOCK_OK ||
        !log_block_own_crc_ok(content->scratch, info))
        return false;
    return info->block != damage->block || info->fseq > damage->fseq;
}

/* No block begins here, and what its header should say of the place does not stand there. */
static bool is_foreign(const struct log_damage *damage, bool reused,
                       const struct log_spot_content *content)
{
    struct log_block_header header;
    memcpy(&header, content->bytes, sizeof header);
    return damage->what == LOG_BLOCK_NOT_A_BLOCK && !reused && header.fseq != damage->fseq &&
           header.block != damage->block;
}

static void add_detail(struct finding *finding, const char *text)
{
    size_t used = strlen(finding->detail);
    snprintf(finding->detail + used, sizeof finding->detail - used, "; %s", text);
}

/* Sectors in which something stands that no block has; true: the finding got its name. */
static bool look_at_sectors(struct finding *finding, const struct log_damage *damage,
                            const struct log_spot_content *content)
{
    size_t count = sectors_of(damage, content);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *sector = sector_at(content, i);
        if (content->serial && poison_sector(sector, content->serial)) {
            finding->verdict = VERDICT_bytes_not_read;
            add_detail(finding, "the read did not fill the buffer");
            return true;
        }
        if (is_of_a_page(sector, content->size_bytes - i * LOG_SECTOR_BYTES, content->run,
                         &finding->why)) {
            char text[96];
            finding->verdict = VERDICT_misdirected_write;
            snprintf(text, sizeof text, "data page %" PRIu32 " of file uid %u stands there",
                     finding->why.origin_page_no, finding->why.origin_file_uid);
            add_detail(finding, text);
            return true;
        }
        if (!content->fresh_is_zero && is_zero_sector(sector)) {
            finding->verdict = VERDICT_zeroed;
            add_detail(finding, "zeros were never written there");
            return true;
        }
    }
    return false;
}

void log_spot_look(struct finding *finding, const struct log_damage *damage, bool reused,
                   const struct log_spot_content *content)
{
    struct log_block_info info;
    char text[96];
    if (damage->what == LOG_BLOCK_BAD_VLF || damage->what == LOG_BLOCK_GAP ||
        content->size_bytes < LOG_SECTOR_BYTES || look_at_sectors(finding, damage, content))
        return;
    if (is_other_block(damage, content, &info)) {
        finding->verdict = VERDICT_misdirected_write;
        snprintf(text, sizeof text,
                 "block %" PRIu32 " of VLF sequence %" PRIu32 " stands there, whole", info.block,
                 info.fseq);
        add_detail(finding, text);
    } else if (is_foreign(damage, reused, content)) {
        finding->verdict = VERDICT_garbage;
    }
}

enum verdict log_spot_healed(enum verdict verdict)
{
    if (verdict == VERDICT_bytes_not_read)
        return verdict;
    return verdict == VERDICT_misdirected_write ? VERDICT_misdirected_read
                                                : VERDICT_transient_damage;
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
