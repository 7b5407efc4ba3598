/*
 * io_account.c - see io_account.h.
 *
 * Invariants: outstanding never passes a lowered limit through io_account_enter(limited); the limit
 * stays within IO_LIMIT_FLOOR (or limit_max, if that is less) and limit_max.
 * What it does not do: hold requests back (io_gate.c) or look at a clock.
 */
#include "sim/io_account.h"

#include "sim/clock.h"

#define STEP_DOWN  4 /* the limit loses a quarter, rounded up */
#define RELAXED(x) atomic_load_explicit(&(x), memory_order_relaxed)

void io_account_init(struct io_account *account, uint32_t target_ms, uint32_t limit_max)
{
    *account = (struct io_account){.target_ms = target_ms, .limit_max = limit_max};
    atomic_init(&account->running_average_ms, target_ms);
    atomic_init(&account->limit, limit_max);
}

bool io_account_is_lowered(const struct io_account *account)
{
    return RELAXED(((struct io_account *)(uintptr_t)account)->limit) < account->limit_max;
}

static void raise_high(struct io_account *account, uint32_t now)
{
    uint32_t high = RELAXED(account->outstanding_high);
    while (now > high &&
           !atomic_compare_exchange_weak_explicit(&account->outstanding_high, &high, now,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

bool io_account_enter(struct io_account *account, bool limited)
{
    if (!limited || !io_account_is_lowered(account)) {
        raise_high(account,
                   1 + atomic_fetch_add_explicit(&account->outstanding, 1, memory_order_relaxed));
        return true;
    }
    /* Sequentially consistent: who finds no room and then waits must not miss who leaves. */
    uint32_t now = atomic_load(&account->outstanding);
    do {
        if (now >= atomic_load(&account->limit))
            return false;
    } while (!atomic_compare_exchange_weak(&account->outstanding, &now, now + 1));
    raise_high(account, now + 1);
    return true;
}

void io_account_leave(struct io_account *account)
{
    atomic_fetch_sub(&account->outstanding, 1);
}

/* MaxIOs of the formula. */
static uint32_t weight_of(struct io_account *account)
{
    uint32_t high = RELAXED(account->outstanding_high), limit = RELAXED(account->limit);
    uint32_t weight = high < limit ? high : limit;
    return weight ? weight : 1;
}

static uint32_t average_add(struct io_account *account, uint32_t weight, uint64_t duration_ns)
{
    uint64_t ms = duration_ns / NS_PER_MS;
    uint32_t d = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
    uint32_t old = RELAXED(account->running_average_ms), next;
    do {
        next = (uint32_t)(((uint64_t)old * (weight - 1) + d) / weight);
        if (next == old)
            break;
    } while (!atomic_compare_exchange_weak_explicit(&account->running_average_ms, &old, next,
                                                    memory_order_relaxed, memory_order_relaxed));
    return next;
}

/* From what is really outstanding (this request included), if that is less than the limit. */
static uint32_t lowered(struct io_account *account, uint32_t limit)
{
    uint32_t floor = IO_LIMIT_FLOOR < account->limit_max ? IO_LIMIT_FLOOR : account->limit_max;
    uint32_t now = RELAXED(account->outstanding);
    uint32_t base = now < limit ? now : limit;
    uint32_t next = base - (base + STEP_DOWN - 1) / STEP_DOWN;
    return next > floor ? next : floor;
}

static uint32_t raised(struct io_account *account, uint32_t limit)
{
    return limit + 1 > RELAXED(account->outstanding_high) ? account->limit_max : limit + 1;
}

static void limit_move(struct io_account *account, uint32_t weight, bool above)
{
    uint32_t limit = RELAXED(account->limit);
    bool first = limit == account->limit_max;
    uint32_t seen = atomic_fetch_add_explicit(&account->window, 1, memory_order_relaxed) + 1;
    if (!first && seen < weight)
        return;
    atomic_store_explicit(&account->window, 0, memory_order_relaxed);
    uint32_t next = above ? lowered(account, limit) : raised(account, limit);
    atomic_compare_exchange_strong(&account->limit, &limit, next); /* or another one moved it */
}

static void raise_longest(struct io_account *account, uint64_t ns)
{
    uint64_t longest = RELAXED(account->longest_ns);
    while (ns > longest &&
           !atomic_compare_exchange_weak_explicit(&account->longest_ns, &longest, ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void io_account_hist(const struct io_account *account, struct hist *out)
{
    struct io_account *read = (struct io_account *)(uintptr_t)account;
    *out = (struct hist){.max_ns = RELAXED(read->longest_ns), .sum_ns = RELAXED(read->total_io_ns)};
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        out->buckets[i] = RELAXED(read->buckets[i]);
        if (out->count == 0 && out->buckets[i])
            out->min_ns = hist_bucket_low_ns(i);
        out->count += out->buckets[i];
    }
}

void io_account_completed(struct io_account *account, enum io_kind kind, uint64_t duration_ns,
                          bool throttling)
{
    _Atomic uint64_t *const counts[] = {
        [IO_KIND_READ] = &account->reads,
        [IO_KIND_SCATTER_READ] = &account->scatter_reads,
        [IO_KIND_WRITE] = &account->writes,
        [IO_KIND_GATHER_WRITE] = &account->gather_writes,
    };
    atomic_fetch_add_explicit(counts[kind], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&account->total_io_ns, duration_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&account->buckets[hist_bucket_of(duration_ns)], 1,
                              memory_order_relaxed);
    raise_longest(account, duration_ns);
    if (!account->limit_max)
        return;
    uint32_t weight = weight_of(account);
    bool above = average_add(account, weight, duration_ns) > account->target_ms;
    if (throttling && (above || io_account_is_lowered(account)))
        limit_move(account, weight, above);
}

void io_account_short(struct io_account *account, uint64_t offset, uint64_t size_bytes)
{
    atomic_store_explicit(&account->short_offset, offset, memory_order_relaxed);
    atomic_store_explicit(&account->short_bytes, size_bytes, memory_order_relaxed);
    atomic_fetch_add(&account->shorts, 1);
}
