/*
 * fault_rule.h - inside of the fault layer: which rules fire on a transfer, and what was there
 * before.
 *
 * Shared by the fault layer's own files only.  Functions taking the config are called with its lock
 * held unless they say otherwise.
 */
#ifndef SIM_FAULT_RULE_H
#define SIM_FAULT_RULE_H

#include "sim/engine_fault.h"

/* A rule that fired on a request. */
struct fault_hit {
    unsigned rule;
    size_t skip, size_bytes; /* the touched part, from the start of the transfer */
};

/* One transfer as the rules see it. */
struct fault_range {
    enum io_op op;
    const struct io_target *target;
    uint64_t offset;
    size_t size_bytes;
};

/* Count the transfer, let the rules match; hits has room for FAULT_RULES_MAX. */
unsigned fault_match(struct fault_config *config, const struct fault_range *range,
                     struct fault_hit *hits);
/* The next place of the truth list, zeroed, or NULL when it is full. */
struct fault_truth *fault_record(struct fault_config *config);

/* Bytes were put elsewhere: known at once, whatever becomes of the transfer. */
struct fault_truth *fault_record_stray(struct fault_config *config, unsigned rule,
                                       const struct fault_stray *stray);

/* A transfer begins and ends; between, and before the end, the fate of a fault done to it. */
void fault_flight_begin(struct fault_config *config, const struct io_req *req,
                        const struct fault_range *range);
void fault_flight_end(struct fault_config *config, const struct io_req *req);
enum fault_fate fault_fate_now(const struct fault_config *config, const struct io_req *req);
void fault_flights_clear(struct fault_config *config);

static inline bool fault_wants_preimage(enum fault_kind kind)
{
    return kind == FAULT_STALE || kind == FAULT_REPLAY;
}

/* Before a write: keep what its range holds where a rule may ask for it. */
void fault_preimage_keep(struct fault_config *config, const struct fault_range *range);
bool fault_preimage_exists(const struct fault_config *config, const struct fault_range *range);
/* Lay what the range held before its last write over data (which holds the range). */
void fault_preimage_lay(const struct fault_config *config, const struct fault_range *range,
                        unsigned char *data);
void fault_preimage_clear(struct fault_config *config);

/* The files that are attached; they take the lock themselves. */
void fault_target_add(struct fault_config *config, const struct io_target *target);
void fault_target_drop(struct fault_config *config, const struct io_target *target);
/* The attached file with this uid, or NULL. */
const struct io_target *fault_target_of(struct fault_config *config, uint16_t uid);
/* FAULT_KEEP and FAULT_REVERT: copy a file as it is; put the last copy of it back.  0 or -errno,
 * -ENOENT without a copy.  They take the lock themselves. */
int fault_kept_make(struct fault_config *config, const struct io_target *target)
    __attribute__((warn_unused_result));
int fault_kept_restore(struct fault_config *config, const struct io_target *target)
    __attribute__((warn_unused_result));
void fault_kept_clear(struct fault_config *config);

/* Read through a descriptor that may demand alignment; zeros beyond the end of file. Any thread. */
int fault_pread(const struct io_target *target, void *data, size_t size_bytes, uint64_t offset)
    __attribute__((warn_unused_result));
int fault_pwrite(const struct io_target *target, const void *data, size_t size_bytes,
                 uint64_t offset) __attribute__((warn_unused_result));

#endif
