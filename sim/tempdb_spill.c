/* tempdb_spill.c - see tempdb_spill.h. */
#include "sim/tempdb_spill.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/buffer_sum.h"

#define BUFFER_ALIGN 4096
#define CHUNKS_SPARE 16 /* beyond one an extent: of what earlier users left */

/* ---- lists ---- */

static void list_add(struct spill_list *list, struct spill_chunk *chunk)
{
    chunk->next = NULL;
    if (list->tail)
        list->tail->next = chunk;
    else
        list->head = chunk;
    list->tail = chunk;
    list->pages += chunk->at.pages;
}

static struct spill_chunk *list_take(struct spill_list *list)
{
    struct spill_chunk *chunk = list->head;
    list->head = chunk->next;
    if (!list->head)
        list->tail = NULL;
    list->pages -= chunk->at.pages;
    return chunk;
}

static void chunk_release(struct spill *s, struct spill_chunk *chunk)
{
    chunk->next = s->free_chunks;
    s->free_chunks = chunk;
}

static struct spill_chunk *chunk_take(struct spill *s)
{
    struct spill_chunk *chunk = s->free_chunks;
    if (chunk)
        s->free_chunks = chunk->next;
    return chunk;
}

static struct spill_slot *slot_take(struct spill *s)
{
    struct spill_slot *slot = s->free_slots;
    s->free_slots = slot->next;
    s->busy++;
    return slot;
}

static void slot_release(struct spill_slot *slot)
{
    struct spill *s = slot->spill;
    slot->next = s->free_slots;
    s->free_slots = slot;
    s->busy--;
}

/* ---- life ---- */

static int slots_init(struct spill *s)
{
    size_t bytes = (size_t)s->slot_count * s->chunk_pages * PAGE_BYTES;
    s->slots = calloc(s->slot_count, sizeof *s->slots);
    s->memory = aligned_alloc(BUFFER_ALIGN, bytes);
    if (!s->slots || !s->memory)
        return -ENOMEM;
    for (unsigned i = s->slot_count; i-- > 0;) {
        struct spill_slot *slot = &s->slots[i];
        slot->spill = s;
        slot->batch.reader = s->reader;
        slot->batch.iov = slot->iov;
        slot->batch.before = slot->before;
        slot->batch.context = slot;
        slot->buffer = s->memory + (size_t)i * s->chunk_pages * PAGE_BYTES;
        slot->next = s->free_slots;
        s->free_slots = slot;
    }
    return 0;
}

static int chunks_init(struct spill *s, uint64_t pages_max)
{
    size_t count = (size_t)(pages_max / EXTENT_PAGES) + s->slot_count + CHUNKS_SPARE;
    s->chunks = calloc(count, sizeof *s->chunks);
    for (size_t i = 0; i < count && s->chunks; i++)
        chunk_release(s, &s->chunks[i]);
    return s->chunks ? 0 : -ENOMEM;
}

struct spill *spill_create(struct actor *actor, unsigned slots, unsigned chunk_pages,
                           uint64_t pages_max)
{
    struct spill *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    assert(slots >= 1 && chunk_pages >= 1 && chunk_pages <= GATHER_PAGES_MAX);
    s->actor = actor;
    s->space = actor->run->tempdb;
    s->reader = &actor->reader;
    s->slot_count = slots;
    s->chunk_pages = chunk_pages;
    if (slots_init(s) || chunks_init(s, pages_max)) {
        spill_free(s);
        return NULL;
    }
    return s;
}

void spill_free(struct spill *s)
{
    if (!s)
        return;
    free(s->slots);
    free(s->memory);
    free(s->chunks);
    free(s);
}

/* ---- writing ---- */

static void gather_finished(struct gather *gather)
{
    struct spill_slot *slot =
        (struct spill_slot *)((char *)gather - offsetof(struct spill_slot, gather));
    struct spill *s = slot->spill;
    if (gather->result)
        s->failed = gather->result;
    slot_release(slot);
    task_wake(&s->actor->task);
}

static void image_make(struct spill_slot *slot, unsigned index)
{
    struct spill *s = slot->spill;
    const struct file_mark *mark = &slot->at.file->file.mark;
    uint32_t page_no = slot->at.first_page + index;
    struct ledger_view view = ledger_view(s->actor->run->ledger, mark->file_uid, page_no);
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id, page_no,
                                     view.issued + 1};
    uint16_t number = (uint16_t)s->actor->number;
    uint8_t *bytes = slot->buffer + (size_t)index * PAGE_BYTES;
    page_fill(bytes, &s->actor->run->identity, &identity, number);
    buffer_built(slot->at.file->database, bytes);
    slot->gather.images[index] =
        (struct page_image){.bytes = bytes, .generation = identity.generation, .actor = number};
}

static void slot_write(struct spill_slot *slot)
{
    struct gather *gather = &slot->gather;
    gather->file = slot->at.file;
    gather->first_page = slot->at.first_page;
    gather->count = slot->at.pages;
    for (unsigned i = 0; i < gather->count; i++)
        image_make(slot, i);
    actor_gather_send(slot->spill->actor, gather, slot->spill->write_stream, gather_finished);
}

/* ---- changes of the allocation pages ---- */

static void change_begin(struct spill *s, const struct tempdb_stretch *at, bool allocate)
{
    s->changing = true;
    tempdb_change_start(&s->change, at, allocate);
}

static void change_failed(struct spill *s, int error)
{
    s->failed = error;
    if (s->writing)
        slot_release(s->writing);
    if (s->current)
        chunk_release(s, s->current);
}

static void change_done(struct spill *s)
{
    if (s->writing) {
        slot_write(s->writing);
    } else {
        tempdb_space_give(s->space, &s->current->at);
        chunk_release(s, s->current);
    }
}

/* The one under way, then those that free what was read. */
static void changes_work(struct spill *s)
{
    while (!atomic_load(&s->actor->task.wait_list)) {
        if (!s->changing && (!s->freeing.head || s->failed))
            return;
        if (!s->changing) {
            s->current = list_take(&s->freeing);
            change_begin(s, &s->current->at, false);
        }
        int error = tempdb_change_step(&s->change, &s->actor->task);
        if (error == -EAGAIN)
            return;
        if (error)
            change_failed(s, error);
        else
            change_done(s);
        s->changing = false;
        s->writing = NULL;
        s->current = NULL;
    }
}

/* ---- reading ---- */

static void slot_read(struct spill_slot *slot)
{
    struct page_batch_pages pages = {.file = slot->at.file,
                                     .first_page = slot->at.first_page,
                                     .count = slot->at.pages,
                                     .stream = slot->spill->read_stream};
    page_batch_iov(&slot->batch, slot->buffer, pages.count);
    page_batch_send(&slot->batch, &pages);
}

static void slot_read_over(struct spill_slot *slot)
{
    struct spill *s = slot->spill;
    s->read_pages += slot->at.pages;
    list_add(&s->freeing, slot->chunk);
    slot->chunk = NULL;
    slot_release(slot);
}

/* Nobody but the owner writes these pages, so none is overlapped for good. */
static void slot_judge(struct spill_slot *slot)
{
    enum page_read_result result;
    do
        result = page_batch_step(&slot->batch);
    while (result != PAGE_READ_WAIT && result != PAGE_READ_OVER);
    if (result == PAGE_READ_OVER)
        slot_read_over(slot);
}

static void judge_all(struct spill *s)
{
    if (s->reader->batch)
        slot_judge(s->reader->batch->context);
    for (unsigned i = 0; i < s->slot_count && !s->reader->batch; i++)
        if (s->slots[i].chunk)
            slot_judge(&s->slots[i]);
}

/* ---- for the owner ---- */

void spill_work(struct spill *s)
{
    judge_all(s);
    changes_work(s);
}

bool spill_can_append(const struct spill *s)
{
    return s->free_slots && s->free_chunks && !s->changing && !s->failed &&
           !atomic_load(&s->actor->task.wait_list);
}

bool spill_can_fetch(const struct spill *s)
{
    return s->free_slots && !s->failed;
}

uint32_t spill_append(struct spill *s, struct spill_list *list, uint32_t pages)
{
    struct tempdb_stretch at;
    uint32_t wanted = pages < s->chunk_pages ? pages : s->chunk_pages;
    assert(spill_can_append(s));
    s->full = !tempdb_space_take(s->space, wanted, &at);
    if (s->full)
        return 0;
    struct spill_chunk *chunk = chunk_take(s);
    struct spill_slot *slot = slot_take(s);
    chunk->at = slot->at = at;
    list_add(list, chunk);
    s->writing = slot;
    change_begin(s, &at, true);
    changes_work(s);
    return at.pages;
}

void spill_fetch(struct spill *s, struct spill_list *list)
{
    assert(spill_can_fetch(s) && list->head);
    struct spill_slot *slot = slot_take(s);
    slot->chunk = list_take(list);
    slot->at = slot->chunk->at;
    slot_read(slot);
}

bool spill_is_idle(const struct spill *s)
{
    return s->busy == 0 && !s->changing && (s->failed || !s->freeing.head);
}

void spill_leave(struct spill *s, struct spill_list *list)
{
    while (list->head) {
        struct spill_chunk *chunk = list_take(list);
        tempdb_space_leave(s->space, &chunk->at);
        chunk_release(s, chunk);
    }
}

void spill_reset(struct spill *s)
{
    assert(s->busy == 0 && !s->changing);
    s->failed = 0;
    s->full = false;
    s->read_pages = 0;
}

bool spill_adopt_left(struct spill *s, struct spill_list *list)
{
    struct tempdb_stretch at;
    if (!s->free_chunks || !tempdb_space_left(s->space, s->chunk_pages, &at))
        return false;
    struct spill_chunk *chunk = chunk_take(s);
    chunk->at = at;
    list_add(list, chunk);
    return true;
}
