/*
 * ledger.h - what the device owes us: per page, the generations it must be able to return.
 *
 * A mapped file: header, file table, then 16 bytes a page.  It survives SIGKILL; it is believed if
 * it is marked clean or comes from this boot.
 *
 * Entry: two 64-bit words, lock-free; the memory order and its proof stand in ledger_entry.c.
 *   word A  acknowledged generation 40 | epoch 17 | flush 2 | older unknown 1 | state 3 | seen 1
 *   word B  low 17 bits of issued | low 17 bits of durable | time of last good write 18 (8 s units
 *           since the session began) | actor 12
 * issued is the smallest value >= acknowledged with its low bits, durable the largest <=
 * acknowledged; so an acknowledgement moves word A alone.  A generation is 64 bits everywhere else;
 * 2^40 changes of one page are out of reach (35 years at 1,000 changes a second).
 * issued - durable is bounded by LEDGER_SPAN_MAX: the page writer asks ledger_span_ok() and writes,
 * or flushes, first.  A greater step from a settled page (first write of a session that starts far
 * above the last one) is allowed and sets "older unknown": durable reads as 0 until the page is
 * durable again, and acknowledged as issued - 1 while the step is in flight.
 *
 * Invariants:
 *  1. At most one write per page is between ledger_begin and ledger_ack / ledger_fail.
 *  2. acknowledged only rises, and only on a full-length successful completion (or a far step).
 *  3. The epoch changes at each begin and each end of a write, and with every other change of
 *     state; a read is judged only if the page was quiet with the same epoch at submission and at
 *     completion.  Views of one epoch agree in state and acknowledged, and in issued unless in
 *     flight; durable may rise within it.
 *  4. durable <= acknowledged <= issued.
 *  5. After a failed write the page is indeterminate between durable and issued until a later write
 *     is acknowledged and, if it was not write-through, a flush that began after that succeeded.
 *     After a failed flush the same holds for every page acknowledged since the last good flush and
 *     for every page in flight.  Freeing a page does not settle it.
 *  6. Quarantine sticks: writes of a quarantined page are recorded, its state does not change.
 *
 * What it does not do: remember more than one older generation, count, or name a fault.
 *
 * Threads: ledger_begin/ack/fail/free of one page by the one writer of that page; views, seen,
 * quarantine and flushes by anyone; file table changes before the first actor runs.
 */
#ifndef VERIFY_LEDGER_H
#define VERIFY_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/page.h"
#include "verify/write_order.h"

#define LEDGER_MAGIC      0x31524744454C5350ull /* "PSLEDGR1" */
#define LEDGER_VERSION    1
#define LEDGER_SPAN_MAX   131000 /* below 2^17: distance of generations that an entry can hold */
#define LEDGER_FILES_MAX  1024
#define LEDGER_PATH_BYTES 512
#define LEDGER_FILE_NAME  "ledger" /* in the folder of a run */
/* The reason of a ledger that is marked clean and is not what was closed. */
#define LEDGER_REASON_DAMAGED "its entries are damaged"

enum ledger_state {
    LEDGER_NEVER_WRITTEN,
    LEDGER_QUIET,
    LEDGER_IN_FLIGHT,
    LEDGER_INDETERMINATE,
    LEDGER_FREED,
    LEDGER_QUARANTINED, /* a finding stands on this page: not judged again */
};

struct ledger_entry {
    _Atomic uint64_t a, b;
};
static_assert(sizeof(struct ledger_entry) == 16, "16 bytes a page");

/* A consistent reading of an entry. */
struct ledger_view {
    uint64_t acked, issued, durable;
    enum ledger_state state;
    uint32_t epoch;  /* modulo 2^17 */
    bool seen;       /* read back and found right since the last acknowledged write */
    uint16_t actor;  /* modulo 4096 */
    uint64_t time_s; /* of the last good write, seconds since session start, 8 s coarse */
};

/* One row of the file table, on disk. */
struct ledger_file {
    uint16_t uid; /* index + 1 */
    uint16_t incarnation;
    uint16_t file_id;
    uint16_t database_id;
    uint32_t kind;             /* enum file_kind */
    uint32_t size_pages_acked; /* file size is acknowledged or in flight like a page */
    uint32_t size_pages_issued;
    uint32_t capacity_pages; /* entries reserved */
    uint64_t device, inode;
    uint64_t entries_offset; /* in the ledger file; 0 for log files */
    /* log files: what was acknowledged as durable */
    _Atomic uint64_t log_durable_position;
    _Atomic uint32_t log_durable_crc;
    uint32_t reserved;
    char path[LEDGER_PATH_BYTES];
};

struct ledger_header {
    uint64_t magic;
    uint32_t version;
    uint32_t clean; /* 1 = closed in order */
    uint8_t run_id[RUN_ID_BYTES];
    uint8_t boot_id[16];
    uint64_t seed;
    uint64_t session;
    uint64_t session_start_ns; /* realtime */
    uint32_t file_count;
    uint16_t compressible;
    uint16_t phase; /* enum ledger_phase */
    /* XXH3-64 of the file with this field and clean as 0; counts only where it is marked clean */
    uint64_t content_xxh3;
};
enum ledger_phase {
    LEDGER_PHASE_CREATING,
    LEDGER_PHASE_RUNNING,
    LEDGER_PHASE_DONE,
    LEDGER_PHASE_SETTLED, /* done, and no change is in the log alone: a last checkpoint was made */
};

struct ledger; /* the mapping */

/* What a ledger is made for. */
struct ledger_file_spec {
    uint16_t incarnation, file_id, database_id;
    uint32_t kind;
    uint32_t capacity_pages;
    const char *path;
};

/* Create at path (must not exist) for these files; uid of specs[i] is i + 1. 0 or -errno. */
int ledger_create(struct ledger **out, const char *path, const struct run_identity *run,
                  uint64_t seed, uint64_t session_start_ns, const uint8_t boot_id[16],
                  const struct ledger_file_spec *specs, size_t count)
    __attribute__((warn_unused_result));
/* Map an existing one (writable: and mark it open).  -EBADMSG with a reason when it contradicts
 * itself: it may come from anywhere. */
int ledger_open(struct ledger **out, const char *path, bool writable, const char **reason)
    __attribute__((warn_unused_result));
/* Check an image in memory (8-byte aligned): what ledger_open checks (fuzzing). */
int ledger_validate(const void *image, size_t size_bytes, const char **reason)
    __attribute__((warn_unused_result));
/* Mark clean (or leave open) and unmap; NULL is fine. */
void ledger_close(struct ledger *ledger, bool clean);

struct ledger_header *ledger_header_of(struct ledger *ledger);
/* NULL if there is no such file. */
struct ledger_file *ledger_file_at(struct ledger *ledger, uint16_t uid);
/* Believed: was marked clean when it was opened, or is of this boot. */
bool ledger_believed(const struct ledger *ledger, const uint8_t boot_id[16]);

struct ledger_view ledger_view(const struct ledger *ledger, uint16_t uid, uint32_t page_no);
/* Quiet at both moments and no write between them? */
static inline bool ledger_same_quiet(struct ledger_view before, struct ledger_view after)
{
    bool quiet = before.state != LEDGER_IN_FLIGHT && after.state != LEDGER_IN_FLIGHT;
    return quiet && before.epoch == after.epoch;
}

/* A write of generation is about to be submitted.  generation > issued (or equal to it, when the
 * page is indeterminate and the same image is written again), and ledger_span_ok().  Who counts
 * generations overwritten unread looks at the view before: acked > 0 && !seen. */
void ledger_begin(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint64_t generation);
/* It completed in full.  durable: write-through. */
void ledger_ack(struct ledger *ledger, uint16_t uid, uint32_t page_no, bool durable, uint16_t actor,
                uint64_t time_s);
/* It failed, was short, or its fate is unknown. */
void ledger_fail(struct ledger *ledger, uint16_t uid, uint32_t page_no);
/* Flushes.  ledger_flush_begin right before the flush is submitted; ledger_flush_end with its
 * number when it completed.  Writes may begin and complete in between: a page whose ledger_ack was
 * called after the begin keeps its old durable mark until the next good flush, every other one
 * (also one that is in flight again) becomes durable as it was acknowledged.  If the flush failed,
 * invariant 5.  Flushes of one file may overlap and end in any order; one that saw three others
 * begin settles nothing. O(pages touched). */
uint32_t ledger_flush_begin(struct ledger *ledger, uint16_t uid)
    __attribute__((warn_unused_result));
void ledger_flush_end(struct ledger *ledger, uint16_t uid, uint32_t flush, bool ok);
/* The same for a caller that kept every write of the file from completing between submission and
 * completion of the flush: everything acknowledged is durable, or in doubt. */
void ledger_flushed(struct ledger *ledger, uint16_t uid);
void ledger_flush_failed(struct ledger *ledger, uint16_t uid);
/* A read that was judged right; no effect if the epoch moved on or the page is not judged. */
void ledger_seen(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint32_t epoch);
void ledger_quarantine(struct ledger *ledger, uint16_t uid, uint32_t page_no);
/* The page belongs to nobody now: not judged until it is written again.  Generations stay, and what
 * was given to changes that were never written is issued, too: the next one is above it
 * (generation: of the page as it stood in memory, 0 if it did not).  Not while it is in flight. */
void ledger_free(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint64_t generation);
/* The file was emptied, and what is written into it from now on is a new beginning: as if no page
 * had ever been written.  Only for a snapshot, whose pages carry the generations of another file;
 * while nobody reads or writes it. */
void ledger_restart(struct ledger *ledger, uint16_t uid);
/* Enter what an audit found on the device of a page that the ledger does not know (a new ledger
 * over old files): acknowledged, durable and unseen.  Before the first actor runs. */
void ledger_adopt(struct ledger *ledger, uint16_t uid, uint32_t page_no, uint64_t generation);
/* After ledger_open of a ledger whose process died: nothing is in flight any more; what was is
 * indeterminate.  Before the first actor runs. */
void ledger_settle_in_flight(struct ledger *ledger);
/* May generation be issued without overflowing the entry?  If not, a flush of the file (or, in
 * flight, the end of the write and then a flush) makes it so. */
bool ledger_span_ok(const struct ledger *ledger, uint16_t uid, uint32_t page_no,
                    uint64_t generation);

/* When it was written and verified last, as far as this session remembers (write_order.h). */
struct page_order ledger_order(const struct ledger *ledger, uint16_t uid, uint32_t page_no);

/* Coverage of one file: pages ever written and not freed, of them seen since the last write; pages
 * in each state. */
struct ledger_count {
    uint64_t written, seen, indeterminate, quarantined, never_written, in_flight, freed;
    uint64_t unseen; /* written, not seen since, and neither indeterminate nor quarantined */
};
struct ledger_count ledger_count(const struct ledger *ledger, uint16_t uid);

#endif
