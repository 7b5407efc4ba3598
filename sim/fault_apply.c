/*
 * fault_apply.c - what each kind of fault does to a request.
 *
 * One row of a table per kind: a step before the transfer and one after it.  Steps before a write
 * work on a copy of the payload that goes to the device in the caller's place; "not written" means
 * that the copy holds what the device held.  Steps after a read work on the issuer's memory.
 *
 * Invariants: a step touches the touched part only, and strays; the issuer's memory is changed
 * before the transfer by FAULT_CHANGE_BEFORE alone; a truth is recorded when the touched part was
 * really transferred.
 */
#include "sim/fault_apply.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/iov.h"

#define BOUNCE_ALIGN 4096

static const struct fault_rule *rule_of(const struct fault_op *op, const struct fault_hit *hit)
{
    return &op->config->rules[hit->rule];
}

static unsigned char *bounce(size_t size_bytes)
{
    void *data = NULL;
    return posix_memalign(&data, BOUNCE_ALIGN, size_bytes) == 0 ? data : NULL;
}

/* ------------------------------------------------- the bytes of a fault, wherever they live */

static void change_flip(const struct fault_rule *rule, unsigned char *part, size_t size_bytes)
{
    if ((uint64_t)rule->a < size_bytes)
        part[rule->a] ^= (unsigned char)(1u << (rule->b & 7));
}

/* [a, a + b) of the part, as far as it exists. */
static size_t clip(const struct fault_rule *rule, size_t size_bytes)
{
    uint64_t from = (uint64_t)rule->a;
    if (from >= size_bytes)
        return 0;
    uint64_t left = size_bytes - from;
    return (uint64_t)rule->b < left ? (size_t)rule->b : (size_t)left;
}

static void change_fill(const struct fault_rule *rule, unsigned char *part, size_t size_bytes)
{
    size_t size = clip(rule, size_bytes);
    if (size > 0)
        memset(part + rule->a, (int)(rule->c & 0xff), size);
}

/* splitmix64: garbage of its own, with no relation to any generator of page bodies. */
static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void change_garbage(const struct fault_rule *rule, unsigned char *part, size_t size_bytes)
{
    size_t size = clip(rule, size_bytes);
    for (size_t i = 0; i < size; i++)
        part[(size_t)rule->a + i] = (unsigned char)scramble((uint64_t)rule->c + i);
}

typedef void change_bytes(const struct fault_rule *rule, unsigned char *part, size_t size_bytes);

/* ------------------------------------------------------------------------- before the transfer */

static int load_payload(struct fault_op *op)
{
    if (op->payload)
        return 0;
    op->payload = bounce(op->range.size_bytes);
    if (op->payload == NULL)
        return -ENOMEM;
    iov_copy_from(op->payload, op->iov, op->iov_count, 0, op->range.size_bytes);
    op->payload_iov = (struct iovec){op->payload, op->range.size_bytes};
    return 0;
}

static int load_old(struct fault_op *op)
{
    if (op->old)
        return 0;
    op->old = bounce(op->range.size_bytes);
    if (op->old == NULL)
        return -ENOMEM;
    return fault_pread(op->range.target, op->old, op->range.size_bytes, op->range.offset);
}

static int load_memory(struct fault_op *op)
{
    if (op->memory)
        return 0;
    op->memory = malloc(op->range.size_bytes);
    if (op->memory == NULL)
        return -ENOMEM;
    iov_copy_from(op->memory, op->iov, op->iov_count, 0, op->range.size_bytes);
    return 0;
}

/* Of [from, end) of the payload nothing reaches the device. */
static int keep_old(struct fault_op *op, size_t from, size_t end)
{
    if (from >= end)
        return 0;
    int r = load_payload(op);
    if (r == 0)
        r = load_old(op);
    if (r == 0)
        memcpy(op->payload + from, op->old + from, end - from);
    return r;
}

static int change_payload(struct fault_op *op, const struct fault_hit *hit, change_bytes *change)
{
    if (op->range.op != IO_WRITE)
        return 0;
    int r = load_payload(op);
    if (r == 0)
        change(rule_of(op, hit), op->payload + hit->skip, hit->size_bytes);
    return r;
}

static int before_flip(struct fault_op *op, const struct fault_hit *hit)
{
    return change_payload(op, hit, change_flip);
}

static int before_fill(struct fault_op *op, const struct fault_hit *hit)
{
    return change_payload(op, hit, change_fill);
}

static int before_garbage(struct fault_op *op, const struct fault_hit *hit)
{
    return change_payload(op, hit, change_garbage);
}

static int before_errno(struct fault_op *op, const struct fault_hit *hit)
{
    op->skip_transfer = true;
    op->skipped_result = -(ssize_t)rule_of(op, hit)->a;
    return 0;
}

static int before_short(struct fault_op *op, const struct fault_hit *hit)
{
    size_t moved = (size_t)rule_of(op, hit)->a;
    if (moved > op->range.size_bytes)
        moved = op->range.size_bytes;
    if (op->short_bytes >= 0 && (size_t)op->short_bytes < moved) /* of an earlier rule */
        moved = (size_t)op->short_bytes;
    op->short_bytes = (ssize_t)moved;
    return op->range.op == IO_WRITE ? keep_old(op, moved, op->range.size_bytes) : load_memory(op);
}

static int before_torn(struct fault_op *op, const struct fault_hit *hit)
{
    size_t written = (size_t)rule_of(op, hit)->a;
    if (written > hit->size_bytes)
        written = hit->size_bytes;
    return keep_old(op, hit->skip + written, hit->skip + hit->size_bytes);
}

static int before_lost(struct fault_op *op, const struct fault_hit *hit)
{
    if (op->range.op == IO_FLUSH) {
        op->skip_transfer = true;
        return 0;
    }
    return keep_old(op, hit->skip, hit->skip + hit->size_bytes);
}

static bool is_inside(const struct io_target *target, int64_t at, size_t size_bytes)
{
    uint64_t file_size = atomic_load(&target->size_bytes);
    return at >= 0 && (uint64_t)at <= file_size && size_bytes <= file_size - (uint64_t)at;
}

/* Bytes that go where nobody sent them; nothing happens outside the file. */
static int stray_write(struct fault_op *op, const struct fault_hit *hit,
                       const struct io_target *target, int64_t at, const unsigned char *data,
                       size_t size_bytes)
{
    if (target == NULL || !is_inside(target, at, size_bytes))
        return 0;
    struct fault_stray stray = {
        .file_uid = target->uid, .offset = (uint64_t)at, .size_bytes = size_bytes};
    pthread_mutex_lock(&op->config->lock);
    op->truths[hit - op->hits] = fault_record_stray(op->config, hit->rule, &stray);
    pthread_mutex_unlock(&op->config->lock);
    return fault_pwrite(target, data, size_bytes, (uint64_t)at);
}

static int64_t moved_by(const struct fault_op *op, const struct fault_hit *hit, int64_t distance)
{
    return (int64_t)(op->range.offset + hit->skip) + distance;
}

/* The range goes elsewhere, and its own place keeps what it held. */
static int write_elsewhere(struct fault_op *op, const struct fault_hit *hit,
                           const struct io_target *target, int64_t at)
{
    int r = load_payload(op);
    if (r == 0)
        r = stray_write(op, hit, target, at, op->payload + hit->skip, hit->size_bytes);
    /* A stray write next door may have reached into this very range: it is part of what is there.
     */
    if (r == 0 && op->old)
        r = fault_pread(op->range.target, op->old, op->range.size_bytes, op->range.offset);
    return r < 0 ? r : keep_old(op, hit->skip, hit->skip + hit->size_bytes);
}

static int before_misdirect_write(struct fault_op *op, const struct fault_hit *hit)
{
    return write_elsewhere(op, hit, op->range.target, moved_by(op, hit, rule_of(op, hit)->a));
}

static int before_duplicate(struct fault_op *op, const struct fault_hit *hit)
{
    int r = load_payload(op);
    return r < 0 ? r
                 : stray_write(op, hit, op->range.target, moved_by(op, hit, rule_of(op, hit)->a),
                               op->payload + hit->skip, hit->size_bytes);
}

/* Bytes beside the range, which nobody writes. */
static int before_neighbour(struct fault_op *op, const struct fault_hit *hit)
{
    const struct fault_rule *rule = rule_of(op, hit);
    struct fault_rule garbage = {.b = rule->b, .c = rule->c};
    size_t size = (size_t)rule->b;
    unsigned char *part = malloc(size);
    if (part == NULL)
        return -ENOMEM;
    change_garbage(&garbage, part, size);
    int r = stray_write(op, hit, op->range.target, moved_by(op, hit, rule->a), part, size);
    free(part);
    return r;
}

static int before_other_file(struct fault_op *op, const struct fault_hit *hit)
{
    const struct fault_rule *rule = rule_of(op, hit);
    return write_elsewhere(op, hit, fault_target_of(op->config, (uint16_t)rule->c),
                           moved_by(op, hit, rule->a));
}

static int64_t wrapped(const struct fault_op *op, const struct fault_hit *hit)
{
    return moved_by(op, hit, 0) % rule_of(op, hit)->a;
}

static int before_wrap(struct fault_op *op, const struct fault_hit *hit)
{
    return op->range.op == IO_WRITE ? write_elsewhere(op, hit, op->range.target, wrapped(op, hit))
                                    : 0;
}

/* The older write is done again, before this read. */
static int before_replay(struct fault_op *op, const struct fault_hit *hit)
{
    struct fault_range range = op->range;
    range.offset += hit->skip;
    range.size_bytes = hit->size_bytes;
    unsigned char *part = malloc(hit->size_bytes);
    int r = part ? fault_pread(range.target, part, range.size_bytes, range.offset) : -ENOMEM;
    if (r == 0) {
        pthread_mutex_lock(&op->config->lock);
        fault_preimage_lay(op->config, &range, part);
        pthread_mutex_unlock(&op->config->lock);
        r = fault_pwrite(range.target, part, range.size_bytes, range.offset);
    }
    free(part);
    return r;
}

static int before_keep(struct fault_op *op, const struct fault_hit *hit)
{
    (void)hit;
    return fault_kept_make(op->config, op->range.target);
}

static int before_revert(struct fault_op *op, const struct fault_hit *hit)
{
    (void)hit;
    return fault_kept_restore(op->config, op->range.target);
}

static int before_not_read(struct fault_op *op, const struct fault_hit *hit)
{
    (void)hit;
    return load_memory(op);
}

/* The issuer's memory changes under a request that is on its way: what reaches the device, too. */
static int before_change(struct fault_op *op, const struct fault_hit *hit)
{
    const struct fault_rule *rule = rule_of(op, hit);
    unsigned char *part = malloc(hit->size_bytes);
    if (part == NULL)
        return -ENOMEM;
    iov_copy_from(part, op->iov, op->iov_count, hit->skip, hit->size_bytes);
    change_flip(rule, part, hit->size_bytes);
    iov_copy_to(op->iov, op->iov_count, hit->skip, part, hit->size_bytes);
    free(part);
    if (op->payload) /* another rule copied it before */
        change_flip(rule, op->payload + hit->skip, hit->size_bytes);
    return 0;
}

static int before_delay(struct fault_op *op, const struct fault_hit *hit)
{
    op->delay_ns += (uint64_t)rule_of(op, hit)->a;
    return 0;
}

/* -------------------------------------------------------------------------- after the transfer */

static int change_memory_of_issuer(struct fault_op *op, const struct fault_hit *hit,
                                   change_bytes *change)
{
    unsigned char *part = malloc(hit->size_bytes);
    if (part == NULL)
        return -ENOMEM;
    iov_copy_from(part, op->iov, op->iov_count, hit->skip, hit->size_bytes);
    change(rule_of(op, hit), part, hit->size_bytes);
    iov_copy_to(op->iov, op->iov_count, hit->skip, part, hit->size_bytes);
    free(part);
    return 0;
}

static int change_read(struct fault_op *op, const struct fault_hit *hit, change_bytes *change)
{
    return op->range.op == IO_READ ? change_memory_of_issuer(op, hit, change) : 0;
}

static int after_flip(struct fault_op *op, const struct fault_hit *hit)
{
    return change_read(op, hit, change_flip);
}

static int after_fill(struct fault_op *op, const struct fault_hit *hit)
{
    return change_read(op, hit, change_fill);
}

static int after_garbage(struct fault_op *op, const struct fault_hit *hit)
{
    return change_read(op, hit, change_garbage);
}

static int after_change_memory(struct fault_op *op, const struct fault_hit *hit)
{
    return change_memory_of_issuer(op, hit, change_flip);
}

static int after_not_read(struct fault_op *op, const struct fault_hit *hit)
{
    iov_copy_to(op->iov, op->iov_count, hit->skip, op->memory + hit->skip, hit->size_bytes);
    return 0;
}

/* A write that repeated the one before leaves nothing stale: then nothing was done. */
static int after_stale(struct fault_op *op, const struct fault_hit *hit)
{
    unsigned char *part = malloc(2 * hit->size_bytes);
    if (part == NULL)
        return -ENOMEM;
    unsigned char *before = part + hit->size_bytes;
    struct fault_range range = op->range;
    range.offset += hit->skip;
    range.size_bytes = hit->size_bytes;
    iov_copy_from(part, op->iov, op->iov_count, hit->skip, hit->size_bytes);
    memcpy(before, part, hit->size_bytes);
    pthread_mutex_lock(&op->config->lock);
    fault_preimage_lay(op->config, &range, part);
    pthread_mutex_unlock(&op->config->lock);
    bool same = memcmp(before, part, hit->size_bytes) == 0;
    if (!same)
        iov_copy_to(op->iov, op->iov_count, hit->skip, part, hit->size_bytes);
    free(part);
    return same ? -EALREADY : 0;
}

static int read_elsewhere(struct fault_op *op, const struct fault_hit *hit, int64_t at)
{
    unsigned char *part = calloc(1, hit->size_bytes);
    if (part == NULL)
        return -ENOMEM;
    int r = at < 0 ? 0 : fault_pread(op->range.target, part, hit->size_bytes, (uint64_t)at);
    if (r == 0)
        iov_copy_to(op->iov, op->iov_count, hit->skip, part, hit->size_bytes);
    free(part);
    return r;
}

static int after_misdirect_read(struct fault_op *op, const struct fault_hit *hit)
{
    return read_elsewhere(op, hit, moved_by(op, hit, rule_of(op, hit)->a));
}

static int after_wrap(struct fault_op *op, const struct fault_hit *hit)
{
    return op->range.op == IO_READ ? read_elsewhere(op, hit, wrapped(op, hit)) : 0;
}

static int after_truncate(struct fault_op *op, const struct fault_hit *hit)
{
    return ftruncate(op->range.target->fd, (off_t)rule_of(op, hit)->a) < 0 ? -errno : 0;
}

/* ------------------------------------------------------------------------------------ the kinds */

typedef int fault_step(struct fault_op *op, const struct fault_hit *hit);

static const struct {
    fault_step *before, *after;
} kinds[] = {
    [FAULT_ERRNO] = {before_errno, NULL},
    [FAULT_SHORT] = {before_short, NULL},
    [FAULT_FLIP] = {before_flip, after_flip},
    [FAULT_FILL] = {before_fill, after_fill},
    [FAULT_GARBAGE] = {before_garbage, after_garbage},
    [FAULT_TORN] = {before_torn, NULL},
    [FAULT_LOST] = {before_lost, NULL},
    [FAULT_STALE] = {NULL, after_stale},
    [FAULT_MISDIRECT_WRITE] = {before_misdirect_write, NULL},
    [FAULT_MISDIRECT_READ] = {NULL, after_misdirect_read},
    [FAULT_NOT_READ] = {before_not_read, after_not_read},
    [FAULT_TRUNCATE] = {NULL, after_truncate},
    [FAULT_CHANGE_MEMORY] = {NULL, after_change_memory},
    [FAULT_DELAY] = {before_delay, NULL},
    [FAULT_DUPLICATE] = {before_duplicate, NULL},
    [FAULT_NEIGHBOUR] = {before_neighbour, NULL},
    [FAULT_OTHER_FILE] = {before_other_file, NULL},
    [FAULT_KEEP] = {before_keep, NULL},
    [FAULT_REVERT] = {before_revert, NULL},
    [FAULT_REPLAY] = {before_replay, NULL},
    [FAULT_WRAP] = {before_wrap, after_wrap},
    [FAULT_CHANGE_BEFORE] = {before_change, NULL},
};

static void fail(struct fault_op *op, int error)
{
    op->skip_transfer = true;
    op->skipped_result = error;
    op->hit_count = 0; /* nothing was applied */
}

static void prepare(struct fault_op *op)
{
    for (unsigned i = 0; i < op->hit_count; i++) {
        const struct fault_hit *hit = &op->hits[i];
        fault_step *before = kinds[rule_of(op, hit)->kind].before;
        int r = before ? before(op, hit) : 0;
        if (r < 0) {
            fail(op, r);
            return;
        }
    }
    if (op->payload) {
        op->req->engine_iov = &op->payload_iov;
        op->req->engine_iov_count = 1;
    }
}

struct fault_op *fault_op_create(struct fault_config *config, struct io_req *req,
                                 const struct fault_range *range, const struct fault_hit *hits,
                                 unsigned hit_count)
{
    struct fault_op *op = calloc(1, sizeof(*op));
    if (op == NULL)
        return NULL;
    op->config = config;
    op->req = req;
    op->iov = req->engine_iov;
    op->iov_count = req->engine_iov_count;
    op->range = *range;
    op->short_bytes = -1;
    op->hit_count = hit_count;
    memcpy(op->hits, hits, hit_count * sizeof(*hits));
    prepare(op);
    return op;
}

void fault_op_free(struct fault_op *op)
{
    free(op->payload);
    free(op->old);
    free(op->memory);
    free(op);
}

/* A short transfer ends before the buffer does: what the engine below read there goes away. */
static void shorten(struct fault_op *op)
{
    struct io_req *req = op->req;
    if (op->short_bytes < 0 || req->engine_result <= op->short_bytes)
        return;
    size_t moved = (size_t)op->short_bytes;
    if (op->range.op == IO_READ)
        iov_copy_to(op->iov, op->iov_count, moved, op->memory + moved,
                    op->range.size_bytes - moved);
    req->engine_result = op->short_bytes;
}

/* What was not transferred cannot be faulty. */
static bool was_transferred(const struct fault_op *op, const struct fault_hit *hit,
                            ssize_t transferred)
{
    if (op->skip_transfer || op->range.op == IO_FLUSH)
        return true;
    return transferred >= (ssize_t)(hit->skip + hit->size_bytes);
}

static void record(struct fault_op *op, const struct fault_hit *hit, uint64_t now_ns)
{
    bool error = rule_of(op, hit)->kind == FAULT_ERRNO;
    pthread_mutex_lock(&op->config->lock);
    struct fault_truth *truth = op->truths[hit - op->hits];
    if (truth == NULL)
        truth = fault_record(op->config);
    if (truth) {
        truth->rule = hit->rule;
        truth->op = op->range.op;
        truth->file_uid = op->range.target->uid;
        truth->offset = op->range.offset + hit->skip;
        truth->size_bytes = hit->size_bytes;
        truth->time_ns = now_ns;
        truth->fate = error ? FAULT_MET : fault_fate_now(op->config, op->req);
    }
    pthread_mutex_unlock(&op->config->lock);
}

void fault_op_finish(struct fault_op *op, uint64_t now_ns)
{
    struct io_req *req = op->req;
    req->engine_iov = op->iov;
    req->engine_iov_count = op->iov_count;
    if (op->skip_transfer)
        req->engine_result = op->skipped_result;
    ssize_t transferred = req->engine_result;
    bool failed = transferred < 0 && !op->skip_transfer;
    for (unsigned i = 0; i < op->hit_count && !failed; i++) {
        const struct fault_hit *hit = &op->hits[i];
        if (!was_transferred(op, hit, transferred))
            continue;
        fault_step *after = kinds[rule_of(op, hit)->kind].after;
        if (after && !op->skip_transfer && after(op, hit) < 0)
            continue;
        record(op, hit, now_ns);
    }
    shorten(op);
}
