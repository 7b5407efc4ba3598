/*
 * logaudit.c - see logaudit.h.
 *
 * Invariant: one event a spot.  A VLF that holds fewer blocks than were written is reported where
 * its blocks end, unless the scan named damage in it; VLFs behind it that hold none belong to the
 * same spot, for a lost tail is one fault however long it is.
 */
#include "sim/logaudit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/log_spot.h"
#include "verify/logscan.h"

/* What was found of one VLF of the log writer. */
struct vlf_seen {
    uint64_t blocks;
    uint64_t end; /* file offset behind the last one */
};

#define SPOT_BYTES (LOG_BLOCK_BYTES_MAX / LOG_READ_ALIGN_BYTES * LOG_READ_ALIGN_BYTES)

struct log_look;

/* A file of the log, as the scan reads it. */
struct look_file {
    struct log_look *look;
    struct file *file;
};

struct log_look {
    struct run *run;
    struct database *db;
    struct log_scan scan;
    struct look_file *files;     /* as the database's */
    struct log_scan_file *more;  /* of the scan: all but the first */
    struct vlf_seen *seen;       /* of each VLF */
    const struct file *bad_file; /* of a read that failed for good */
    uint64_t bad_offset;
    unsigned retries; /* of reads */
    uint8_t *spot;    /* SPOT_BYTES of a damaged place, and a scratch block */
    int error;        /* of the scan */
};

/* ---- reading ---- */

static int read_once(const struct look_file *file, uint64_t offset, void *buf, size_t size_bytes)
{
    struct iovec iov = {buf, size_bytes};
    struct io_req req = {.op = IO_READ,
                         .stream = STREAM_log_read,
                         .target = &file->file->target,
                         .offset = offset,
                         .iov = &iov,
                         .iov_count = 1};
    return io_run(&file->look->run->io, &req);
}

static void report_retry(const struct look_file *file, uint64_t offset, size_t size_bytes,
                         int error, unsigned retries)
{
    struct finding finding = {.verdict = VERDICT_read_retry,
                              .offset = offset,
                              .size_bytes = size_bytes,
                              .retries = retries,
                              .healed = true,
                              .error = -error,
                              .actor = "log audit",
                              .file_uid = file->file->mark.file_uid};
    snprintf(finding.file, sizeof finding.file, "%s", file->file->path);
    finding_report(&file->look->run->findings, &finding, NULL);
}

/* As often as SQL Server would; a success after a failure is its 825. */
static int read_with_retries(const struct look_file *file, uint64_t offset, void *buf,
                             size_t size_bytes)
{
    struct log_look *look = file->look;
    int first = read_once(file, offset, buf, size_bytes), error = first;
    unsigned retries = 0;
    while (error && retries < LOG_REREADS_MAX) {
        retries++;
        relaxed_add(&look->run->main_stats.counters.read_retries, 1);
        error = read_once(file, offset, buf, size_bytes);
    }
    if (first && !error)
        report_retry(file, offset, size_bytes, first, retries);
    look->retries = retries;
    return error;
}

/* The first piece of a range that cannot be read. */
static uint64_t first_unreadable(const struct look_file *file, uint64_t offset, uint8_t *buf,
                                 size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes; at += LOG_READ_ALIGN_BYTES) {
        size_t rest = size_bytes - at;
        size_t piece = rest < LOG_READ_ALIGN_BYTES ? rest : LOG_READ_ALIGN_BYTES;
        if (read_once(file, offset + at, buf, piece))
            return offset + at;
    }
    return offset;
}

static int look_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    const struct look_file *file = context;
    int error = read_with_retries(file, offset, buf, size_bytes);
    if (error) {
        file->look->bad_file = file->file;
        file->look->bad_offset = first_unreadable(file, offset, buf, size_bytes);
    }
    return error;
}

/* ---- scanning ---- */

static int vlf_of_fseq(const struct wal *wal, uint32_t fseq)
{
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (wal->vlfs[i].header.fseq == fseq)
            return (int)i;
    return -1;
}

static int vlf_of_offset(const struct wal *wal, unsigned file, uint64_t offset)
{
    for (size_t i = 0; i < wal->vlf_count; i++) {
        const struct vlf_header *vlf = &wal->vlfs[i].header;
        if (vlf->file == file && offset >= vlf->offset && offset - vlf->offset < vlf->size_bytes)
            return (int)i;
    }
    return -1;
}

static void block_seen(void *context, const struct log_block_info *info, uint64_t file_offset)
{
    struct log_look *look = context;
    int index = vlf_of_fseq(&look->db->wal, info->fseq);
    if (index < 0)
        return;
    look->seen[index].blocks++;
    look->seen[index].end = file_offset + info->size_bytes;
    run_step_done(look->run, 1);
}

static void look_at_log(struct log_look *look)
{
    const struct wal *wal = &look->db->wal;
    memset(look->seen, 0, wal->vlf_count * sizeof *look->seen);
    for (unsigned i = 1; i < wal->file_count; i++)
        look->more[i - 1] = (struct log_scan_file){
            .reader = {look_read, &look->files[i]},
            .file_bytes = (uint64_t)wal->files[i].size_pages * PAGE_BYTES,
        };
    look->scan = (struct log_scan){
        .reader = {look_read, &look->files[0]},
        .file_bytes = (uint64_t)wal->files[0].size_pages * PAGE_BYTES,
        .more = look->more,
        .more_count = wal->file_count - 1,
        .chained = true,
        .chain_start = run_chain_start(look->run->run_id, wal_uid(wal)),
        .first_fseq = run_first_fseq(look->run->run_id),
        .on_block = block_seen,
        .context = look,
    };
    look->error = log_scan_run(&look->scan);
}

/* ---- comparing ---- */

/* Blocks of a VLF that must be there. After a failed write those behind the durable end need not.
 */
static bool vlf_is_short(const struct log_look *look, size_t index)
{
    const struct wal *wal = &look->db->wal;
    const struct vlf_header *vlf = &wal->vlfs[index].header;
    const struct vlf_seen *seen = &look->seen[index];
    uint64_t durable = atomic_load(&((struct wal *)(uintptr_t)wal)->durable_end);
    if (vlf->fseq == 0 || vlf->fseq > durable >> 32)
        return false;
    bool newest = vlf->fseq == durable >> 32;
    if (!newest || !wal_failed(wal))
        return seen->blocks < wal->vlfs[index].blocks;
    uint64_t end = vlf->offset + (durable & UINT32_MAX) * LOG_SECTOR_BYTES;
    uint64_t found = seen->blocks ? seen->end : vlf->offset + VLF_HEADER_BYTES;
    return found < end;
}

static bool damage_named(const struct log_look *look, const struct vlf_header *vlf)
{
    for (size_t i = 0; i < look->scan.damage_count && i < LOG_SCAN_DAMAGE_MAX; i++) {
        const struct log_damage *damage = &look->scan.damage[i];
        bool inside = damage->file == vlf->file && damage->offset >= vlf->offset &&
                      damage->offset - vlf->offset < vlf->size_bytes;
        if (inside || damage->fseq == vlf->fseq)
            return true;
    }
    return false;
}

/* Index of the VLF with the smallest FSeqNo above fseq, -1 if there is none. */
static int next_vlf(const struct wal *wal, uint32_t fseq)
{
    int best = -1;
    for (size_t i = 0; i < wal->vlf_count; i++) {
        uint32_t f = wal->vlfs[i].header.fseq;
        if (f > fseq && (best < 0 || f < wal->vlfs[best].header.fseq))
            best = (int)i;
    }
    return best;
}

/* What stands where the next block of a short VLF should be. */
static int spot_of_short_vlf(struct log_look *look, size_t index, struct log_damage *out)
{
    const struct vlf_header *vlf = &look->db->wal.vlfs[index].header;
    const struct vlf_seen *seen = &look->seen[index];
    uint64_t at = seen->blocks ? seen->end : vlf->offset + VLF_HEADER_BYTES;
    uint8_t *buf = aligned_alloc(LOG_READ_ALIGN_BYTES, 2 * LOG_READ_ALIGN_BYTES);
    if (!buf)
        return -ENOMEM;
    uint64_t start = at / LOG_READ_ALIGN_BYTES * LOG_READ_ALIGN_BYTES;
    int error = look_read(&look->files[vlf->file], start, buf, LOG_READ_ALIGN_BYTES);
    *out = (struct log_damage){.file = vlf->file,
                               .offset = at,
                               .fseq = vlf->fseq,
                               .block = (uint32_t)((at - vlf->offset) / LOG_SECTOR_BYTES)};
    if (!error)
        log_block_peek(buf + (at - start), vlf_parity(vlf->use_count), vlf->fseq, &out->what);
    if (out->what == LOG_BLOCK_OK) /* the header is there, the block is not whole */
        out->what = LOG_BLOCK_TORN;
    free(buf);
    return error;
}

/* Spots that only the log writer's counts show, added to the scan's. */
static int compare_counts(struct log_look *look)
{
    const struct wal *wal = &look->db->wal;
    bool in_lost_tail = false;
    int error = 0;
    for (int i = next_vlf(wal, 0); i >= 0 && !error; i = next_vlf(wal, wal->vlfs[i].header.fseq)) {
        bool is_short = vlf_is_short(look, (size_t)i);
        bool same_spot = in_lost_tail && look->seen[i].blocks == 0;
        if (is_short && !same_spot && !damage_named(look, &wal->vlfs[i].header)) {
            struct log_damage spot;
            error = spot_of_short_vlf(look, (size_t)i, &spot);
            if (!error && look->scan.damage_count < LOG_SCAN_DAMAGE_MAX)
                look->scan.damage[look->scan.damage_count++] = spot;
        }
        in_lost_tail = is_short;
    }
    return error;
}

/* All of it as many and as written? */
static bool end_is_right(const struct log_look *look)
{
    const struct wal *wal = &look->db->wal;
    return wal_failed(wal) || look->scan.blocks == 0 || look->scan.end_crc == wal->chain_crc;
}

/* ---- reporting ---- */

static void report_with(struct log_look *look, const struct file *file, struct finding *finding,
                        const struct finding_images *images)
{
    finding->file_uid = file->mark.file_uid;
    snprintf(finding->file, sizeof finding->file, "%s", file->path);
    finding_report(&look->run->findings, finding, images);
}

static void report(struct log_look *look, const struct file *file, struct finding *finding)
{
    report_with(look, file, finding, NULL);
}

static bool was_reused(const struct log_look *look, const struct log_damage *damage)
{
    int index = vlf_of_offset(&look->db->wal, damage->file, damage->offset);
    return index >= 0 && look->db->wal.vlfs[index].header.use_count > 1;
}

/* Read the damaged block a third time, for what stands there. */
static size_t spot_read(struct log_look *look, const struct log_damage *damage, uint64_t serial)
{
    const struct look_file *file = &look->files[damage->file];
    uint64_t start = damage->offset / LOG_READ_ALIGN_BYTES * LOG_READ_ALIGN_BYTES;
    uint64_t end = (uint64_t)file->file->size_pages * PAGE_BYTES;
    size_t bytes = end - start < SPOT_BYTES ? (size_t)(end - start) : SPOT_BYTES;
    size_t skip = (size_t)(damage->offset - start);
    poison_fill(look->spot, bytes, serial);
    if (start >= end || read_once(file, start, look->spot, bytes))
        return 0;
    memmove(look->spot, look->spot + skip, bytes - skip);
    return bytes - skip;
}

static void report_spot(struct log_look *look, const struct log_damage *damage)
{
    struct run *run = look->run;
    bool reused = was_reused(look, damage);
    int index = vlf_of_offset(&look->db->wal, damage->file, damage->offset);
    struct finding finding = log_spot_finding(damage, reused);
    struct log_spot_content content = {
        .bytes = look->spot,
        .run = &run->identity,
        .fresh_is_zero = run->settings->fresh_log_byte != CONFIG_FRESH_LOG_C0,
        .serial = damage->offset,
        .scratch = look->spot + SPOT_BYTES,
    };
    struct finding_images images = {.read_image = look->spot, .size_bytes = LOG_SECTOR_BYTES};
    if (index >= 0) {
        content.parity = vlf_parity(look->db->wal.vlfs[index].header.use_count);
        content.size_bytes = spot_read(look, damage, content.serial);
        log_spot_look(&finding, damage, reused, &content);
    }
    finding.retries = finding.agreed = 1; /* the second look */
    report_with(look, &look->db->logs[damage->file], &finding,
                content.size_bytes >= LOG_SECTOR_BYTES ? &images : NULL);
}

static void report_spots(struct log_look *look)
{
    size_t count = look->scan.damage_count;
    for (size_t i = 0; i < count && i < LOG_SCAN_DAMAGE_MAX; i++)
        report_spot(look, &look->scan.damage[i]);
}

static void report_unreadable(struct log_look *look)
{
    if (look->error == -EINVAL) {
        struct finding none = {.verdict = VERDICT_log_lost,
                               .offset = VLF_HEADER_BYTES,
                               .size_bytes = look->scan.file_bytes - VLF_HEADER_BYTES,
                               .actor = "log audit",
                               .detail = "no VLF header at all is left in the log file"};
        report(look, &look->db->logs[look->scan.file], &none);
        return;
    }
    uint64_t now_bytes;
    bool cut =
        look->error == -ENODATA && file_check_identity(look->bad_file, &now_bytes) == -ENODATA;
    struct finding finding = {.verdict = cut ? VERDICT_truncated_file : VERDICT_unreadable,
                              .offset = look->bad_offset,
                              .size_bytes = LOG_READ_ALIGN_BYTES,
                              .retries = look->retries,
                              .error = -look->error,
                              .actor = "log audit"};
    snprintf(finding.detail, sizeof finding.detail, "the log cannot be read from here: %s",
             cut ? "the file ends" : strerror(-look->error));
    report(look, look->bad_file, &finding);
}

static bool is_clean(const struct log_look *look)
{
    return !look->error && look->scan.damage_count == 0 && end_is_right(look);
}

static void report_transient(struct log_look *look, const struct log_damage *first)
{
    struct finding finding = log_spot_finding(first, was_reused(look, first));
    finding.verdict = VERDICT_transient_damage;
    finding.retries = 1;
    finding.healed = true;
    report(look, &look->db->logs[first->file], &finding);
}

/* Nothing but the chain value of the end is wrong: the newest block is not the one that was
 * written. */
static void report_end(struct log_look *look)
{
    struct log_damage end = {.what = LOG_BLOCK_BAD_CHAIN,
                             .fseq = look->scan.last_record.fseq,
                             .block = look->scan.last_record.block};
    int index = vlf_of_fseq(&look->db->wal, end.fseq);
    if (index >= 0) {
        const struct vlf_header *vlf = &look->db->wal.vlfs[index].header;
        end.file = vlf->file;
        end.offset = vlf->offset + (uint64_t)end.block * LOG_SECTOR_BYTES;
    }
    look->scan.damage[0] = end;
    look->scan.damage_count = 1;
}

static void examine(struct log_look *look)
{
    struct wal *wal = &look->db->wal;
    look_at_log(look);
    if (wal_failed(wal))
        log_spot_drop_unacknowledged(&look->scan, atomic_load(&wal->durable_end));
    if (!look->error)
        look->error = compare_counts(look);
    if (!look->error && look->scan.damage_count == 0 && !end_is_right(look))
        report_end(look);
}

static void look_twice(struct log_look *look)
{
    examine(look);
    if (is_clean(look) || look->run->stuck)
        return;
    bool damaged = !look->error && look->scan.damage_count > 0;
    struct log_damage first = look->scan.damage[0];
    if (damaged)
        examine(look);
    if (look->run->stuck)
        return; /* what was asked for never came: nothing is known of it */
    if (look->error)
        report_unreadable(look);
    else if (is_clean(look))
        report_transient(look, &first);
    else
        report_spots(look);
}

/* ---- page 0 ---- */

/* NONE, or what stands where the log's file header should. */
static enum verdict page_0_verdict(const struct look_file *file, const uint8_t *page)
{
    struct file_mark mark;
    uint16_t file_id = file->file->mark.file_id;
    if (!syspage_check(page, SYSPAGE_FILE_HEADER, 0, file_id) || file_mark_read(page, &mark))
        return VERDICT_garbage;
    if (memcmp(mark.run_id, file->look->run->run_id, RUN_ID_BYTES) != 0)
        return VERDICT_file_replaced;
    /* after a growth that failed nobody knows which of both it says */
    bool newest = mark.size_pages == file->file->mark.size_pages;
    return newest || mark.size_pages == file->file->size_pages ? VERDICT_NONE : VERDICT_lost_write;
}

static void report_page_0(const struct look_file *file, enum verdict verdict, bool healed)
{
    const char *detail = "the file header of the log is damaged";
    if (verdict == VERDICT_file_replaced)
        detail = "the file under this name carries the mark of another run or file";
    if (verdict == VERDICT_lost_write)
        detail = "the file header of the log says a size that the file had before it grew";
    /* by its offset: the ledger has no pages of a log */
    struct finding finding = {.verdict = healed ? VERDICT_transient_damage : verdict,
                              .size_bytes = PAGE_BYTES,
                              .retries = 1,
                              .agreed = !healed,
                              .healed = healed,
                              .actor = "log audit"};
    snprintf(finding.detail, sizeof finding.detail, "%s", detail);
    report(file->look, file->file, &finding);
}

/* The log writer never reads it back, and recovery begins with it. */
static int check_page_0(const struct look_file *file)
{
    struct log_look *look = file->look;
    uint8_t *page = aligned_alloc(LOG_READ_ALIGN_BYTES, PAGE_BYTES);
    if (!page)
        return -ENOMEM;
    look->bad_file = file->file;
    look->bad_offset = 0;
    look->error = read_with_retries(file, 0, page, PAGE_BYTES);
    enum verdict first = look->error ? VERDICT_NONE : page_0_verdict(file, page);
    enum verdict second = first;
    if (first != VERDICT_NONE) {
        look->error = read_with_retries(file, 0, page, PAGE_BYTES);
        second = look->error ? VERDICT_NONE : page_0_verdict(file, page);
    }
    if (look->run->stuck)
        second = VERDICT_NONE; /* it never came */
    else if (look->error)
        report_unreadable(look);
    else if (first != VERDICT_NONE)
        report_page_0(file, first, second == VERDICT_NONE);
    free(page);
    return 0;
}

static void look_free(struct log_look *look)
{
    if (!look)
        return;
    free(look->files);
    free(look->more);
    free(look->seen);
    free(look->spot);
    free(look);
}

static struct log_look *look_make(struct run *run, struct database *db)
{
    struct log_look *look = calloc(1, sizeof *look);
    if (!look)
        return NULL;
    look->run = run;
    look->db = db;
    look->files = calloc(db->log_count, sizeof *look->files);
    look->more = calloc(db->log_count, sizeof *look->more);
    look->seen = calloc(db->wal.vlf_count, sizeof *look->seen);
    look->spot = aligned_alloc(LOG_READ_ALIGN_BYTES, 2 * SPOT_BYTES);
    if (!look->files || !look->more || !look->seen || !look->spot) {
        look_free(look);
        return NULL;
    }
    for (unsigned i = 0; i < db->log_count; i++)
        look->files[i] = (struct look_file){look, &db->logs[i]};
    return look;
}

int log_audit(struct run *run, struct database *db)
{
    struct log_look *look = look_make(run, db);
    if (!look)
        return -ENOMEM;
    look_twice(look);
    relaxed_add(&run->main_stats.counters.log_blocks_verified, look->scan.blocks_chained);
    int error = look->error == -ENOMEM ? -ENOMEM : 0;
    for (unsigned i = 0; i < db->log_count && !look->error; i++)
        error = check_page_0(&look->files[i]); /* else the log is known to be unreadable */
    look_free(look);
    return error;
}
