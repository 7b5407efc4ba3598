/*
 * ledger_entry.c - the lock-free entries: views, the life of a write, flushes.
 *
 * Who changes what: the page's writer moves word A through begin and ack / fail and the issued,
 * time and actor fields of word B; flushes raise the durable field of B and move A between settled
 * states; seen, quarantine and free change A alone.  Every change is a compare-and-swap of a whole
 * word (acquire and release), so fields of others are never overwritten.
 *
 * Why a view is consistent.  A view reads A, then B, then A again, and starts over if A changed.
 *  - B is at least as new as A: what begin, ack or a flush stored in B before it swapped A is
 *    released by that swap and acquired by the first load.
 *  - B is not newer than A: a change of B that follows a swap of A is released after it, so a view
 *    that loads the new B finds the new A at its second load.  (A swap never restores an old A: it
 *    changes the epoch, sets seen, or clears "older unknown"; 2^17 epochs do not pass between two
 *    loads.)
 *  - What changes in B under one A is: issued, after begin; time and actor, before ack; durable,
 *    upwards.  The first two happen in flight, where nothing is judged.
 * issued and durable are low bits, relative to nothing that moves: an ack of A alone makes the old
 * issued the acknowledged and leaves durable where it was.
 *
 * Why every pair that SIGKILL can leave is safe.  begin swaps A first: in flight with the old
 * issued, nothing was submitted yet (a far step: with an issued that is too high).  ack swaps A
 * before durable: durable too low.  A flush raises durable before it settles A: the page stays
 * indeterminate. Each of them allows more than the truth, never less.
 *
 * Why a flush claims no page that it does not cover.  ack stamps the number of the last flush begun
 * (modulo 4), loaded after the write completed; flush_begin counts up before the flush is
 * submitted. A page whose stamp is older than the flush completed before it.  flush_end loads the
 * number after the entry, so it knows every number that a stamp it saw can have.  Stamps that alias
 * only make flush_end pass over a page.
 */
#include <assert.h>

#include "verify/ledger_map.h"

#define ACKED_BITS    40
#define EPOCH_BITS    17
#define FLUSH_BITS    2
#define STATE_BITS    3
#define LOW_BITS      17
#define TIME_BITS     18
#define ACTOR_BITS    12
#define TIME_UNIT_S   8

#define SEEN_SHIFT    0
#define STATE_SHIFT   1
#define OLDER_SHIFT   (STATE_SHIFT + STATE_BITS)
#define FLUSH_SHIFT   (OLDER_SHIFT + 1)
#define EPOCH_SHIFT   (FLUSH_SHIFT + FLUSH_BITS)
#define ACKED_SHIFT   (EPOCH_SHIFT + EPOCH_BITS)
#define ACTOR_SHIFT   0
#define TIME_SHIFT    ACTOR_BITS
#define DURABLE_SHIFT (TIME_SHIFT + TIME_BITS)
#define ISSUED_SHIFT  (DURABLE_SHIFT + LOW_BITS)
static_assert(ACKED_SHIFT + ACKED_BITS == 64, "word A is full");
static_assert(ISSUED_SHIFT + LOW_BITS == 64, "word B is full");
static_assert(LEDGER_SPAN_MAX < 1 << LOW_BITS, "a span fits its bits");

#define MASK(bits) ((1ull << (bits)) - 1)

/* Two states that a view shows as IN_FLIGHT and INDETERMINATE. */
enum {
    STATE_IN_FLIGHT_UNSETTLED = LEDGER_QUARANTINED + 1, /* what is being overwritten was in doubt */
    STATE_REWRITTEN, /* acknowledged after doubt: the next flush that covers it settles it */
};
static_assert(STATE_REWRITTEN <= MASK(STATE_BITS), "states fit their bits");

struct word_a {
    uint64_t acked;
    uint32_t epoch;
    uint32_t flush;
    unsigned state;
    bool older_unknown;
    bool seen;
};

/* A consistent pair and what follows from it. */
struct reading {
    uint64_t raw_a, raw_b;
    struct word_a a;
    uint64_t issued, durable;
};

static struct word_a unpack_a(uint64_t raw)
{
    return (struct word_a){
        .acked = raw >> ACKED_SHIFT,
        .epoch = (uint32_t)(raw >> EPOCH_SHIFT & MASK(EPOCH_BITS)),
        .flush = (uint32_t)(raw >> FLUSH_SHIFT & MASK(FLUSH_BITS)),
        .state = (unsigned)(raw >> STATE_SHIFT & MASK(STATE_BITS)),
        .older_unknown = raw >> OLDER_SHIFT & 1,
        .seen = raw >> SEEN_SHIFT & 1,
    };
}

static uint64_t pack_a(const struct word_a *a)
{
    return a->acked << ACKED_SHIFT | (a->epoch & MASK(EPOCH_BITS)) << EPOCH_SHIFT |
           (a->flush & MASK(FLUSH_BITS)) << FLUSH_SHIFT |
           (uint64_t)a->older_unknown << OLDER_SHIFT | (uint64_t)a->state << STATE_SHIFT |
           (uint64_t)a->seen << SEEN_SHIFT;
}

static uint64_t issued_of(uint64_t acked, uint64_t raw_b)
{
    return acked + (((raw_b >> ISSUED_SHIFT) - acked) & MASK(LOW_BITS));
}

/* Bytes of a damaged ledger may make it fall below zero; it must not rise above acked. */
static uint64_t durable_of(const struct word_a *a, uint64_t raw_b)
{
    uint64_t distance = (a->acked - (raw_b >> DURABLE_SHIFT)) & MASK(LOW_BITS);
    return a->older_unknown || distance > a->acked ? 0 : a->acked - distance;
}

static struct reading entry_read(const struct ledger_entry *entry)
{
    struct reading r;
    uint64_t again;

    do {
        r.raw_a = atomic_load_explicit(&entry->a, memory_order_acquire);
        r.raw_b = atomic_load_explicit(&entry->b, memory_order_acquire);
        again = atomic_load_explicit(&entry->a, memory_order_relaxed);
    } while (again != r.raw_a);
    r.a = unpack_a(r.raw_a);
    r.issued = issued_of(r.a.acked, r.raw_b);
    r.durable = durable_of(&r.a, r.raw_b);
    return r;
}

static bool swap_a(struct ledger_entry *entry, const struct reading *from, const struct word_a *to)
{
    uint64_t expected = from->raw_a;
    return atomic_compare_exchange_strong_explicit(&entry->a, &expected, pack_a(to),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

static bool swap_b(struct ledger_entry *entry, uint64_t expected, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(&entry->b, &expected, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static uint64_t with_field(uint64_t raw, unsigned shift, unsigned bits, uint64_t value)
{
    return (raw & ~(MASK(bits) << shift)) | (value & MASK(bits)) << shift;
}

/* Change one field of B whatever the others become meanwhile. */
static void set_b(struct ledger_entry *entry, unsigned shift, unsigned bits, uint64_t value)
{
    uint64_t raw = atomic_load_explicit(&entry->b, memory_order_relaxed);
    while (!swap_b(entry, raw, with_field(raw, shift, bits, value)))
        raw = atomic_load_explicit(&entry->b, memory_order_relaxed);
}

static bool in_flight(unsigned state)
{
    return state == LEDGER_IN_FLIGHT || state == STATE_IN_FLIGHT_UNSETTLED;
}

static struct word_a next_epoch(const struct word_a *a, unsigned state)
{
    struct word_a next = *a;
    next.epoch++;
    next.state = state;
    return next;
}

static struct ledger_area *area_at(const struct ledger *ledger, uint16_t uid)
{
    assert(uid >= 1 && uid <= ledger->file_count);
    /* The areas are this process's own; const protects the history, not the cache of it. */
    return (struct ledger_area *)&ledger->areas[uid - 1];
}

static struct ledger_entry *entry_at(const struct ledger *ledger, uint16_t uid, uint32_t page_no)
{
    const struct ledger_area *area = area_at(ledger, uid);
    assert(page_no < area->capacity_pages);
    return &area->entries[page_no];
}

/* Before the entry changes, so that a flush that must see the entry sees this. */
static struct ledger_entry *entry_to_change(struct ledger *ledger, uint16_t uid, uint32_t page_no)
{
    struct ledger_entry *entry = entry_at(ledger, uid, page_no);
    struct ledger_area *area = area_at(ledger, uid);
    uint32_t touched = atomic_load_explicit(&area->touched_pages, memory_order_relaxed);

    assert(ledger->writable);
    while (touched <= page_no &&
           !atomic_compare_exchange_weak(&area->touched_pages, &touched, page_no + 1))
        continue;
    return entry;
}

struct ledger_view ledger_view(const struct ledger *ledger, uint16_t uid, uint32_t page_no)
{
    static const enum ledger_state shown[] = {
        [LEDGER_NEVER_WRITTEN] = LEDGER_NEVER_WRITTEN,
        [LEDGER_QUIET] = LEDGER_QUIET,
        [LEDGER_IN_FLIGHT] = LEDGER_IN_FLIGHT,
        [LEDGER_INDETERMINATE] = LEDGER_INDETERMINATE,
        [LEDGER_FREED] = LEDGER_FREED,
        [LEDGER_QUARANTINED] = LEDGER_QUARANTINED,
        [STATE_IN_FLIGHT_UNSETTLED] = LEDGER_IN_FLIGHT,
        [STATE_REWRITTEN] = LEDGER_INDETERMINATE,
    };
    struct reading r = entry_read(entry_at(ledger, uid, page_no));

    return (struct ledger_view){
        .acked = r.a.acked,
        .issued = r.issued,
        .durable = r.durable,
        .state = shown[r.a.state],
        .epoch = r.a.epoch,
        .seen = r.a.seen,
        .actor = (uint16_t)(r.raw_b >> ACTOR_SHIFT & MASK(ACTOR_BITS)),
        .time_s = (r.raw_b >> TIME_SHIFT & MASK(TIME_BITS)) * TIME_UNIT_S,
    };
}

/* Does generation need a step that the low bits cannot hold?  Then what is older becomes unknown.
 */
static bool far_step(const struct reading *r, uint64_t generation)
{
    uint64_t from = r->a.older_unknown ? r->a.acked : r->durable;
    return generation - from > LEDGER_SPAN_MAX;
}

/* A far step is refused only where a flush takes the need for it away. */
static bool span_ok(const struct reading *r, uint64_t generation)
{
    bool flush_helps = r->a.state == LEDGER_QUIET || r->a.state == STATE_REWRITTEN;

    if (in_flight(r->a.state))
        return false;
    return !far_step(r, generation) || r->a.older_unknown || !flush_helps ||
           r->durable == r->issued;
}

bool ledger_span_ok(const struct ledger *ledger, uint16_t uid, uint32_t page_no,
                    uint64_t generation)
{
    struct reading r = entry_read(entry_at(ledger, uid, page_no));
    return !far_step(&r, generation) || span_ok(&r, generation);
}

static unsigned state_in_flight(const struct reading *r)
{
    switch (r->a.state) {
    case LEDGER_INDETERMINATE:
    case STATE_REWRITTEN:
        return STATE_IN_FLIGHT_UNSETTLED;
    case LEDGER_FREED: /* the doubt that it was freed with shows in the distance only */
        return r->durable == r->issued ? LEDGER_IN_FLIGHT : STATE_IN_FLIGHT_UNSETTLED;
    case LEDGER_QUARANTINED:
        return LEDGER_QUARANTINED;
    default:
        return LEDGER_IN_FLIGHT;
    }
}

/* Only what failed, or what a failed flush put in doubt, may be written again as it is. */
static bool in_doubt(unsigned state)
{
    return state == LEDGER_INDETERMINATE || state == STATE_REWRITTEN || state == LEDGER_QUARANTINED;
}

void ledger_begin(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint64_t generation)
{
    struct ledger_entry *entry = entry_to_change(ledger, uid, page_no);
    struct word_a next;
    struct reading r;

    do {
        r = entry_read(entry);
        assert(!in_flight(r.a.state));
        assert(generation > r.issued || (generation == r.issued && in_doubt(r.a.state)));
        assert(generation <= MASK(ACKED_BITS) && span_ok(&r, generation));
        next = next_epoch(&r.a, state_in_flight(&r));
        if (r.a.state == LEDGER_FREED) /* its file may have been cut and grown since: zeros */
            next.older_unknown = true;
        if (far_step(&r, generation)) {
            next.acked = generation - 1;
            next.older_unknown = true;
        }
    } while (!swap_a(entry, &r, &next));
    set_b(entry, ISSUED_SHIFT, LOW_BITS, generation);
}

/* The last acknowledged write is durable: that also ends doubt which a failed flush cast meanwhile.
 */
static void settle_durable(struct ledger_entry *entry, uint64_t generation)
{
    struct word_a next;
    struct reading r;

    set_b(entry, DURABLE_SHIFT, LOW_BITS, generation);
    do {
        r = entry_read(entry);
        next = r.a;
        next.older_unknown = false;
        if (r.a.state == LEDGER_INDETERMINATE)
            next = next_epoch(&next, LEDGER_QUIET);
        if (pack_a(&next) == r.raw_a)
            return;
    } while (!swap_a(entry, &r, &next));
}

static unsigned state_acked(unsigned state, bool durable)
{
    if (state == LEDGER_QUARANTINED)
        return state;
    return state == STATE_IN_FLIGHT_UNSETTLED && !durable ? STATE_REWRITTEN : LEDGER_QUIET;
}

void ledger_ack(struct ledger *ledger, uint16_t uid, uint32_t page_no, bool durable, uint16_t actor,
                uint64_t time_s)
{
    struct ledger_entry *entry = entry_to_change(ledger, uid, page_no);
    struct word_a next;
    struct reading r;

    set_b(entry, TIME_SHIFT, TIME_BITS, time_s / TIME_UNIT_S);
    set_b(entry, ACTOR_SHIFT, ACTOR_BITS, actor);
    do {
        r = entry_read(entry);
        assert(in_flight(r.a.state) || r.a.state == LEDGER_QUARANTINED);
        assert(r.issued >= r.a.acked); /* equal: a repeat after a failed flush */
        next = next_epoch(&r.a, state_acked(r.a.state, durable));
        next.acked = r.issued;
        next.seen = false;
        next.flush = atomic_load(&area_at(ledger, uid)->flush);
    } while (!swap_a(entry, &r, &next));
    if (durable)
        settle_durable(entry, next.acked);
    write_order_written(ledger->order, uid, page_no);
}

static void entry_fail(struct ledger_entry *entry)
{
    struct word_a next;
    struct reading r;

    do {
        r = entry_read(entry);
        assert(in_flight(r.a.state) || r.a.state == LEDGER_QUARANTINED);
        next = next_epoch(&r.a, in_flight(r.a.state) ? LEDGER_INDETERMINATE : r.a.state);
        next.seen = false;
    } while (!swap_a(entry, &r, &next));
}

void ledger_restart(struct ledger *ledger, uint16_t uid)
{
    struct ledger_area *area = area_at(ledger, uid);
    uint32_t touched = atomic_load(&area->touched_pages);

    assert(ledger->writable);
    for (uint32_t i = 0; i < touched; i++) {
        atomic_store_explicit(&area->entries[i].a, 0, memory_order_release);
        atomic_store_explicit(&area->entries[i].b, 0, memory_order_release);
    }
    atomic_store(&area->touched_pages, 0);
}

void ledger_fail(struct ledger *ledger, uint16_t uid, uint32_t page_no)
{
    entry_fail(entry_to_change(ledger, uid, page_no));
}

/* May the entry have been acknowledged after the flush began? */
static bool stamped_since(const struct ledger_area *area, const struct word_a *a, uint32_t flush)
{
    uint32_t later = atomic_load(&area->flush) - flush;
    return ((a->flush - flush) & MASK(FLUSH_BITS)) <= later;
}

/* Can a flush say anything about what was acknowledged?  Not in doubt, and after a far step not
 * what stands for it in flight. */
static bool flush_settles(const struct word_a *a)
{
    return a->state == LEDGER_QUIET || a->state == STATE_REWRITTEN ||
           (a->state == LEDGER_IN_FLIGHT && !a->older_unknown);
}

/* One step; true when the entry needs no further one. */
static bool entry_flush_step(struct ledger_entry *entry, const struct reading *r)
{
    struct word_a next = r->a;

    if (!swap_b(entry, r->raw_b, with_field(r->raw_b, DURABLE_SHIFT, LOW_BITS, r->a.acked)))
        return false;
    if (r->a.state == STATE_REWRITTEN) {
        next = next_epoch(&next, LEDGER_QUIET);
        next.seen = false;
    }
    next.older_unknown = false;
    return pack_a(&next) == r->raw_a || swap_a(entry, r, &next);
}

static void entry_flushed(struct ledger_area *area, struct ledger_entry *entry,
                          const uint32_t *flush)
{
    for (;;) {
        struct reading r = entry_read(entry);
        bool open = r.durable != r.a.acked || r.a.state == STATE_REWRITTEN;

        if (!open || !flush_settles(&r.a) || (flush && stamped_since(area, &r.a, *flush)) ||
            entry_flush_step(entry, &r))
            return;
    }
}

static void entry_flush_failed(struct ledger_entry *entry)
{
    struct word_a next;
    struct reading r;

    do {
        r = entry_read(entry);
        if (r.a.state == LEDGER_IN_FLIGHT) {
            /* Its bytes may be among those that the flush lost; the view does not change. */
            next = r.a;
            next.state = STATE_IN_FLIGHT_UNSETTLED;
        } else if (r.a.state == STATE_REWRITTEN ||
                   (r.a.state == LEDGER_QUIET && r.durable != r.a.acked)) {
            next = next_epoch(&r.a, LEDGER_INDETERMINATE);
            next.seen = false;
        } else {
            return;
        }
    } while (!swap_a(entry, &r, &next));
}

static void area_flush_end(struct ledger *ledger, uint16_t uid, const uint32_t *flush, bool ok)
{
    struct ledger_area *area = area_at(ledger, uid);
    uint32_t touched = atomic_load(&area->touched_pages);

    assert(ledger->writable);
    for (uint32_t page_no = 0; page_no < touched; page_no++) {
        if (ok)
            entry_flushed(area, &area->entries[page_no], flush);
        else
            entry_flush_failed(&area->entries[page_no]);
    }
}

uint32_t ledger_flush_begin(struct ledger *ledger, uint16_t uid)
{
    return atomic_fetch_add(&area_at(ledger, uid)->flush, 1) + 1;
}

void ledger_flush_end(struct ledger *ledger, uint16_t uid, uint32_t flush, bool ok)
{
    area_flush_end(ledger, uid, &flush, ok);
}

void ledger_flushed(struct ledger *ledger, uint16_t uid)
{
    area_flush_end(ledger, uid, NULL, true);
}

void ledger_flush_failed(struct ledger *ledger, uint16_t uid)
{
    area_flush_end(ledger, uid, NULL, false);
}

void ledger_seen(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint32_t epoch)
{
    struct ledger_entry *entry = entry_to_change(ledger, uid, page_no);
    struct word_a next;
    struct reading r;

    write_order_verified(ledger->order, uid, page_no);
    do {
        r = entry_read(entry);
        bool judged = r.a.state == LEDGER_QUIET || r.a.state == LEDGER_INDETERMINATE ||
                      r.a.state == STATE_REWRITTEN;
        if (!judged || r.a.epoch != epoch || r.a.seen)
            return;
        next = r.a;
        next.seen = true;
    } while (!swap_a(entry, &r, &next));
}

void ledger_quarantine(struct ledger *ledger, uint16_t uid, uint32_t page_no)
{
    struct ledger_entry *entry = entry_to_change(ledger, uid, page_no);
    struct word_a next;
    struct reading r;

    do {
        r = entry_read(entry);
        if (r.a.state == LEDGER_QUARANTINED)
            return;
        next = next_epoch(&r.a, LEDGER_QUARANTINED);
        next.older_unknown |= r.a.state == LEDGER_FREED; /* zeros are right, too: ledger_free */
    } while (!swap_a(entry, &r, &next));
}

void ledger_free(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint64_t generation)
{
    struct ledger_entry *entry = entry_to_change(ledger, uid, page_no);
    struct word_a next;
    struct reading r;
    bool newer;

    assert(generation <= MASK(ACKED_BITS));
    do {
        r = entry_read(entry);
        newer = generation > r.issued;
        assert(!in_flight(r.a.state));
        if (r.a.state == LEDGER_FREED && !newer)
            return;
        next =
            next_epoch(&r.a, r.a.state == LEDGER_QUARANTINED ? LEDGER_QUARANTINED : LEDGER_FREED);
        /* A freed page may be cut off with the end of its file and come back as zeros. */
        next.older_unknown |= r.a.state == LEDGER_QUARANTINED;
        if (newer && far_step(&r, generation)) {
            next.acked = generation - 1;
            next.older_unknown = true;
        }
    } while (!swap_a(entry, &r, &next));
    if (newer)
        set_b(entry, ISSUED_SHIFT, LOW_BITS, generation);
}

void ledger_adopt(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint64_t generation)
{
    struct ledger_entry *entry = entry_to_change(ledger, uid, page_no);
    struct reading r = entry_read(entry);
    struct word_a next = next_epoch(&r.a, LEDGER_QUIET);

    assert(r.a.state == LEDGER_NEVER_WRITTEN);
    assert(generation > 0 && generation <= MASK(ACKED_BITS));
    set_b(entry, ISSUED_SHIFT, LOW_BITS, generation);
    set_b(entry, DURABLE_SHIFT, LOW_BITS, generation);
    next.acked = generation;
    atomic_store_explicit(&entry->a, pack_a(&next), memory_order_release);
}

void ledger_settle_in_flight(struct ledger *ledger)
{
    assert(ledger->writable);
    for (size_t i = 0; i < ledger->file_count; i++) {
        struct ledger_area *area = &ledger->areas[i];
        for (uint32_t page_no = 0; page_no < atomic_load(&area->touched_pages); page_no++) {
            struct reading r = entry_read(&area->entries[page_no]);
            if (in_flight(r.a.state))
                entry_fail(&area->entries[page_no]);
        }
    }
}

struct ledger_count ledger_count(const struct ledger *ledger, uint16_t uid)
{
    const struct ledger_area *area = area_at(ledger, uid);
    uint32_t touched = atomic_load(&area->touched_pages);
    struct ledger_count count = {.never_written = area->capacity_pages - touched};

    for (uint32_t page_no = 0; page_no < touched; page_no++) {
        struct ledger_view view = ledger_view(ledger, uid, page_no);
        bool written = view.acked > 0 && view.state != LEDGER_FREED;

        count.written += written;
        count.seen += written && view.seen;
        count.unseen += written && !view.seen && view.state != LEDGER_INDETERMINATE &&
                        view.state != LEDGER_QUARANTINED;
        count.indeterminate += view.state == LEDGER_INDETERMINATE;
        count.quarantined += view.state == LEDGER_QUARANTINED;
        count.never_written += view.state == LEDGER_NEVER_WRITTEN;
        count.in_flight += view.state == LEDGER_IN_FLIGHT;
        count.freed += view.state == LEDGER_FREED;
    }
    return count;
}

struct page_order ledger_order(const struct ledger *ledger, uint16_t uid, uint32_t page_no)
{
    static const struct page_order unknown = {0, 0};
    return ledger->order ? write_order_of(ledger->order, uid, page_no) : unknown;
}
