/*
 * fault_apply.h - inside of the fault layer: one request with faults, before and after its
 * transfer.
 *
 * Shared by the fault layer's own files only.  Threads: the engine's owner.
 */
#ifndef SIM_FAULT_APPLY_H
#define SIM_FAULT_APPLY_H

#include "sim/fault_rule.h"

struct fault_op {
    struct fault_op *next;
    struct fault_config *config;
    struct io_req *req;
    const struct iovec *iov; /* the issuer's, put back before the request returns */
    unsigned iov_count;
    struct fault_range range;
    unsigned char *payload; /* write: what shall reach the device */
    unsigned char *old;     /* what the device held at submission (loaded when asked for) */
    unsigned char *memory;  /* read: what the issuer's buffer held at submission */
    struct iovec payload_iov;
    ssize_t short_bytes; /* -1: not short */
    uint64_t delay_ns, due_ns;
    bool skip_transfer; /* the engine below does not see the request */
    ssize_t skipped_result;
    unsigned hit_count;
    struct fault_hit hits[FAULT_RULES_MAX];
    struct fault_truth *truths[FAULT_RULES_MAX]; /* of each hit that put bytes elsewhere */
};

/* Prepare the request for the engine below (or decide that it never gets there: skip_transfer). */
struct fault_op *fault_op_create(struct fault_config *config, struct io_req *req,
                                 const struct fault_range *range, const struct fault_hit *hits,
                                 unsigned hit_count);
/* The transfer ended: apply what belongs after it, put the request back as it was, log the truth.
 */
void fault_op_finish(struct fault_op *op, uint64_t now_ns);
void fault_op_free(struct fault_op *op);

#endif
