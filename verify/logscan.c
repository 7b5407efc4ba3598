/*
 * logscan.c - scan the files of a log: which blocks are live, where the log ends, what is damaged.
 *
 * The VLFs are read in order of FSeqNo, each block by block until one is not a whole block of this
 * use.  That place is the end of the log unless something proves that the log went on behind it:
 *
 *   - a whole block of the same use behind it in the VLF,
 *   - a block of a later VLF whose chain names another predecessor (chained), or
 *   - any block of a later VLF, if the place holds the remains of a block (torn, bad checksum).
 *
 * Then it is damage, and the scan goes on with that block, taking its previous CRC as given.  So
 * one fault is reported once.  A later VLF whose chain continues from the last whole block proves
 * that nothing is missing between them, whatever the rest of the older VLF holds.
 *
 * What it does not do: judge page 0, or know what was acknowledged.
 */
#include "verify/logscan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/check.h"
#include "verify/logvlfs.h"
#include "verify/logwindow.h"

/* Where the log stopped in a VLF; pending until a later block tells what that means. */
struct tail {
    bool set;
    bool reported;
    struct log_damage place;
};

struct scanner {
    struct log_scan *scan;
    struct log_window window;
    bool crc_known; /* the next block's previous CRC must be crc */
    uint32_t crc;
    struct tail tail;
    struct log_vlfs vlfs;
    uint8_t scratch[LOG_BLOCK_BYTES_MAX];
};

/* A position in one VLF. */
struct cursor {
    const struct vlf_header *vlf;
    uint64_t at, end;
    bool previous_known;
    size_t previous_bytes;
};

static uint32_t block_number(const struct cursor *c, uint64_t at)
{
    return (uint32_t)((at - c->vlf->offset) / LOG_SECTOR_BYTES);
}

/* The remains of a block that a crash may leave at the end, and nowhere else. */
static bool is_torn(enum log_block_check what)
{
    return what == LOG_BLOCK_TORN || what == LOG_BLOCK_BAD_CHECKSUM ||
           what == LOG_BLOCK_BAD_RECORDS;
}

/* A whole block, protected by its own checksum, that no crash can have left here. */
static bool is_proof_of_damage(enum log_block_check what, const struct log_block_info *info)
{
    return what == LOG_BLOCK_BAD_PLACE || what == LOG_BLOCK_BAD_CHAIN ||
           (what == LOG_BLOCK_BAD_RECORDS && info->has_checksum);
}

static enum log_end end_of(enum log_block_check what)
{
    switch (what) {
    case LOG_BLOCK_ZERO:
    case LOG_BLOCK_STAMP:
        return LOG_END_FRESH;
    case LOG_BLOCK_OLD_PARITY:
    case LOG_BLOCK_OLD_SEQUENCE:
        return LOG_END_OLD_USE;
    case LOG_BLOCK_NOT_A_BLOCK:
        return LOG_END_MID_BLOCK;
    case LOG_BLOCK_OK:
        return LOG_END_NONE;
    default:
        return LOG_END_TORN_TAIL;
    }
}

/* Check the block at `at` in itself, without its neighbours; false after a read error. */
static bool check_alone(struct scanner *s, const struct cursor *c, uint64_t at,
                        enum log_block_check *what, struct log_block_info *info)
{
    uint64_t rest = c->end - at;
    size_t avail = rest < LOG_BLOCK_BYTES_MAX ? (size_t)rest : LOG_BLOCK_BYTES_MAX;
    const uint8_t *buf = log_window_get(&s->window, at, avail, rest);
    if (buf == NULL)
        return false;
    *what = log_block_check(buf, avail, c->vlf->parity, c->vlf->fseq, block_number(c, at), false, 0,
                            s->scratch, info);
    if (*what == LOG_BLOCK_OK && s->scan->chained && !log_block_own_crc_ok(s->scratch, info))
        *what = LOG_BLOCK_BAD_CHAIN;
    return true;
}

static void report(struct scanner *s, struct log_damage damage, bool newer_follows)
{
    damage.newer_follows = newer_follows;
    log_damage_add(s->scan, &damage);
    s->crc_known = false;
}

/* A whole block follows the pending tail in a later VLF. */
static void resolve_tail(struct scanner *s, bool chain_broken)
{
    bool proven_whole = s->crc_known && !chain_broken;
    bool damaged = chain_broken || (is_torn(s->tail.place.what) && !proven_whole);
    if (damaged && !s->tail.reported)
        report(s, s->tail.place, true);
    s->tail = (struct tail){0};
}

/* Does a block that is whole in itself continue the log? */
static enum log_block_check check_order(struct scanner *s, const struct cursor *c,
                                        const struct log_block_info *info)
{
    bool chain_broken =
        CHECKED(log_order) && s->scan->chained && s->crc_known && info->previous_crc != s->crc;
    if (c->previous_known && info->previous_bytes != c->previous_bytes)
        return LOG_BLOCK_BAD_CHAIN;
    if (chain_broken && !s->tail.set)
        return LOG_BLOCK_BAD_CHAIN;
    if (s->tail.set)
        resolve_tail(s, chain_broken);
    return LOG_BLOCK_OK;
}

static void emit_records(struct scanner *s, const struct log_block_info *info)
{
    struct log_scan *scan = s->scan;
    struct log_record_view record;
    for (unsigned i = 0; i < info->record_count; i++) {
        if (!log_record_at(s->scratch, info, i, &record))
            continue;
        scan->records++;
        scan->last_record = record.lsn;
        if (scan->on_record != NULL)
            scan->on_record(scan->context, &record);
    }
}

static void accept_block(struct scanner *s, struct cursor *c, const struct log_block_info *info)
{
    struct log_scan *scan = s->scan;
    struct lsn behind = {info->fseq, info->block + (uint32_t)(info->size_bytes / LOG_SECTOR_BYTES),
                         0};
    scan->blocks++;
    if (scan->chained) {
        scan->blocks_chained++;
        scan->end_crc = info->own_crc;
        s->crc = info->own_crc;
        s->crc_known = true;
    }
    scan->end_position = lsn_position(behind);
    if (scan->on_block != NULL)
        scan->on_block(scan->context, info, c->at);
    emit_records(s, info);
    c->previous_known = true;
    c->previous_bytes = info->size_bytes;
    c->at += info->size_bytes;
}

/* Could a block of this use of this place start with this sector? */
static bool looks_live(const struct cursor *c, uint64_t at, const uint8_t *sector)
{
    struct log_block_header header;
    memcpy(&header, sector, sizeof(header));
    return (sector[0] & (LOG_PARITY_MASK | LOG_FLAG_FIRST)) == (c->vlf->parity | LOG_FLAG_FIRST) &&
           header.fseq == c->vlf->fseq && header.block == block_number(c, at);
}

/* The next whole block of this use behind c->at; c->end if there is none, 0 after a read error. */
static uint64_t find_live(struct scanner *s, const struct cursor *c)
{
    enum log_block_check what;
    struct log_block_info info;
    for (uint64_t at = c->at + LOG_SECTOR_BYTES; c->end - at >= LOG_SECTOR_BYTES;
         at += LOG_SECTOR_BYTES) {
        const uint8_t *sector = log_window_get(&s->window, at, LOG_SECTOR_BYTES, c->end - at);
        if (sector == NULL)
            return 0;
        if (!looks_live(c, at, sector))
            continue;
        if (!check_alone(s, c, at, &what, &info))
            return 0;
        if (what == LOG_BLOCK_OK)
            return at;
    }
    return c->end;
}

/* Nothing of this use follows in the VLF: the log may end here. */
static void stop_here(struct scanner *s, const struct log_damage *place,
                      const struct log_block_info *info)
{
    bool proven = is_proof_of_damage(place->what, info);
    if (proven)
        report(s, *place, false);
    /* An empty newer VLF does not hide that the one before ends in a torn block. */
    if (!s->tail.set || !is_torn(s->tail.place.what))
        s->tail = (struct tail){.set = true, .reported = proven, .place = *place};
}

/* One step: a block, a hole up to the next block, or the end (*more = false). */
static int scan_step(struct scanner *s, struct cursor *c, bool *more)
{
    enum log_block_check what;
    struct log_block_info info;
    if (!check_alone(s, c, c->at, &what, &info))
        return s->window.error;
    if (what == LOG_BLOCK_OK) {
        what = check_order(s, c, &info);
        if (what == LOG_BLOCK_OK) {
            accept_block(s, c, &info);
            return 0;
        }
    }
    struct log_damage place = {.file = c->vlf->file,
                               .offset = c->at,
                               .fseq = c->vlf->fseq,
                               .block = block_number(c, c->at),
                               .what = what};
    uint64_t next = find_live(s, c);
    if (next == 0)
        return s->window.error;
    *more = next != c->end;
    if (*more)
        report(s, place, true);
    else
        stop_here(s, &place, &info);
    c->previous_known = false;
    c->at = next;
    return 0;
}

static int scan_vlf(struct scanner *s, const struct vlf_header *vlf)
{
    uint64_t bytes = vlf->size_bytes / LOG_SECTOR_BYTES * LOG_SECTOR_BYTES;
    log_vlfs_turn(&s->window, s->scan, vlf->file);
    struct cursor c = {
        .vlf = vlf, .at = vlf->offset + VLF_HEADER_BYTES, .end = vlf->offset + bytes};
    bool more = true;
    while (more && c.at < c.end) {
        int rc = scan_step(s, &c, &more);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* A VLF whose header shows an older use, or none, although the log goes on in it: the header, which
 * is durable before the first block, was lost. */
static int find_lost_header(struct scanner *s, const struct vlf_header *vlf, uint32_t newest_fseq)
{
    struct vlf_header as = *vlf;
    struct cursor c = {.vlf = &as, .at = vlf->offset + VLF_HEADER_BYTES};
    enum log_block_check what;
    struct log_block_info info;
    c.end = vlf->offset + vlf->size_bytes / LOG_SECTOR_BYTES * LOG_SECTOR_BYTES;
    if (c.end <= c.at)
        return 0;
    log_vlfs_turn(&s->window, s->scan, vlf->file);
    const uint8_t *sector = log_window_get(&s->window, c.at, LOG_SECTOR_BYTES, LOG_BLOCK_BYTES_MAX);
    if (sector == NULL)
        return s->window.error;
    as.parity = sector[0] & LOG_PARITY_MASK;
    as.fseq = newest_fseq + 1;
    if (!looks_live(&c, c.at, sector))
        return 0;
    if (!check_alone(s, &c, c.at, &what, &info))
        return s->window.error;
    if (CHECKED(log_lost_header) && what == LOG_BLOCK_OK && info.previous_crc == s->scan->end_crc)
        log_damage_add(s->scan, &(struct log_damage){.file = vlf->file,
                                                     .offset = vlf->offset,
                                                     .fseq = as.fseq,
                                                     .what = LOG_BLOCK_BAD_VLF,
                                                     .newer_follows = true});
    return 0;
}

static int find_lost_headers(struct scanner *s)
{
    const struct log_vlfs *vlfs = &s->vlfs;
    if (!s->scan->chained || vlfs->used_count == 0 || s->scan->blocks == 0)
        return 0;
    uint32_t newest = vlfs->headers[vlfs->used_count - 1].fseq;
    for (size_t i = 0; i < vlfs->count; i++) {
        int rc = find_lost_header(s, &vlfs->headers[i], newest);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int scan_used(struct scanner *s)
{
    struct log_scan *scan = s->scan;
    struct log_vlfs *vlfs = &s->vlfs;
    if (vlfs->used_count != 0 && vlfs->headers[0].fseq == scan->first_fseq) {
        s->crc = scan->chain_start;
        s->crc_known = scan->chained;
    }
    for (size_t i = 0; i < vlfs->used_count; i++) {
        if (log_vlfs_gap(vlfs, i, scan))
            s->crc_known = false;
        int rc = scan_vlf(s, &vlfs->headers[i]);
        if (rc != 0)
            return rc;
    }
    scan->end = s->tail.set ? end_of(s->tail.place.what) : LOG_END_NONE;
    if (vlfs->used_count == 0)
        scan->end = LOG_END_FRESH;
    return find_lost_headers(s);
}

static void clear_results(struct log_scan *scan)
{
    scan->vlf_count = 0;
    scan->blocks = scan->blocks_chained = scan->records = 0;
    scan->last_record = (struct lsn){0, 0, 0};
    scan->end_position = 0;
    scan->end_crc = scan->chained ? scan->chain_start : 0;
    scan->end = LOG_END_NONE;
    scan->damage_count = 0;
}

static int scan_all(struct scanner *s)
{
    int rc = log_vlfs_walk(&s->vlfs, &s->window, s->scan);
    s->scan->vlf_count = s->vlfs.count;
    if (rc != 0)
        return rc;
    log_vlfs_order(&s->vlfs, s->scan);
    return scan_used(s);
}

int log_scan_run(struct log_scan *scan)
{
    clear_results(scan);
    for (size_t i = 0; i <= scan->more_count; i++)
        if ((i ? scan->more[i - 1].file_bytes : scan->file_bytes) < 2 * VLF_HEADER_BYTES)
            return -EINVAL;
    struct scanner *s = calloc(1, sizeof(*s));
    uint8_t *buf = aligned_alloc(LOG_READ_ALIGN_BYTES, LOG_WINDOW_BYTES);
    int rc = -ENOMEM;
    if (s != NULL && buf != NULL) {
        s->scan = scan;
        s->window.buf = buf;
        rc = scan_all(s);
    }
    free(buf);
    free(s);
    return rc;
}

const char *log_block_check_text(enum log_block_check what)
{
    static const char *const texts[] = {
        [LOG_BLOCK_OK] = "whole block",
        [LOG_BLOCK_ZERO] = "zeros, never written",
        [LOG_BLOCK_STAMP] = "0xC0 stamp of a new log, never written",
        [LOG_BLOCK_NOT_A_BLOCK] = "no block header here",
        [LOG_BLOCK_OLD_PARITY] = "block of the previous use of the VLF",
        [LOG_BLOCK_OLD_SEQUENCE] = "block of an older use of the VLF",
        [LOG_BLOCK_TORN] = "torn block: some of its sectors are older",
        [LOG_BLOCK_BAD_CHECKSUM] = "block checksum is wrong",
        [LOG_BLOCK_BAD_RECORDS] = "record offsets make no sense",
        [LOG_BLOCK_BAD_PLACE] = "block of another place",
        [LOG_BLOCK_BAD_CHAIN] = "block does not follow the one before it",
        [LOG_BLOCK_BAD_VLF] = "VLF header is damaged",
        [LOG_BLOCK_GAP] = "VLFs before this one are missing",
    };
    if ((size_t)what >= sizeof(texts) / sizeof(texts[0]))
        return "unknown";
    return texts[what];
}
