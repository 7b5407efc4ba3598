/*
 * engine_fault.h - the fault layer: over any engine, does to requests what bad storage does.
 *
 * Rules are matched per request at submission by operation, file and byte range; the nth match
 * fires, count times.  Every fault that was applied is written to the truth list.  The layer knows
 * bytes, files and offsets; it knows nothing of page or log formats.
 *
 * A persistent fault changes what reaches the device (through a copy), never the issuer's memory; a
 * transient one changes what the issuer gets, never the device.  A rule whose kind cannot act on
 * the operation (TORN on a read) does not match it.  Several rules may fire on one request and act
 * in the order of their indexes; FAULT_ERRNO keeps all but FAULT_DELAY from firing.  What lies
 * below must keep its bytes in the attached file: old content is read, and stray content written,
 * through the target's descriptor, which therefore is open for reading.  A flush has no byte range:
 * only rules with 0,0 match it.
 *
 * Threads: rules are set before the engines run and the list is shared by the engines of all
 * workers (one mutex); the truth list is read after they stopped.
 */
#ifndef SIM_ENGINE_FAULT_H
#define SIM_ENGINE_FAULT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/io.h"

enum fault_kind {
    FAULT_ERRNO,   /* a = errno; nothing is transferred */
    FAULT_SHORT,   /* a = bytes transferred of the request */
    FAULT_FLIP,    /* bit b of byte a of the range; write: persistent, read: transient */
    FAULT_FILL,    /* a = offset in the range, b = length, fill byte c (0 = zeroed) */
    FAULT_GARBAGE, /* a = offset, b = length: pseudo-random bytes from c */
    FAULT_TORN,    /* write: only the first a bytes of the range reach the device */
    FAULT_LOST,    /* write or flush: acknowledged, not done */
    FAULT_STALE,   /* read: the range returns what it held before its last write since the rule
                      was added; without one the rule does not match */
    FAULT_MISDIRECT_WRITE, /* the range goes to offset + a (a signed) of the same file; nowhere if
                              that is not inside the file */
    FAULT_MISDIRECT_READ,  /* the range comes from offset + a; zeros beyond the file */
    FAULT_NOT_READ,        /* read: success, the buffer is not touched in the range */
    FAULT_TRUNCATE,        /* the file is cut to a bytes after the request */
    FAULT_CHANGE_MEMORY, /* write: bit b of byte a of the caller's buffer flips after completion */
    FAULT_DELAY,         /* a ns more */
    FAULT_DUPLICATE,     /* write: done at its place and at offset + a, too */
    FAULT_NEIGHBOUR,     /* write: b bytes at offset + a become pseudo-random bytes from c */
    FAULT_OTHER_FILE,    /* write: the range goes to the same offset + a of the file with uid c */
    FAULT_KEEP,          /* the file is copied as it is before the request */
    FAULT_REVERT,        /* the copy of the last FAULT_KEEP is put back, before the request */
    FAULT_REPLAY,        /* read: what the range held before its last write is written again first;
                            matches like FAULT_STALE */
    FAULT_WRAP,          /* what lies at a or beyond goes to, and comes from, offset modulo a */
    FAULT_CHANGE_BEFORE, /* write: bit b of byte a of the caller's buffer flips before the transfer
                          */
};

struct fault_rule {
    enum fault_kind kind;
    enum io_op op;
    uint16_t file_uid; /* 0 = any */
    bool any_op;
    uint64_t low, high; /* byte range [low, high) that the request must touch; 0,0 = any.
                           Offsets in a, b count from the start of the touched part */
    unsigned nth;       /* first matching request that fires, from 1; 0 = 1 */
    unsigned count;     /* how often it fires from there; 0 = once, UINT32_MAX = always */
    int64_t a, b, c;
    /* private */
    unsigned matches, fired;
};

/* What became of it: an error, and what is done to a read, is met at once; what stays on the device
 * waits for a read, and is masked when its bytes are written again before.  See fault_fate.c. */
enum fault_fate {
    FAULT_PENDING,
    FAULT_MET,
    FAULT_MASKED,
};

/* One fault that took effect; a rule that fired on a transfer which then failed leaves none, or one
 * of size 0 with what it had put elsewhere. */
struct fault_truth {
    unsigned rule;
    enum io_op op;
    uint16_t file_uid;
    uint64_t offset, size_bytes; /* the touched part */
    uint64_t time_ns;
    enum fault_fate fate;
    /* Where else bytes were put (misdirected, duplicated, wrapped, neighbours); size 0: nowhere. */
    struct fault_stray {
        uint16_t file_uid;
        uint64_t offset, size_bytes;
        enum fault_fate fate;
    } stray;
};

#define FAULT_RULES_MAX 64
#define FAULT_TARGETS_MAX                                                                          \
    64 /* files that FAULT_OTHER_FILE can reach: the first that are attached */
#define FAULT_TRUTH_MAX 4096

struct fault_config {
    const struct io_engine_ops *below;
    void *below_device;
    pthread_mutex_t lock;
    struct fault_rule rules[FAULT_RULES_MAX];
    unsigned rule_count;
    struct fault_truth truth[FAULT_TRUTH_MAX];
    unsigned truth_count;
    uint64_t truth_dropped; /* applied beyond FAULT_TRUTH_MAX */
    uint64_t requests;      /* transfers seen so far, for the nth-I/O loops (any_op, nth = k) */
    /* pre-images kept for FAULT_STALE rules */
    struct fault_preimage *preimages;
    struct fault_flight *flights;                       /* transfers under way, see fault_fate.c */
    struct fault_kept *kept;                            /* copies of FAULT_KEEP */
    const struct io_target *targets[FAULT_TARGETS_MAX]; /* attached; NULL: free */
};

extern const struct io_engine_ops engine_fault;

void fault_config_init(struct fault_config *config, const struct io_engine_ops *below,
                       void *below_device);
void fault_config_clear(struct fault_config *config);
/* Index of the rule. */
unsigned fault_add(struct fault_config *config, const struct fault_rule *rule);

#endif
