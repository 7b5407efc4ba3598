/* wal_read_back.c - see wal_read_back.h. */
#include "sim/wal_read_back.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/log_spot.h"
#include "verify/checksum.h"
#include "verify/explain.h"

#define READ_ALIGN 4096
#define READER     "log read back"

struct wal_read_back {
    struct task task;
    struct wal *wal;
    struct findings *findings;
    uint64_t share, seed;
    bool waiting;            /* a VLF is to be read; under the lock */
    struct wal_vlf *vlf;     /* that is being read; its header does not change meanwhile */
    uint64_t at;             /* file offset of the next block to verify */
    uint32_t crc;            /* chain value before it */
    uint64_t blocks;         /* of it verified */
    unsigned rereads;        /* of the present piece */
    int first_error;         /* of the present piece */
    struct log_damage first; /* what its first reading showed; OK: nothing */
    struct finding first_finding;
    const struct run_identity *run;
    bool fresh_is_zero;
    uint64_t serial; /* of the poison of the present read */
    uint64_t start;  /* of the piece in the buffer */
    bool in_flight;
    uint8_t *buffer, *scratch;
    struct iovec iov;
    struct io_req req;
};

/* ---- which ---- */

static bool is_drawn(const struct wal_read_back *back, const struct wal_vlf *vlf)
{
    uint32_t fseq = vlf->header.fseq;
    return xxh3_64_seeded(&fseq, sizeof fseq, back->seed) % 10000 < back->share;
}

bool wal_read_back_take(struct wal *wal, struct wal_vlf *vlf)
{
    struct wal_read_back *back = wal->read_back;
    if (!back || vlf->blocks == 0 || atomic_load(&wal->failed) || !is_drawn(back, vlf))
        return false;
    vlf->reading = true;
    back->waiting = true;
    task_wake(&back->task);
    return true;
}

bool wal_read_back_is_busy(const struct wal *wal)
{
    return wal->read_back && wal->read_back->waiting;
}

/* ---- a VLF ---- */

static struct wal_vlf *vlf_to_read(struct wal *wal)
{
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (wal->vlfs[i].reading)
            return &wal->vlfs[i];
    return NULL;
}

static uint64_t vlf_end(const struct wal_read_back *back)
{
    return back->vlf->header.offset + back->vlf->used_bytes;
}

static bool vlf_begin(struct wal_read_back *back)
{
    struct wal *wal = back->wal;
    pthread_mutex_lock(&wal->lock);
    back->vlf = vlf_to_read(wal);
    pthread_mutex_unlock(&wal->lock);
    if (!back->vlf)
        return false;
    back->at = back->vlf->header.offset + VLF_HEADER_BYTES;
    back->crc = back->vlf->start_crc;
    back->blocks = 0;
    back->rereads = 0;
    back->first_error = 0;
    back->first.what = LOG_BLOCK_OK;
    return true;
}

static void vlf_end_with(struct wal_read_back *back, bool verified)
{
    struct wal *wal = back->wal;
    struct counters *counters = &back->task.worker->stats.counters;
    relaxed_add(&counters->log_blocks_read_back, back->blocks);
    relaxed_add(&counters->log_vlfs_read_back, 1);
    pthread_mutex_lock(&wal->lock);
    back->vlf->reading = false;
    back->vlf->verified = verified;
    back->vlf->in_use = false;
    back->waiting = false;
    wal_release_locked(wal);
    pthread_mutex_unlock(&wal->lock);
    back->vlf = NULL;
    task_wake(&wal->writer); /* it may wait for us to end */
}

/* ---- reading ---- */

static struct file *file_of(const struct wal_read_back *back)
{
    return &back->wal->files[back->vlf->header.file];
}

static void piece_done(struct io_req *req)
{
    struct wal_read_back *back = req->context;
    back->in_flight = false;
    task_wake(&back->task);
}

static void piece_read(struct wal_read_back *back)
{
    struct file *file = file_of(back);
    struct io_req *req = &back->req;
    uint64_t align =
        file->target.align_bytes > LOG_SECTOR_BYTES ? file->target.align_bytes : LOG_SECTOR_BYTES;
    uint64_t end = (vlf_end(back) + align - 1) / align * align;
    back->start = back->at / align * align;
    uint64_t bytes = end - back->start < WAL_READ_BYTES ? end - back->start : WAL_READ_BYTES;
    back->iov = (struct iovec){back->buffer, (size_t)bytes};
    back->serial = worker_read_serials(back->task.worker, 1);
    poison_fill(back->buffer, (size_t)bytes, back->serial);
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_READ;
    req->stream = STREAM_log_read;
    req->target = &file->target;
    req->offset = back->start;
    req->iov = &back->iov;
    req->iov_count = 1;
    req->done = piece_done;
    req->context = back;
    back->in_flight = true;
    io_submit(&back->task.worker->io, req);
}

/* ---- judging ---- */

static void report(struct wal_read_back *back, struct finding *finding,
                   const struct finding_images *images)
{
    const struct file *file = file_of(back);
    finding->file_uid = file->mark.file_uid;
    finding->retries = back->rereads;
    snprintf(finding->file, sizeof finding->file, "%s", file->path);
    snprintf(finding->actor, sizeof finding->actor, READER);
    finding_report(back->findings, finding, images);
}

static bool was_reused(const struct wal_read_back *back)
{
    return back->vlf->header.use_count > 1;
}

/* The piece was read and is right: were earlier readings of it not? */
static void piece_right(struct wal_read_back *back)
{
    if (back->first.what != LOG_BLOCK_OK) {
        struct finding *finding = &back->first_finding;
        finding->verdict = log_spot_healed(finding->verdict);
        finding->healed = true;
        report(back, finding, NULL);
    } else if (back->first_error) {
        struct finding finding = {.verdict = VERDICT_read_retry,
                                  .offset = back->start,
                                  .size_bytes = back->iov.iov_len,
                                  .healed = true,
                                  .error = -back->first_error};
        report(back, &finding, NULL);
    }
    back->rereads = 0;
    back->first_error = 0;
    back->first.what = LOG_BLOCK_OK;
}

/* Only the beginning of a block is in the buffer. */
static bool is_cut(const struct wal_read_back *back, const uint8_t *at, size_t left)
{
    enum log_block_check why;
    const struct vlf_header *header = &back->vlf->header;
    if (back->start + back->iov.iov_len >= vlf_end(back) || back->at == back->start)
        return false;
    return left < LOG_SECTOR_BYTES ||
           log_block_peek(at, vlf_parity(header->use_count), header->fseq, &why) > left;
}

/* Verify the whole blocks of the buffer; OK, or what is wrong with the one at back->at. */
static enum log_block_check blocks_verify(struct wal_read_back *back)
{
    const struct vlf_header *header = &back->vlf->header;
    uint64_t end = back->start + back->iov.iov_len;
    while (back->at < vlf_end(back) && back->at < end) {
        const uint8_t *at = back->buffer + (back->at - back->start);
        struct log_block_info info;
        uint32_t block = (uint32_t)((back->at - header->offset) / LOG_SECTOR_BYTES);
        if (is_cut(back, at, (size_t)(end - back->at)))
            break;
        enum log_block_check what =
            log_block_check(at, (size_t)(end - back->at), vlf_parity(header->use_count),
                            header->fseq, block, true, back->crc, back->scratch, &info);
        if (what != LOG_BLOCK_OK)
            return what;
        back->crc = info.own_crc;
        back->at += info.size_bytes;
        back->blocks++;
    }
    return LOG_BLOCK_OK;
}

static struct log_damage damage_at(const struct wal_read_back *back, enum log_block_check what)
{
    const struct vlf_header *header = &back->vlf->header;
    return (struct log_damage){.file = header->file,
                               .offset = back->at,
                               .fseq = header->fseq,
                               .block = (uint32_t)((back->at - header->offset) / LOG_SECTOR_BYTES),
                               .what = what};
}

/* The block at back->at, by the piece in the buffer. */
static struct finding finding_at(const struct wal_read_back *back, const struct log_damage *damage)
{
    struct finding finding = log_spot_finding(damage, was_reused(back));
    struct log_spot_content content = {.bytes = back->buffer + (back->at - back->start),
                                       .size_bytes =
                                           back->iov.iov_len - (size_t)(back->at - back->start),
                                       .parity = vlf_parity(back->vlf->header.use_count),
                                       .run = back->run,
                                       .fresh_is_zero = back->fresh_is_zero,
                                       .serial = back->serial,
                                       .scratch = back->scratch};
    log_spot_look(&finding, damage, was_reused(back), &content);
    return finding;
}

static void piece_unreadable(struct wal_read_back *back)
{
    struct finding finding = {.verdict = VERDICT_unreadable,
                              .offset = back->start,
                              .size_bytes = back->iov.iov_len,
                              .error = -back->req.result};
    snprintf(finding.detail, sizeof finding.detail, "the log cannot be read: %s",
             strerror(-back->req.result));
    finding.agreed = back->rereads;
    report(back, &finding, NULL);
}

static void piece_wrong(struct wal_read_back *back, enum log_block_check what)
{
    struct log_damage damage = damage_at(back, what);
    if (back->rereads == 0 && what != LOG_BLOCK_OK) {
        back->first = damage;
        back->first_finding = finding_at(back, &damage);
    }
    if (back->rereads == 0)
        back->first_error = back->req.result;
    if (back->rereads < WAL_REREADS_MAX) {
        back->rereads++;
        relaxed_add(&back->task.worker->stats.counters.read_retries, 1);
        piece_read(back);
        return;
    }
    if (back->req.result) {
        piece_unreadable(back);
    } else {
        struct finding finding = finding_at(back, &damage);
        struct finding_images images = {.read_image = back->buffer + (back->at - back->start),
                                        .size_bytes = finding.size_bytes};
        finding.agreed = back->rereads;
        report(back, &finding, &images);
    }
    vlf_end_with(back, false);
}

static void piece_judge(struct wal_read_back *back)
{
    if (back->req.result) {
        piece_wrong(back, LOG_BLOCK_OK);
        return;
    }
    enum log_block_check what = blocks_verify(back);
    if (what != LOG_BLOCK_OK) {
        piece_wrong(back, what);
        return;
    }
    piece_right(back);
    if (back->at < vlf_end(back))
        piece_read(back);
    else
        vlf_end_with(back, true);
}

static enum task_result read_back_step(struct task *task)
{
    struct wal_read_back *back = (struct wal_read_back *)task; /* first member */
    if (back->in_flight)
        return TASK_PARK;
    if (back->vlf)
        piece_judge(back);
    if (!back->vlf && vlf_begin(back))
        piece_read(back);
    return TASK_PARK;
}

/* ---- life ---- */

int wal_read_back_enable(struct wal *wal, const struct wal_read_back_how *how)
{
    struct wal_read_back *back = calloc(1, sizeof *back);
    if (!back)
        return -ENOMEM;
    wal->read_back = back;
    back->wal = wal;
    back->findings = how->findings;
    back->share = how->share;
    back->seed = how->seed;
    back->run = how->run;
    back->fresh_is_zero = how->fresh_is_zero;
    back->buffer = aligned_alloc(READ_ALIGN, WAL_READ_BYTES);
    back->scratch = malloc(LOG_BLOCK_BYTES_MAX);
    task_init(&back->task, wal->writer.worker, read_back_step);
    return back->buffer && back->scratch ? 0 : -ENOMEM;
}

void wal_read_back_free(struct wal_read_back *back)
{
    if (!back)
        return;
    free(back->buffer);
    free(back->scratch);
    free(back);
}
