/* wal_growth.c - see wal_growth.h. */
#include "sim/wal_growth.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/wal_space.h"

#define CHUNK_BYTES (1024 * 1024) /* of one write, as at creation */

enum growth_state {
    GROWTH_IDLE,
    GROWTH_SPACE,
    GROWTH_SPACE_FLUSH,
    GROWTH_PAGE_0,
    GROWTH_PAGE_0_FLUSH,
};

struct grown_file {
    struct wal_growth_rule rule;
    bool failed; /* it does not grow any more */
};

struct wal_growth {
    struct task task;
    struct wal *wal;
    struct grown_file *files;
    enum vlf_rule vlf_rule;
    uint8_t fresh_byte;
    void (*on_growth)(struct wal *wal, enum wal_growth_event event);
    bool asked; /* under the log's lock, as is state for others */
    enum growth_state state;
    struct wal_growth_now now;
    struct vlf_header vlfs[VLF_MAX];
    size_t vlf_count;
    uint64_t at; /* written up to here */
    size_t vlf;  /* that is being written */
    bool in_flight;
    uint8_t *buffer;
    struct iovec iov;
    struct io_req req;
};

/* ---- room ---- */

/* How far the file may grow now; 0 if it may not. */
static uint64_t growth_bytes(const struct wal *wal, const struct wal_growth *growth, unsigned file)
{
    const struct grown_file *grown = &growth->files[file];
    uint64_t size = (uint64_t)wal->files[file].size_pages * PAGE_BYTES;
    uint64_t increment = grown->rule.increment_bytes;
    if (grown->failed || increment == 0 || size >= grown->rule.max_bytes)
        return 0;
    uint64_t left = (grown->rule.max_bytes - size) / VLF_HEADER_BYTES * VLF_HEADER_BYTES;
    uint64_t bytes = increment < left ? increment : left;
    return bytes >= VLF_BYTES_MIN ? bytes : 0;
}

/* The file in which the log stands, else the next one; file_count if none can. */
static unsigned file_to_grow(const struct wal *wal, const struct wal_growth *growth)
{
    unsigned head = wal->vlfs[wal->head].header.file;
    for (unsigned i = 0; i < wal->file_count; i++) {
        unsigned file = (head + i) % wal->file_count;
        if (growth_bytes(wal, growth, file))
            return file;
    }
    return wal->file_count;
}

bool wal_growth_ask(struct wal *wal)
{
    struct wal_growth *growth = wal->growth;
    if (!growth)
        return false;
    if (growth->asked || growth->state != GROWTH_IDLE)
        return true;
    if (file_to_grow(wal, growth) == wal->file_count ||
        wal->vlf_count + VLF_MAX > wal->vlf_capacity)
        return false;
    growth->asked = true;
    task_wake(&growth->task);
    return true;
}

bool wal_growth_is_busy(const struct wal *wal)
{
    return wal->growth && (wal->growth->asked || wal->growth->state != GROWTH_IDLE);
}

const struct wal_growth_now *wal_growth_now(const struct wal *wal)
{
    return &wal->growth->now;
}

/* ---- begin ---- */

static struct file *file_of(const struct wal_growth *growth)
{
    return &growth->wal->files[growth->now.file];
}

static uint64_t log_bytes(const struct wal *wal)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < wal->file_count; i++)
        sum += (uint64_t)wal->files[i].size_pages * PAGE_BYTES;
    return sum;
}

static struct ledger_file *ledger_row(const struct wal_growth *growth)
{
    struct ledger *ledger = growth->wal->ledger;
    return ledger ? ledger_file_at(ledger, file_of(growth)->mark.file_uid) : NULL;
}

/* Under the lock. */
static void growth_lay_out(struct wal_growth *growth)
{
    struct wal *wal = growth->wal;
    unsigned file = file_to_grow(wal, growth);
    uint64_t position = wal_open_position(wal);
    uint64_t bytes = growth_bytes(wal, growth, file);
    uint64_t from = (uint64_t)wal->files[file].size_pages * PAGE_BYTES;
    growth->now =
        (struct wal_growth_now){.file = file, .from_bytes = from, .to_bytes = from + bytes};
    struct vlf_growth how = {
        .rule = growth->vlf_rule,
        .file_bytes = from,
        .log_bytes = log_bytes(wal),
        .growth_bytes = bytes,
        .create_lsn = {(uint32_t)(position >> 32), (uint32_t)position, 1},
    };
    growth->vlf_count = vlf_layout_growth(&how, growth->vlfs);
    assert(growth->vlf_count > 0);
    for (size_t i = 0; i < growth->vlf_count; i++)
        growth->vlfs[i].file = file;
    growth->at = from;
    growth->vlf = 0;
}

/* False if there is nothing to do. */
static bool growth_begin(struct wal_growth *growth)
{
    struct wal *wal = growth->wal;
    pthread_mutex_lock(&wal->lock);
    bool begins = growth->asked && !atomic_load(&wal->failed) && !atomic_load(&wal->closing);
    growth->asked = false;
    if (begins) {
        growth_lay_out(growth);
        growth->state = GROWTH_SPACE;
    }
    pthread_mutex_unlock(&wal->lock);
    if (!begins)
        return false;
    struct ledger_file *row = ledger_row(growth);
    if (row)
        row->size_pages_issued = (uint32_t)(growth->now.to_bytes / PAGE_BYTES);
    atomic_store(&file_of(growth)->target.size_bytes, growth->now.to_bytes);
    if (growth->on_growth)
        growth->on_growth(wal, WAL_GROWTH_BEGINS);
    return true;
}

/* ---- requests ---- */

static void request_done(struct io_req *req)
{
    struct wal_growth *growth = req->context;
    growth->in_flight = false;
    task_wake(&growth->task);
}

static void request_send(struct wal_growth *growth, enum io_op op, uint64_t offset, size_t bytes)
{
    struct io_req *req = &growth->req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    growth->iov = (struct iovec){growth->buffer, bytes};
    req->op = op;
    req->stream = op == IO_FLUSH ? STREAM_log_flush : STREAM_growth_write;
    req->target = &file_of(growth)->target;
    req->done = request_done;
    req->context = growth;
    if (op == IO_WRITE) {
        req->offset = offset;
        req->iov = &growth->iov;
        req->iov_count = 1;
    }
    growth->in_flight = true;
    io_submit(&growth->task.worker->io, req);
}

/* The next piece, which lies in one VLF. */
static void space_send(struct wal_growth *growth)
{
    const struct vlf_header *vlf = &growth->vlfs[growth->vlf];
    uint64_t left = vlf->offset + vlf->size_bytes - growth->at;
    size_t bytes = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
    memset(growth->buffer, growth->fresh_byte, bytes);
    if (growth->at == vlf->offset)
        vlf_header_build(growth->buffer, vlf);
    request_send(growth, IO_WRITE, growth->at, bytes);
}

static void page_0_send(struct wal_growth *growth)
{
    struct file *file = file_of(growth);
    file->mark.size_pages = (uint32_t)(growth->now.to_bytes / PAGE_BYTES);
    syspage_build_file_header(growth->buffer, &file->mark);
    syspage_seal(growth->buffer, (struct lsn){0});
    request_send(growth, IO_WRITE, 0, PAGE_BYTES);
}

/* ---- end ---- */

static void growth_end(struct wal_growth *growth, enum wal_growth_event event)
{
    struct wal *wal = growth->wal;
    if (growth->on_growth)
        growth->on_growth(wal, event);
    pthread_mutex_lock(&wal->lock);
    growth->state = GROWTH_IDLE;
    wait_list_wake_all(&wal->space_waiters);
    pthread_mutex_unlock(&wal->lock);
    task_wake(&wal->writer); /* it may wait for us to end */
}

static void growth_succeed(struct wal_growth *growth)
{
    struct wal *wal = growth->wal;
    struct file *file = file_of(growth);
    struct ledger_file *row = ledger_row(growth);
    uint32_t pages = (uint32_t)(growth->now.to_bytes / PAGE_BYTES);
    if (row)
        row->size_pages_acked = pages;
    pthread_mutex_lock(&wal->lock);
    file->size_pages = pages;
    for (size_t i = 0; i < growth->vlf_count; i++)
        wal->vlfs[wal->vlf_count++] = (struct wal_vlf){.header = growth->vlfs[i]};
    wal_space_learn(wal, growth->vlfs, growth->vlf_count);
    pthread_mutex_unlock(&wal->lock);
    relaxed_add(&growth->task.worker->stats.counters.log_growths, 1);
    growth_end(growth, WAL_GROWTH_ENDS);
}

/* Page 0 on the device still says the old size, and the file gets it back; or nobody knows what it
 * says, and the file stays as long as the larger of both. */
static void growth_fail(struct wal_growth *growth)
{
    struct file *file = file_of(growth);
    bool page_0_in_doubt = growth->state > GROWTH_SPACE_FLUSH;
    growth->now.error = growth->req.result;
    growth->now.error_offset = growth->req.op == IO_FLUSH ? 0 : growth->req.offset;
    if (!page_0_in_doubt && ftruncate(file->target.fd, (off_t)growth->now.from_bytes) == 0) {
        struct ledger_file *row = ledger_row(growth);
        atomic_store(&file->target.size_bytes, growth->now.from_bytes);
        if (row)
            row->size_pages_issued = row->size_pages_acked;
    }
    pthread_mutex_lock(&growth->wal->lock);
    growth->files[growth->now.file].failed = true;
    pthread_mutex_unlock(&growth->wal->lock);
    growth_end(growth, WAL_GROWTH_FAILED);
}

/* ---- the task ---- */

static bool all_written(struct wal_growth *growth)
{
    const struct vlf_header *vlf = &growth->vlfs[growth->vlf];
    growth->at += growth->iov.iov_len;
    if (growth->at == vlf->offset + vlf->size_bytes)
        growth->vlf++;
    return growth->vlf == growth->vlf_count;
}

/* What was asked for is done: the next. */
static void growth_next(struct wal_growth *growth)
{
    bool durable = !io_target_is_flushed(&file_of(growth)->target);
    if (growth->state == GROWTH_SPACE && !all_written(growth)) {
        space_send(growth);
        return;
    }
    growth->state++;
    if (durable && growth->state != GROWTH_PAGE_0) /* no flush is needed */
        growth->state++;
    if (growth->state > GROWTH_PAGE_0_FLUSH)
        growth_succeed(growth);
    else if (growth->state == GROWTH_PAGE_0)
        page_0_send(growth);
    else
        request_send(growth, IO_FLUSH, 0, 0);
}

static enum task_result growth_step(struct task *task)
{
    struct wal_growth *growth = (struct wal_growth *)task; /* first member */
    if (growth->in_flight)
        return TASK_PARK;
    if (growth->state == GROWTH_IDLE) {
        if (growth_begin(growth))
            space_send(growth);
    } else if (growth->req.result) {
        growth_fail(growth);
    } else {
        growth_next(growth);
    }
    return growth->state == GROWTH_IDLE && growth->asked ? TASK_AGAIN : TASK_PARK;
}

/* ---- life ---- */

static uint64_t rounded(uint64_t bytes)
{
    if (bytes && bytes < WAL_GROWTH_BYTES_MIN)
        return WAL_GROWTH_BYTES_MIN;
    return (bytes + WAL_GROWTH_GRAIN - 1) / WAL_GROWTH_GRAIN * WAL_GROWTH_GRAIN;
}

/* VLFs that the growths of a file can make at most. */
static uint64_t vlfs_to_come(const struct wal *wal, const struct wal_growth *growth, unsigned file)
{
    uint64_t bytes = growth_bytes(wal, growth, file);
    uint64_t size = (uint64_t)wal->files[file].size_pages * PAGE_BYTES;
    if (!bytes)
        return 0;
    return ((growth->files[file].rule.max_bytes - size) / bytes + 1) * VLF_MAX;
}

static int vlfs_reserve(struct wal *wal, const struct wal_growth *growth)
{
    uint64_t capacity = wal->vlf_count;
    for (unsigned i = 0; i < wal->file_count; i++)
        capacity += vlfs_to_come(wal, growth, i);
    if (capacity > WAL_VLFS_MAX)
        capacity = WAL_VLFS_MAX;
    struct wal_vlf *vlfs = realloc(wal->vlfs, (size_t)capacity * sizeof *vlfs);
    if (!vlfs)
        return -ENOMEM;
    wal->vlfs = vlfs;
    wal->vlf_capacity = (size_t)capacity;
    return 0;
}

int wal_growth_enable(struct wal *wal, const struct wal_growth_how *how)
{
    struct wal_growth *growth = calloc(1, sizeof *growth);
    if (!growth)
        return -ENOMEM;
    wal->growth = growth;
    growth->wal = wal;
    growth->vlf_rule = how->vlf_rule;
    growth->fresh_byte = how->fresh_byte;
    growth->on_growth = how->on_growth;
    growth->files = calloc(wal->file_count, sizeof *growth->files);
    growth->buffer = aligned_alloc(4096, CHUNK_BYTES);
    if (!growth->files || !growth->buffer)
        return -ENOMEM;
    for (unsigned i = 0; i < wal->file_count; i++) {
        growth->files[i].rule = how->rules[i];
        growth->files[i].rule.increment_bytes = rounded(how->rules[i].increment_bytes);
    }
    task_init(&growth->task, wal->writer.worker, growth_step);
    return vlfs_reserve(wal, growth);
}

void wal_growth_free(struct wal_growth *growth)
{
    if (!growth)
        return;
    free(growth->files);
    free(growth->buffer);
    free(growth);
}
