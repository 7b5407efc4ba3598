/*
 * page_read.h - judging page images, and the ladder of re-reads when one is not right.
 *
 * A page is judged only if the ledger shows it quiet with the same epoch before the read was
 * submitted and after it completed; otherwise the read is OVERLAPPED and proves nothing.
 *
 * Ladder: 4 re-reads at once into another buffer (SQL Server's; success = 825), up to 15 with
 * growing pauses (SQLIOSim's), one through a descriptor of its own, and one through such a
 * descriptor after the kernel was told to forget the page.  Those two ask the device itself
 * (O_DIRECT) wherever the file system can, also of a file that is used through the page cache.  The
 * first good read decides "transient", and the time until then is told; the first bad, the last bad
 * and the first good image are kept for the evidence.  A page that stays unreadable is read sector
 * by sector, so that the finding says which are (page_sectors.h).
 *
 * Ownership: the reader belongs to one task; its buffers are allocated with it.  No allocation
 * while reading.
 */
#ifndef SIM_PAGE_READ_H
#define SIM_PAGE_READ_H

#include "sim/page_sectors.h"
#include "sim/run.h"

#define REREADS_AT_ONCE 4  /* SQL Server */
#define REREADS_MAX     15 /* SQLIOSim */
#define REREADS_FRESH   16 /* through a descriptor of its own */
#define REREADS_COLD    17 /* ... past what the kernel remembers */
/* The first re-read waits that long at most until the user's command is started, so that a trace
 * that it freezes ends with the first wrong read.  Starting takes 1 to 2 ms. */
#define SIGHT_HOLD_NS 100000000ull
#define SIGHT_LOOK_NS 500000ull

enum page_read_result {
    PAGE_READ_WAIT, /* the task parks */
    PAGE_READ_RIGHT,
    PAGE_READ_OVERLAPPED,
    PAGE_READ_WRONG, /* a finding was reported */
    PAGE_READ_OVER,  /* of a batch: there are no more pages (page_batch.h) */
};

struct page_batch;

struct page_reader {
    struct run *run;
    struct task *task;
    const char *actor; /* for findings */
    struct data_file *file;
    uint32_t page_no;
    uint8_t *target; /* where the right image shall be */
    enum stream stream;
    struct io_req req;
    struct iovec iov;
    struct page_batch *batch; /* whose page is being read; NULL: a page of its own, or none */
    bool in_flight;
    bool cold;                   /* this read goes through a descriptor of its own */
    struct page_sectors sectors; /* of a page that cannot be read as a whole */
    struct io_target cold_target;
    unsigned attempt; /* reads after the first */
    unsigned agreed;
    unsigned bad_attempt; /* the last re-read that was wrong; 0: none */
    uint64_t serial;      /* poison of the present read */
    /* Open loop: how late its op began; its reads were due that much earlier. */
    uint64_t lateness_ns;
    struct ledger_view before;
    struct ledger_view first_before; /* of the first failure */
    struct explanation first_why;
    int first_error;
    uint64_t first_ns;  /* of the first failure: when it was seen */
    uint64_t resume_ns; /* pause ends */
    unsigned sight;     /* a command is being started for the first failure (finding_sight) */
    uint64_t sight_until_ns;
    uint8_t *memory; /* READER_PAGES pages */
    /* Re-reads go into the spares in turn: before a good one stands the last bad one. */
    uint8_t *first_image, *spares[2], *expected, *system_acked, *system_issued;
};

int page_reader_init(struct page_reader *reader, struct run *run, struct task *task,
                     const char *actor) __attribute__((warn_unused_result));
void page_reader_free(struct page_reader *reader);

/* Read one page into target (aligned) and judge it. */
void page_read_start(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                     uint8_t *target, enum stream stream);
/* Go on from an image that was read elsewhere (a vectored read) and found not right. */
void page_read_continue(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                        uint8_t *image, enum stream stream, uint64_t serial,
                        struct ledger_view before, int error);
enum page_read_result page_read_step(struct page_reader *reader);

/* Where the present read, or re-read, puts its bytes. */
uint8_t *page_read_buffer(struct page_reader *reader);
/* The image that was wrong last; NULL: none that could be read but the first. */
const uint8_t *page_read_last_bad(const struct page_reader *reader);

enum page_judgement { PAGE_JUDGED_RIGHT, PAGE_JUDGED_WRONG, PAGE_NOT_JUDGED };
/* Judge an image that was read between `before` and now; counts and marks it seen when right. */
enum page_judgement page_judge(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                               const uint8_t *image, struct ledger_view before);

#endif
