/* seconds.c - see seconds.h. */
#include "sim/seconds.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/clock.h"

int seconds_init(struct seconds *seconds, size_t count)
{
    *seconds = (struct seconds){.count = count};
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        seconds->roles[s] = (uint8_t)speed_role_of((enum stream)s);
    seconds->sums = calloc(count ? ROLE_COUNT * count : 1, sizeof *seconds->sums);
    return seconds->sums ? 0 : -ENOMEM;
}

void seconds_free(struct seconds *seconds)
{
    free(seconds->sums);
    seconds->sums = NULL;
}

/* A request that ends at this very moment may still be added: one in a whole phase. */
void seconds_begin(struct seconds *seconds, uint64_t now_ns)
{
    seconds_end(seconds);
    for (size_t i = 0; i < ROLE_COUNT * seconds->count; i++) {
        relaxed_store(&seconds->sums[i].ops, 0);
        relaxed_store(&seconds->sums[i].response_ns, 0);
    }
    atomic_store_explicit(&seconds->begin_ns, now_ns, memory_order_release);
}

void seconds_add(struct seconds *seconds, enum stream stream, uint64_t done_ns,
                 uint64_t response_ns)
{
    uint64_t begin_ns = atomic_load_explicit(&seconds->begin_ns, memory_order_acquire);
    unsigned role = seconds->roles[stream];
    if (begin_ns == 0 || done_ns < begin_ns || role >= ROLE_COUNT)
        return;
    uint64_t second = (done_ns - begin_ns) / NS_PER_S;
    if (second >= seconds->count) /* what was under way when the phase ended */
        return;
    struct second_sum *sum = &seconds->sums[role * seconds->count + second];
    relaxed_add(&sum->ops, stream != STREAM_log_flush); /* part of the price of a log write */
    relaxed_add(&sum->response_ns, response_ns);
}

void seconds_end(struct seconds *seconds)
{
    atomic_store_explicit(&seconds->begin_ns, 0, memory_order_release);
}

void seconds_merge(struct seconds *into, const struct seconds *from, enum speed_role role)
{
    for (size_t i = role * into->count; i < (role + 1) * into->count; i++) {
        into->sums[i].ops += relaxed_load(&from->sums[i].ops);
        into->sums[i].response_ns += relaxed_load(&from->sums[i].response_ns);
    }
}

const struct second_sum *seconds_of(const struct seconds *seconds, enum speed_role role)
{
    assert(role < ROLE_COUNT);
    return seconds->sums + role * seconds->count;
}

unsigned seconds_plateau(const struct second_sum *sums, size_t count, double bound_ns)
{
    unsigned longest = 0, now = 0, silent = 0;
    for (size_t i = 0; i < count; i++) {
        if (sums[i].ops == 0) {
            silent++;
            continue;
        }
        bool above = (double)sums[i].response_ns / (double)sums[i].ops > bound_ns;
        now = above ? now + (now ? silent : 0) + 1 : 0;
        silent = 0;
        longest = now > longest ? now : longest;
    }
    return longest;
}
