/*
 * findings.h - the list of broken promises of a run, and what is done with each.
 *
 * finding_report() is called by whoever proved a fault, from any worker.  It gives the event a
 * number, writes its evidence before it returns, quarantines the page in the ledger so that one
 * physical fault stays one event, prints one line, counts, and stops the run when StopOnError says
 * so. The first FINDINGS_MAX events are kept whole; beyond that only the counts grow.
 *
 * One event for one fault:
 *  - integrity: a page, or a place in a file, with a persistent finding is not reported again; one
 * that healed leaves the page open, so what comes later is another event;
 *  - io_error and warning: the first of a class in a file is kept, the later ones are counted in
 *    `times` (of read_retry, stalled_io and host_pause the first FINDINGS_SINGLE_MAX are kept).
 * StopOnError stops at integrity and io_error events, not at warnings.
 *
 * At the end findings_pair() joins the two ends of a misdirection: the victim (it holds another
 * page's content) and the home page (it was not written).
 *
 * Locks: one mutex, taken last.
 */
#ifndef SIM_FINDINGS_H
#define SIM_FINDINGS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "sim/clock.h"
#include "sim/drive_level.h"
#include "sim/event.h"
#include "sim/finding_sites.h"
#include "verify/explain.h"

#define FINDINGS_MAX         1000
#define FINDINGS_SINGLE_MAX  100 /* of each class that is kept one by one */
#define FINDING_FILE_MAX     512
#define FINDING_DETAIL_MAX   400
#define FINDING_REASON_MAX   160
#define FINDING_EVIDENCE_MAX 128
#define FINDING_DUMP_MAX     32
#define FINDING_RANGES_MAX   16

struct finding_range {
    uint32_t first, count; /* pages */
};

struct finding {
    unsigned number; /* from 1; set by finding_report */
    enum verdict verdict;
    char file[FINDING_FILE_MAX]; /* path */
    uint16_t file_uid;
    bool has_page;
    uint32_t page_no;
    uint64_t offset;        /* in the file */
    uint64_t size_bytes;    /* of the affected range */
    struct explanation why; /* data pages; else zeroed */
    unsigned retries;       /* reads after the first */
    unsigned agreed;        /* of them with the same wrong image */
    bool healed;
    uint64_t heal_ns;         /* from the first bad read to the first good one; 0: not known */
    int error;                /* errno of the system, or 0 */
    char actor[32];           /* who met it */
    struct event_place place; /* where in the source; set by finding_report */
    uint16_t writer;          /* actor number of the last good write */
    uint64_t written_s;       /* when, seconds since session start (8 s coarse) */
    uint64_t found_ns;        /* realtime; set by finding_report */
    bool paired;              /* the other end was found */
    char other_file[FINDING_FILE_MAX];
    uint32_t other_page_no;
    uint64_t other_generation;
    /* Where the range begins on the disk; set by finding_report (disk_place.h).  device "": not
     * known. */
    char device[DRIVE_NAME_MAX];
    uint64_t device_offset;
    uint32_t device_sector_bytes;
    uint16_t database_id, file_id;       /* SQL Server's; set by finding_report; 0: not known */
    char sql_reason[FINDING_REASON_MAX]; /* finding_sql.h; set by finding_report */
    char detail[FINDING_DETAIL_MAX];     /* one sentence of fact */
    char evidence[FINDING_EVIDENCE_MAX]; /* file name under evidence/, "" if none */
    char dump[FINDING_DUMP_MAX];         /* file name of the error dump, "" if none */
    bool amended;                        /* dropped: joined into another event */
    uint64_t times;  /* events of this kind that this one stands for; at least 1 */
    uint64_t age_ns; /* of a request that hangs: outstanding for; else 0 */
    /* An event of many pages (finding_group.h); else 0.  ranges: the first of its file. */
    uint64_t pages;
    struct finding_range ranges[FINDING_RANGES_MAX];
    unsigned range_count;
    uint32_t ranges_all;
};

/* Images for the evidence file; each may be NULL. */
struct finding_images {
    const void *read_image;     /* the first wrong one */
    const void *last_image;     /* the last wrong one */
    const void *good_image;     /* the first right one, of a read that healed */
    const void *expected_image; /* what was owed */
    size_t size_bytes;
};

struct hook;
struct disk_map;
struct io_histories;

struct findings {
    pthread_mutex_t lock;
    struct clock *clock;
    struct ledger *ledger;
    const char *evidence_dir;   /* NULL: no files */
    const char *dump_dir;       /* of SqlSimErrorDumpNNNNN.txt; NULL: none */
    const char *sysfs;          /* to find devices; NULL: nobody looks (a modelled device) */
    const struct disk_map *map; /* of requests that hang; NULL: they are not placed */
    struct hook *hook;          /* commands to start (finding_hook.h); NULL: none */
    const struct io_histories *histories; /* the last requests; NULL: not kept */
    bool stop_on_error;
    void (*stop)(void *context, const struct finding *finding);     /* StopOnError */
    void (*announce)(void *context, const struct finding *finding); /* one line for people */
    /* What is integrity or io_error may get another name before it is recorded (exonerate.h); may
     * be NULL. */
    void (*consider)(void *context, struct finding *event, const struct finding_images *images);
    void *context;
    struct finding *list;    /* FINDINGS_MAX, allocated at init */
    unsigned count;          /* kept in list */
    unsigned evidence_count; /* integrity events with evidence files */
    unsigned dump_count;
    uint64_t by_verdict[VERDICT_COUNT];
    struct finding_sites sites; /* the pages of all persistent integrity events, small */
};

int findings_init(struct findings *findings, struct clock *clock, struct ledger *ledger,
                  const char *evidence_dir, bool stop_on_error) __attribute__((warn_unused_result));
void findings_free(struct findings *findings);
/* The event's number; 0 if it was folded into another one or the list is full. */
#define finding_report(findings, finding, images)                                                  \
    finding_report_at(findings, finding, images, EVENT_HERE)
unsigned finding_report_at(struct findings *findings, const struct finding *finding,
                           const struct finding_images *images, struct event_place place);
/* A read was wrong or failed, and nothing was read again yet: the user's command, if there is one
 * for it, is started at once.  Returns a number while it is, else 0; it was started, or nobody
 * waits for it any more, when finding_sight_told() says so. */
unsigned finding_sight(struct findings *findings, const struct finding *finding);
bool finding_sight_told(const struct findings *findings, unsigned number);
/* More became known: give the event with this number another sentence of fact. */
void finding_detail(struct findings *findings, unsigned number, const char *detail);
/* Number of events of a severity (amended ones not counted). */
uint64_t findings_count(struct findings *findings, enum severity severity);
/* The same by class. */
void findings_counts(struct findings *findings, uint64_t out[VERDICT_COUNT]);
/* The persistent event of severity integrity that stands on a page, or NULL.  For the pairing: no
 * worker is running. */
struct finding *findings_at(struct findings *findings, uint16_t file_uid, uint32_t page_no);
/* Give an event another class, or drop it because it is the other end of a second one. */
void finding_rename(struct findings *findings, struct finding *finding, enum verdict verdict);
void finding_drop(struct findings *findings, struct finding *finding);
/* One line: `LOST WRITE sqliosim.mdx page 4711: generation 8 read, 9 was acknowledged (SQL Server:
 * 824)` */
void finding_line(const struct finding *finding, char *out, size_t out_size_bytes);

#endif
