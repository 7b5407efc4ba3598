/* wal.c - appending, space, waiting; see wal.h.  The log writer is in wal_writer.c. */
#include "sim/wal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/wal_growth.h"
#include "sim/wal_read_back.h"
#include "sim/wal_space.h"
#include "verify/checksum.h"

#define LOG_BUFFER_ALIGN 4096

/* ---- VLFs and space ---- */

static struct wal_vlf *head_vlf(struct wal *wal)
{
    return &wal->vlfs[wal->head];
}

static bool head_has_room(struct wal *wal)
{
    return head_vlf(wal)->used_bytes + LOG_BLOCK_BYTES_MAX <= head_vlf(wal)->header.size_bytes;
}

/* What the open block will take of its VLF: its records' upper bounds, but many small ones share
 * sectors, and no block is larger than that. */
static uint64_t open_bytes(const struct wal *wal)
{
    return wal->open_cost_bytes < LOG_BLOCK_BYTES_MAX ? wal->open_cost_bytes : LOG_BLOCK_BYTES_MAX;
}

static uint64_t free_bytes(struct wal *wal)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < wal->vlf_count; i++)
        sum += wal->vlfs[i].in_use ? 0 : wal_vlf_usable_bytes(&wal->vlfs[i].header);
    uint64_t head_end = head_vlf(wal)->used_bytes + LOG_BLOCK_BYTES_MAX;
    if (head_end < head_vlf(wal)->header.size_bytes)
        sum += head_vlf(wal)->header.size_bytes - head_end;
    return sum > open_bytes(wal) ? sum - open_bytes(wal) : 0;
}

uint64_t wal_transaction_max(const struct wal *wal)
{
    return wal_space_transaction_max(wal->usable_bytes);
}

unsigned wal_used_permille(struct wal *wal)
{
    pthread_mutex_lock(&wal->lock);
    uint64_t left = free_bytes(wal);
    left = left > wal->reserved_bytes ? left - wal->reserved_bytes : 0;
    unsigned used = (unsigned)(1000 - left * 1000 / wal->capacity_bytes);
    pthread_mutex_unlock(&wal->lock);
    return used;
}

bool wal_space_wanted(struct wal *wal)
{
    pthread_mutex_lock(&wal->lock);
    bool wanted = wal->space_waiters.head != NULL;
    pthread_mutex_unlock(&wal->lock);
    return wanted;
}

/* ---- buffers and blocks, under the lock ---- */

static struct log_buffer *buffer_take(struct wal *wal)
{
    struct log_buffer *buffer = wal->free_buffers;
    assert(buffer && buffer->state == LOG_BUFFER_FREE);
    wal->free_buffers = buffer->next;
    wal->free_count--;
    buffer->next = NULL;
    return buffer;
}

static void fifo_put(struct wal *wal, struct log_buffer *buffer)
{
    buffer->state = LOG_BUFFER_SEALED;
    buffer->next = NULL;
    if (wal->on_memory_changed)
        buffer->sum = xxh3_64(buffer->bytes, buffer->size_bytes);
    if (wal->last)
        wal->last->next = buffer;
    else
        wal->first = buffer;
    wal->last = buffer;
}

/* Begin the next use of a VLF: its header goes through the same queue, ahead of its first block. */
static void vlf_activate(struct wal *wal, size_t index)
{
    struct wal_vlf *vlf = &wal->vlfs[index];
    assert(!vlf->in_use);
    wal->head = index;
    wal->overwritten_unread += vlf->verified ? 0 : vlf->blocks;
    vlf->verified = false;
    vlf->in_use = true;
    vlf->blocks = 0;
    vlf->start_crc = wal->chain_crc;
    vlf->header.fseq = wal->next_fseq++;
    vlf->header.use_count++;
    head_vlf(wal)->used_bytes = VLF_HEADER_BYTES;

    struct log_buffer *buffer = buffer_take(wal);
    vlf_header_build(buffer->bytes, &vlf->header);
    buffer->is_header = true;
    buffer->file = &wal->files[vlf->header.file];
    buffer->due_ns = 0;
    buffer->records = 0;
    buffer->size_bytes = VLF_HEADER_BYTES;
    buffer->file_offset = vlf->header.offset;
    buffer->end_position = (uint64_t)vlf->header.fseq << 32 | VLF_HEADER_BYTES / LOG_SECTOR_BYTES;
    fifo_put(wal, buffer);
}

/* Is a to be used before b: never used ones first, in the order of the files, then the oldest.  So
 * the FSeqNos in the files have no gaps, which would look like lost VLFs. */
static bool vlf_comes_first(const struct vlf_header *a, const struct vlf_header *b)
{
    if (a->fseq != b->fseq)
        return a->fseq < b->fseq;
    return a->file != b->file ? a->file < b->file : a->offset < b->offset;
}

static void vlf_next(struct wal *wal)
{
    size_t next = wal->vlf_count;
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (!wal->vlfs[i].in_use &&
            (next == wal->vlf_count ||
             vlf_comes_first(&wal->vlfs[i].header, &wal->vlfs[next].header)))
            next = i;
    assert(next != wal->vlf_count); /* reservations guarantee a free VLF */
    vlf_activate(wal, next);
}

static void block_open(struct wal *wal)
{
    if (!head_has_room(wal)) {
        vlf_next(wal);
        if (wal->space_waiters.head)
            wal_space_lacks(wal);
    }
    wal->open = buffer_take(wal);
    wal->open->state = LOG_BUFFER_OPEN;
    wal->open->is_header = false;
    wal->open->due_ns = 0;
    log_builder_begin(&wal->builder, wal->open->bytes);
}

uint64_t wal_open_position(const struct wal *wal)
{
    const struct wal_vlf *head = &wal->vlfs[wal->head];
    return (uint64_t)head->header.fseq << 32 | head->used_bytes / LOG_SECTOR_BYTES;
}

void wal_seal_open(struct wal *wal)
{
    struct log_buffer *buffer = wal->open;
    struct wal_vlf *vlf = head_vlf(wal);
    buffer->records = wal->builder.record_count - 1; /* without the chain record */
    struct log_block_place place = {
        .fseq = vlf->header.fseq,
        .block = (uint32_t)(head_vlf(wal)->used_bytes / LOG_SECTOR_BYTES),
        .parity = vlf_parity(vlf->header.use_count),
        .previous_bytes = wal->previous_bytes,
        .sector_bytes = wal->sector_bytes,
        .previous_crc = wal->chain_crc,
    };
    if (!buffer->due_ns)
        buffer->due_ns = clock_now_ns(wal->clock);
    buffer->size_bytes = log_builder_seal(&wal->builder, &place, &wal->chain_crc);
    buffer->crc = wal->chain_crc;
    buffer->file = &wal->files[vlf->header.file];
    buffer->file_offset = vlf->header.offset + head_vlf(wal)->used_bytes;
    head_vlf(wal)->used_bytes += buffer->size_bytes;
    assert(head_vlf(wal)->used_bytes <= vlf->header.size_bytes);
    buffer->end_position =
        (uint64_t)vlf->header.fseq << 32 | head_vlf(wal)->used_bytes / LOG_SECTOR_BYTES;
    wal->previous_bytes = (uint16_t)buffer->size_bytes;
    vlf->blocks++;
    wal->open = NULL;
    wal->lazy_due_ns = 0;
    wal->open_cost_bytes = 0;
    fifo_put(wal, buffer);
}

bool wal_in_buffers(struct wal *wal, uint64_t position)
{
    bool found = false;
    pthread_mutex_lock(&wal->lock);
    found = wal->open && position == wal_open_position(wal);
    for (unsigned i = 0; i < WAL_BUFFERS && !found; i++) {
        const struct log_buffer *buffer = &wal->buffers[i];
        uint64_t start = buffer->end_position - buffer->size_bytes / LOG_SECTOR_BYTES;
        found =
            buffer != wal->open && !buffer->is_header && buffer->size_bytes && start == position;
    }
    pthread_mutex_unlock(&wal->lock);
    return found;
}

/* ---- append ---- */

static void xact_list_add(struct wal *wal, struct xact *xact)
{
    xact->next = NULL;
    xact->previous = wal->newest;
    if (wal->newest)
        wal->newest->next = xact;
    else
        wal->oldest = xact;
    wal->newest = xact;
}

static void xact_list_remove(struct wal *wal, struct xact *xact)
{
    *(xact->previous ? &xact->previous->next : &wal->oldest) = xact->next;
    *(xact->next ? &xact->next->previous : &wal->newest) = xact->previous;
}

/* Open a block with room for the record; buffers_suffice() was asked before. */
static void block_for(struct wal *wal, size_t payload_bytes)
{
    if (wal->open && !log_builder_fits(&wal->builder, payload_bytes)) {
        wal_seal_open(wal);
        task_wake(&wal->writer);
    }
    if (!wal->open)
        block_open(wal);
}

/* Each record may need a new block, and each new block a VLF header. */
static bool buffers_suffice(struct wal *wal, const struct log_record *records, unsigned count)
{
    if (wal->open && count == 1 && log_builder_fits(&wal->builder, records[0].payload_bytes))
        return true;
    return wal->free_count >= 2 * count;
}

static struct lsn append_locked(struct wal *wal, struct xact *xact, const struct log_record *record)
{
    struct lsn lsn = {
        .fseq = head_vlf(wal)->header.fseq,
        .block = (uint32_t)(head_vlf(wal)->used_bytes / LOG_SECTOR_BYTES),
        .slot = (uint16_t)log_builder_append(&wal->builder, record),
    };
    size_t cost = log_record_cost(record->payload_bytes, wal->sector_bytes);
    wal->open_cost_bytes += cost;
    wal->records++;
    if (!xact)
        return lsn;
    assert(xact->reserved_bytes >= cost && wal->reserved_bytes >= cost);
    xact->reserved_bytes -= cost;
    wal->reserved_bytes -= cost;
    if (!xact->begin_position) {
        xact->begin_position = lsn_position(lsn);
        xact_list_add(wal, xact);
    }
    xact->last = lsn;
    return lsn;
}

/* Records outside a transaction come from the headroom; a checkpoint that fails again and again
 * must not eat what transactions have reserved. */
static bool headroom_suffices(struct wal *wal, const struct log_record *records, unsigned count)
{
    uint64_t cost = 0;
    for (unsigned i = 0; i < count; i++)
        cost += log_record_cost(records[i].payload_bytes, wal->sector_bytes);
    return free_bytes(wal) >= wal->reserved_bytes + cost;
}

uint32_t wal_oldest_fseq(const struct wal *wal)
{
    uint32_t oldest = wal->vlfs[wal->head].header.fseq;
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (wal->vlfs[i].in_use && !wal->vlfs[i].reading && wal->vlfs[i].header.fseq < oldest)
            oldest = wal->vlfs[i].header.fseq;
    return oldest;
}

static bool checkpoint_frees(const struct wal *wal)
{
    return wal_reuse_wait_locked(wal) == WAL_REUSE_CHECKPOINT;
}

bool wal_checkpoint_frees(struct wal *wal)
{
    pthread_mutex_lock(&wal->lock);
    bool frees = checkpoint_frees(wal);
    pthread_mutex_unlock(&wal->lock);
    return frees;
}

enum wal_room wal_checkpoint_room(struct wal *wal, uint64_t bytes)
{
    pthread_mutex_lock(&wal->lock);
    uint64_t needed = checkpoint_frees(wal) ? bytes : 2 * bytes;
    bool room = free_bytes(wal) >= wal->reserved_bytes + needed;
    bool transactions = wal->oldest || wal->reserved_bytes > 0 || wal->holds;
    if (!room && !transactions) /* the transactions that come will find the log larger */
        transactions = wal_growth_ask(wal);
    pthread_mutex_unlock(&wal->lock);
    if (room)
        return WAL_ROOM;
    return transactions ? WAL_ROOM_LATER : WAL_ROOM_NEVER;
}

int wal_append(struct wal *wal, struct xact *xact, const struct log_record *records, unsigned count,
               struct lsn *lsn, struct task *task)
{
    int error = 0;
    pthread_mutex_lock(&wal->lock);
    if (atomic_load(&wal->failed)) {
        error = -EIO;
    } else if (!buffers_suffice(wal, records, count)) {
        wait_list_add(&wal->buffer_waiters, task);
        error = -EAGAIN;
    } else if (!xact && !headroom_suffices(wal, records, count)) {
        error = -ENOSPC;
    }
    for (unsigned i = 0; i < count && !error; i++) {
        assert(records[i].payload_bytes <= LOG_RECORD_BYTES_MAX);
        block_for(wal, records[i].payload_bytes);
        *lsn = append_locked(wal, xact, &records[i]);
    }
    pthread_mutex_unlock(&wal->lock);
    return error;
}

/* ---- reservations ---- */

enum wal_reserve wal_reserve_or_fail(struct wal *wal, struct xact *xact, uint64_t bytes,
                                     struct task *task)
{
    enum wal_reserve result = WAL_RESERVED;
    pthread_mutex_lock(&wal->lock);
    assert(bytes <= wal_transaction_max(wal));
    bool enough = free_bytes(wal) >= wal->reserved_bytes + bytes + WAL_HEADROOM_BYTES;
    if (enough || atomic_load(&wal->failed)) { /* a failed log is noticed at the first append */
        memset(xact, 0, sizeof *xact);
        xact->id = ++wal->next_xact_id;
        xact->reserved_bytes = bytes;
        wal->reserved_bytes += bytes;
        wal_space_found(wal);
    } else if (wal->refusing) {
        result = WAL_RESERVE_FULL;
    } else {
        wait_list_add(&wal->space_waiters, task);
        wal_space_lacks(wal);
        result = WAL_RESERVE_WAIT;
    }
    if (result != WAL_RESERVE_WAIT) /* something else woke it, and it waits no longer */
        wait_list_remove(&wal->space_waiters, task);
    pthread_mutex_unlock(&wal->lock);
    return result;
}

bool wal_reserve(struct wal *wal, struct xact *xact, uint64_t bytes, struct task *task)
{
    enum wal_reserve result = wal_reserve_or_fail(wal, xact, bytes, task);
    if (result == WAL_RESERVE_FULL) { /* it waits on all the same */
        pthread_mutex_lock(&wal->lock);
        wait_list_add(&wal->space_waiters, task);
        pthread_mutex_unlock(&wal->lock);
    }
    return result == WAL_RESERVED;
}

void wal_end(struct wal *wal, struct xact *xact)
{
    pthread_mutex_lock(&wal->lock);
    wal->reserved_bytes -= xact->reserved_bytes;
    xact->reserved_bytes = 0;
    if (xact->begin_position)
        xact_list_remove(wal, xact);
    xact->begin_position = 0;
    wait_list_wake_all(&wal->space_waiters);
    pthread_mutex_unlock(&wal->lock);
}

uint64_t wal_oldest_active(struct wal *wal)
{
    pthread_mutex_lock(&wal->lock);
    uint64_t position = wal->oldest ? wal->oldest->begin_position : UINT64_MAX;
    pthread_mutex_unlock(&wal->lock);
    return position;
}

void wal_release(struct wal *wal, uint64_t min_position)
{
    pthread_mutex_lock(&wal->lock);
    wal->checkpoint_position = min_position;
    wal_release_locked(wal);
    pthread_mutex_unlock(&wal->lock);
}

/* ---- durability ---- */

bool wal_wait_durable(struct wal *wal, uint64_t position, struct wal_waiter *waiter,
                      struct task *task)
{
    if (wal_is_durable(wal, position))
        return true;
    pthread_mutex_lock(&wal->lock);
    bool durable = wal_is_durable(wal, position);
    if (!durable && !waiter->queued && !atomic_load(&wal->failed)) {
        waiter->position = position;
        waiter->task = task;
        waiter->queued = true;
        waiter->next = wal->waiters;
        wal->waiters = waiter;
        if (position >= wal->flush_wanted)
            wal->flush_wanted = position;
        if (wal->open && !wal->open->due_ns && position >= wal_open_position(wal))
            wal->open->due_ns = clock_now_ns(wal->clock);
        task_wake(&wal->writer);
    }
    pthread_mutex_unlock(&wal->lock);
    return durable;
}

void wal_commit_lazily(struct wal *wal, uint64_t flush_ns)
{
    if (!flush_ns)
        return;
    pthread_mutex_lock(&wal->lock);
    if (wal->open && !wal->lazy_due_ns) { /* else it is being written, or its time is set */
        wal->lazy_due_ns = clock_now_ns(wal->clock) + flush_ns;
        task_wake(&wal->writer);
    }
    pthread_mutex_unlock(&wal->lock);
}

void wal_wait_forget(struct wal *wal, struct wal_waiter *waiter)
{
    pthread_mutex_lock(&wal->lock);
    struct wal_waiter **link = &wal->waiters;
    while (*link && *link != waiter)
        link = &(*link)->next;
    if (*link)
        *link = waiter->next;
    waiter->queued = false;
    pthread_mutex_unlock(&wal->lock);
}

/* ---- life ---- */

void wal_space_learn(struct wal *wal, const struct vlf_header *vlfs, size_t count)
{
    struct wal_space space = {wal->capacity_bytes, wal->usable_bytes, wal->largest_bytes};
    wal_space_add(&space, vlfs, count);
    wal->capacity_bytes = space.capacity_bytes;
    wal->usable_bytes = space.usable_bytes;
    wal->largest_bytes = space.largest_bytes;
}

static int vlfs_init(struct wal *wal)
{
    struct vlf_header headers[VLF_MAX];
    wal->vlfs = calloc((size_t)VLF_MAX * wal->file_count, sizeof *wal->vlfs);
    if (!wal->vlfs)
        return -ENOMEM;
    wal->vlf_capacity = (size_t)VLF_MAX * wal->file_count;
    for (unsigned file = 0; file < wal->file_count; file++) {
        size_t count = vlf_layout(wal->files[file].target.size_bytes, headers);
        if (count < 2)
            return -EINVAL;
        for (size_t i = 0; i < count; i++) {
            headers[i].file = file;
            wal->vlfs[wal->vlf_count++].header = headers[i];
        }
        wal_space_learn(wal, headers, count);
    }
    return 0;
}

static int buffers_init(struct wal *wal)
{
    wal->memory = aligned_alloc(LOG_BUFFER_ALIGN, (size_t)WAL_BUFFERS * LOG_BLOCK_BYTES_MAX);
    if (!wal->memory)
        return -ENOMEM;
    for (unsigned i = WAL_BUFFERS; i-- > 0;) {
        struct log_buffer *buffer = &wal->buffers[i];
        buffer->wal = wal;
        buffer->bytes = wal->memory + (size_t)i * LOG_BLOCK_BYTES_MAX;
        buffer->next = wal->free_buffers;
        wal->free_buffers = buffer;
    }
    wal->free_count = WAL_BUFFERS;
    return 0;
}

int wal_init(struct wal *wal, struct clock *clock, struct ledger *ledger, struct file *files,
             unsigned file_count, const struct run_identity *run, struct worker *worker)
{
    return wal_init_from(wal, clock, ledger, files, file_count, run, worker,
                         run_first_fseq(run->run_id));
}

int wal_init_from(struct wal *wal, struct clock *clock, struct ledger *ledger, struct file *files,
                  unsigned file_count, const struct run_identity *run, struct worker *worker,
                  uint32_t first_fseq)
{
    memset(wal, 0, sizeof *wal);
    wal->clock = clock;
    wal->ledger = ledger;
    wal->files = files;
    wal->write_stream = STREAM_log_write;
    wal->file_count = file_count;
    for (unsigned i = 0; i < file_count; i++)
        if (files[i].mark.sector_bytes > wal->sector_bytes)
            wal->sector_bytes = files[i].mark.sector_bytes;
    wal_set_limits(wal, WAL_OUTSTANDING_MAX, WAL_OUTSTANDING_BYTES);
    pthread_mutex_init(&wal->lock, NULL);
    int error = vlfs_init(wal);
    if (!error)
        error = buffers_init(wal);
    if (error) {
        wal_free(wal);
        return error;
    }
    wal->next_fseq = first_fseq;
    wal->chain_crc = run_chain_start(run->run_id, wal_uid(wal));
    task_init(&wal->writer, worker, wal_writer_step);
    wal->writer.name = "log writer";
    pthread_mutex_lock(&wal->lock);
    vlf_activate(wal, 0);
    atomic_store(&wal->durable_end, 0);
    wal->checkpoint_position = (uint64_t)wal->vlfs[0].header.fseq << 32;
    pthread_mutex_unlock(&wal->lock);
    task_start(&wal->writer);
    return 0;
}

void wal_set_limits(struct wal *wal, unsigned writes, size_t bytes)
{
    assert(writes >= 1 && writes <= WAL_OUTSTANDING_MAX);
    wal->outstanding_max = writes;
    wal->outstanding_bytes_max = bytes;
}

void wal_free(struct wal *wal)
{
    if (!wal->files)
        return;
    free(wal->vlfs);
    wal_growth_free(wal->growth);
    wal_read_back_free(wal->read_back);
    free(wal->memory);
    pthread_mutex_destroy(&wal->lock);
    memset(wal, 0, sizeof *wal);
}

void wal_stop(struct wal *wal, int error)
{
    pthread_mutex_lock(&wal->lock);
    if (!atomic_load(&wal->failed)) {
        wal->error = error;
        atomic_store(&wal->failed, true);
    }
    pthread_mutex_unlock(&wal->lock);
    task_wake(&wal->writer);
}

void wal_close(struct wal *wal)
{
    atomic_store(&wal->closing, true);
    task_wake(&wal->writer);
}

uint64_t wal_file_live_blocks(const struct wal *wal, unsigned file)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < wal->vlf_count; i++)
        sum += wal->vlfs[i].header.file == file ? wal->vlfs[i].blocks : 0;
    return sum;
}

uint64_t wal_live_blocks(const struct wal *wal)
{
    uint64_t sum = 0;
    for (unsigned file = 0; file < wal->file_count; file++)
        sum += wal_file_live_blocks(wal, file);
    return sum;
}
