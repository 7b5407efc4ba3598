/*
 * wal_hold.c - what keeps a VLF from being used again, and the durable log that a backup reads.
 *
 * MinLSN is the oldest of: the begin of the last complete checkpoint, the oldest active
 * transaction, what a backup holds.  A VLF whose records all precede it is free.
 */
#include <assert.h>

#include "sim/wal_read_back.h"

uint64_t wal_hold_position(const struct wal *wal)
{
    uint64_t oldest = UINT64_MAX;
    for (const struct wal_hold *hold = wal->holds; hold; hold = hold->next)
        oldest = hold->position < oldest ? hold->position : oldest;
    return oldest;
}

/* Without the holds. */
static uint64_t needed_position(const struct wal *wal)
{
    uint64_t position = wal->checkpoint_position;
    if (wal->oldest && wal->oldest->begin_position < position)
        position = wal->oldest->begin_position;
    return position;
}

/* The oldest VLF in use, but for the head; NULL: there is none. */
static struct wal_vlf *oldest_in_use(struct wal *wal)
{
    struct wal_vlf *oldest = NULL;
    for (size_t i = 0; i < wal->vlf_count; i++) {
        struct wal_vlf *vlf = &wal->vlfs[i];
        if (i != wal->head && vlf->in_use && (!oldest || vlf->header.fseq < oldest->header.fseq))
            oldest = vlf;
    }
    return oldest;
}

/* In order: one that is read back first holds up the later ones. */
void wal_release_locked(struct wal *wal)
{
    uint64_t needed = needed_position(wal), held = wal_hold_position(wal);
    uint64_t min_position = held < needed ? held : needed;
    struct wal_vlf *vlf;
    while ((vlf = oldest_in_use(wal)) && vlf->header.fseq < min_position >> 32 && !vlf->reading &&
           !wal_read_back_take(wal, vlf))
        vlf->in_use = false;
    wait_list_wake_all(&wal->space_waiters);
}

static void link_locked(struct wal *wal, struct wal_hold *hold, uint64_t position)
{
    assert(!hold->held);
    hold->position = position;
    hold->held = true;
    hold->next = wal->holds;
    wal->holds = hold;
}

uint64_t wal_hold(struct wal *wal, struct wal_hold *hold)
{
    pthread_mutex_lock(&wal->lock);
    link_locked(wal, hold, needed_position(wal));
    pthread_mutex_unlock(&wal->lock);
    return hold->position;
}

void wal_hold_at(struct wal *wal, struct wal_hold *hold, uint64_t position)
{
    pthread_mutex_lock(&wal->lock);
    assert(wal_hold_position(wal) <= position);
    link_locked(wal, hold, position);
    pthread_mutex_unlock(&wal->lock);
}

static void unlink_locked(struct wal *wal, struct wal_hold *hold)
{
    struct wal_hold **link = &wal->holds;
    while (*link != hold)
        link = &(*link)->next;
    *link = hold->next;
    hold->held = false;
}

void wal_hold_move(struct wal *wal, struct wal_hold *hold, uint64_t position)
{
    assert(hold->held && position >= hold->position);
    pthread_mutex_lock(&wal->lock);
    hold->position = position;
    if (position == UINT64_MAX)
        unlink_locked(wal, hold);
    wal_release_locked(wal);
    pthread_mutex_unlock(&wal->lock);
}

bool wal_is_held_back(struct wal *wal)
{
    pthread_mutex_lock(&wal->lock);
    bool back = wal_hold_position(wal) >> 32 < needed_position(wal) >> 32;
    pthread_mutex_unlock(&wal->lock);
    return back;
}

/* ---- reading behind the writer ---- */

static const struct wal_vlf *vlf_of_fseq(const struct wal *wal, uint32_t fseq)
{
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (wal->vlfs[i].in_use && wal->vlfs[i].header.fseq == fseq)
            return &wal->vlfs[i];
    return NULL;
}

/* Offset in the VLF behind its last durable block. */
static uint64_t durable_bytes(const struct wal_vlf *vlf, uint64_t end)
{
    uint32_t fseq = vlf->header.fseq;
    if (fseq < end >> 32)
        return vlf->used_bytes;
    return fseq == end >> 32 ? (end & UINT32_MAX) * LOG_SECTOR_BYTES : 0;
}

uint64_t wal_bytes_from(struct wal *wal, uint64_t position)
{
    uint64_t sum = 0;
    pthread_mutex_lock(&wal->lock);
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (wal->vlfs[i].in_use && wal->vlfs[i].header.fseq >= position >> 32)
            sum += wal->vlfs[i].used_bytes;
    pthread_mutex_unlock(&wal->lock);
    return sum;
}

bool wal_durable_span(struct wal *wal, uint64_t position, struct wal_span *span)
{
    pthread_mutex_lock(&wal->lock);
    uint64_t end = atomic_load(&wal->durable_end);
    uint64_t in_vlf = (position & UINT32_MAX) * LOG_SECTOR_BYTES;
    const struct wal_vlf *vlf = vlf_of_fseq(wal, (uint32_t)(position >> 32));
    in_vlf = in_vlf < VLF_HEADER_BYTES ? VLF_HEADER_BYTES : in_vlf;
    if (vlf && in_vlf >= durable_bytes(vlf, end) && vlf->header.fseq < end >> 32) {
        vlf = vlf_of_fseq(wal, vlf->header.fseq + 1);
        in_vlf = VLF_HEADER_BYTES;
    }
    bool found = vlf && in_vlf < durable_bytes(vlf, end);
    if (found)
        *span = (struct wal_span){
            .file = &wal->files[vlf->header.file],
            .offset = vlf->header.offset + in_vlf,
            .bytes = durable_bytes(vlf, end) - in_vlf,
            .position = (uint64_t)vlf->header.fseq << 32 | in_vlf / LOG_SECTOR_BYTES,
            .parity = vlf_parity(vlf->header.use_count),
        };
    pthread_mutex_unlock(&wal->lock);
    return found;
}
