/*
 * fault_fate.c - what became of each fault: its sectors were read, or written again first.
 *
 * Whoever compares findings with the truth list needs this: a damage that a later write healed
 * before anybody read it cannot be found.  A transfer is known from its submission to its
 * completion.  A read has met what was in the truth list when it was submitted, and only if no
 * write of the same bytes was under way meanwhile: such a read may show either, and nobody judges
 * it.  Where a write covers part of a fault's bytes, the whole counts as written again.
 *
 * Invariant: a fate changes once, from FAULT_PENDING to FAULT_MET or FAULT_MASKED.
 */
#include <stdlib.h>

#include "sim/fault_rule.h"

struct fault_flight {
    struct fault_flight *next;
    const struct io_req *req;
    struct fault_range range;
    unsigned truth_count; /* at submission */
    bool crossed;         /* read: a write of the same bytes was under way */
};

static bool overlaps(uint16_t uid, uint64_t offset, uint64_t size_bytes,
                     const struct fault_range *range)
{
    return uid == range->target->uid && offset < range->offset + range->size_bytes &&
           range->offset < offset + size_bytes;
}

static bool flights_cross(const struct fault_flight *a, const struct fault_range *b)
{
    return (a->range.op == IO_WRITE) != (b->op == IO_WRITE) &&
           overlaps(a->range.target->uid, a->range.offset, a->range.size_bytes, b);
}

static void settle(struct fault_truth *truth, const struct fault_range *range, enum fault_fate fate)
{
    if (truth->fate == FAULT_PENDING &&
        overlaps(truth->file_uid, truth->offset, truth->size_bytes, range))
        truth->fate = fate;
    if (truth->stray.fate == FAULT_PENDING && truth->stray.size_bytes > 0 &&
        overlaps(truth->stray.file_uid, truth->stray.offset, truth->stray.size_bytes, range))
        truth->stray.fate = fate;
}

void fault_flight_begin(struct fault_config *config, const struct io_req *req,
                        const struct fault_range *range)
{
    if (range->op == IO_FLUSH || config->rule_count == 0)
        return;
    struct fault_flight *flight = calloc(1, sizeof(*flight));
    if (flight == NULL)
        return; /* a read that is not known has met nothing: no wrong claim */
    *flight = (struct fault_flight){
        .next = config->flights, .req = req, .range = *range, .truth_count = config->truth_count};
    for (struct fault_flight *other = config->flights; other; other = other->next) {
        if (!flights_cross(other, range))
            continue;
        other->crossed = flight->crossed = true;
    }
    config->flights = flight;
    if (range->op == IO_WRITE)
        for (unsigned i = 0; i < config->truth_count; i++)
            settle(&config->truth[i], range, FAULT_MASKED);
}

static struct fault_flight *flight_of(const struct fault_config *config, const struct io_req *req)
{
    struct fault_flight *flight = config->flights;
    while (flight && flight->req != req)
        flight = flight->next;
    return flight;
}

struct fault_truth *fault_record_stray(struct fault_config *config, unsigned rule,
                                       const struct fault_stray *stray)
{
    struct fault_truth *truth = fault_record(config);
    if (truth == NULL)
        return NULL;
    truth->rule = rule;
    truth->stray = *stray;
    for (struct fault_flight *other = config->flights; other; other = other->next)
        if (other->range.op == IO_WRITE &&
            overlaps(stray->file_uid, stray->offset, stray->size_bytes, &other->range))
            truth->stray.fate = FAULT_MASKED; /* either may be the last to reach the device */
    return truth;
}

enum fault_fate fault_fate_now(const struct fault_config *config, const struct io_req *req)
{
    const struct fault_flight *flight = flight_of(config, req);
    if (req->op != IO_READ)
        return req->op == IO_FLUSH ? FAULT_MET : FAULT_PENDING;
    return flight && !flight->crossed ? FAULT_MET : FAULT_MASKED;
}

void fault_flight_end(struct fault_config *config, const struct io_req *req)
{
    struct fault_flight *flight = flight_of(config, req);
    if (flight == NULL)
        return;
    struct fault_flight **link = &config->flights;
    while (*link != flight)
        link = &(*link)->next;
    *link = flight->next;
    if (flight->range.op == IO_READ && !flight->crossed && req->engine_result > 0)
        for (unsigned i = 0; i < flight->truth_count; i++)
            settle(&config->truth[i], &flight->range, FAULT_MET);
    free(flight);
}

void fault_flights_clear(struct fault_config *config)
{
    while (config->flights) {
        struct fault_flight *flight = config->flights;
        config->flights = flight->next;
        free(flight);
    }
}
