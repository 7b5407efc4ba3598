/*
 * pattern.h - the pattern contract: a named, pure generator of intents.
 *
 * A pattern is one kind of actor (RandomUser, AuditUser, checkpoint).  next() says what the actor
 * wants to do now; sim/actor.c does it as a state machine.  A pattern owns no thread, no file, no
 * clock: all it knows is its settings, its own state, its random numbers and the view.
 *
 * To add one: patterns/<name>.c exporting `const struct pattern pattern_<name>` and one line in
 * patterns.def.  Option section, --help, validation, report row follow from the descriptor.
 *
 * Threads: the state of one actor is used by its own worker only.
 */
#ifndef PATTERNS_PATTERN_H
#define PATTERNS_PATTERN_H

#include "config/opt.h"
#include "patterns/rng.h"

enum op_kind {
    OP_UPDATE,      /* one transaction: read a chain of pages, change some of them, commit */
    OP_AUDIT,       /* read pages from the device, past the pool, and verify them */
    OP_READ_AHEAD,  /* read pages ahead: a scan, into the pool */
    OP_BULK,        /* a load in bulk: overwrite whole pages, write them eagerly, commit */
    OP_BACKUP,      /* back up the actor's databases, or only their logs */
    OP_CHECKPOINT,  /* run a checkpoint of the database */
    OP_FRAME_CHECK, /* validate clean pages of the pool: the next one, in memory or on the disk;
                       with page_count the frames from first_page on, in memory */
    OP_CHECKDB,     /* its part of one pass over a database: read and verify page sets */
    OP_LAZY_WRITE,  /* one sweep of the lazy writer over the pool */
    OP_SORT,        /* a sort that spills to tempdb: runs are written, merged and read back */
    OP_HASH,        /* a hash join that spills: partitions are written and read back */
    OP_RESIZE,      /* grow a database's data files, or shrink one file, by so many increments */
    OP_STORE,       /* tempdb through the pool: make pages, read some that live, drop the oldest */
    OP_THINK,       /* sleep think_ns */
    OP_YIELD,       /* give the turn away once */
    OP_COMPUTE,     /* burn about compute_cycles CPU cycles */
    OP_END,         /* nothing is left to do: the actor ends */
};

/* Does it use pages?  The others are pauses. */
static inline bool op_is_work(enum op_kind kind)
{
    return kind != OP_THINK && kind != OP_YIELD && kind != OP_COMPUTE && kind != OP_END;
}

/* One page of an OP_UPDATE chain. */
struct op_page {
    uint32_t page_no;
    uint32_t log_bytes; /* payload of its log record when updated */
    bool update;        /* else read only */
};

/* OP_SORT, OP_HASH: what is written to tempdb, past the pool. */
struct op_spill {
    uint64_t pages;       /* of the object */
    uint32_t chunk_pages; /* of one request */
    uint32_t run_pages;   /* OP_SORT: of an initial run, what fits in the memory of the sort */
    uint32_t ways;        /* OP_SORT: runs merged at a time; OP_HASH: partitions */
    uint32_t outstanding; /* requests */
};

/* OP_STORE: version store, worktables. */
struct op_store {
    uint32_t pages;      /* made, whole extents */
    bool iam;            /* one more before them, the IAM page of an object */
    uint32_t reads;      /* of pages that live */
    uint64_t keep_pages; /* that live after it: the oldest beyond them are dropped */
};

/* An intent.  Page numbers may name system pages: the executor skips those. */
struct op {
    enum op_kind kind;
    unsigned file;               /* index into view->files */
    uint32_t first_page;         /* OP_AUDIT, OP_READ_AHEAD, OP_BULK */
    uint32_t page_count;         /* the same */
    const struct op_page *pages; /* OP_UPDATE: in the order in which they are used (a chain
                                    ascends); the pattern's memory, valid until the next call */
    unsigned pages_count;
    unsigned first_request_pages; /* OP_READ_AHEAD: its first request is so long, and each further
                                     one doubles; 0: all are as long as they may be */
    bool may_be_cut;              /* OP_READ_AHEAD: so long that it need not be done to its end */
    unsigned log_records;         /* OP_BULK: format records to reserve log space for */
    struct op_spill spill;        /* OP_SORT, OP_HASH */
    bool rollback;    /* SQLIOSim's RollbackChance: pages are read, nothing is changed or logged */
    bool undo;        /* OP_UPDATE: pages are changed, then all of it is undone, with log records */
    bool log_only;    /* OP_BACKUP */
    bool new_extents; /* OP_BULK: into page_count pages newly allocated in the file's database */
    bool full_log;    /* OP_BULK: each page is logged in full */
    bool unread;      /* OP_BULK: what is in memory is not read again (CacheHitRatio) */
    struct op_store store; /* OP_STORE */
    int64_t increments; /* OP_RESIZE: below 0: shrink; of the file, or the database of the file */
    int64_t think_ns;
    bool snapshot;     /* OP_CHECKDB: of snapshots of the data files */
    bool unseen_only;  /* OP_AUDIT: what nobody has read back since it was last written */
    bool on_disk;      /* OP_FRAME_CHECK: read it again instead */
    bool until_called; /* OP_THINK: also ends when what the pattern serves calls for it */
    int64_t compute_cycles;
    uint64_t due_ns; /* open loop: when it was to begin (run clock), set by the actor; else 0 */
};

struct pattern_file {
    uint32_t size_pages;
    uint16_t database;                                  /* index */
    uint32_t initial_pages, max_pages, increment_pages; /* what a change of size goes by; increment
                                                           0: it has one size */
    bool shrinkable;
    bool sparse; /* pages come when they are changed; it gives no new extents */
};

/* What a pattern may know of the world at this moment. */
struct pattern_view {
    uint64_t now_ns;                  /* the run's clock */
    const struct pattern_file *files; /* data files that this actor may use */
    unsigned file_count;
    unsigned log_used_permille;  /* of its database */
    bool frames_low;             /* the pool's supply of free frames is low */
    bool frames_wanted;          /* somebody waits for a free frame */
    bool log_space_wanted;       /* somebody waits for log space */
    bool checkpoint_indirect;    /* its database has a target recovery time */
    bool recovery_due;           /* and more dirty pages than that allows */
    bool checkpoint_asked;       /* somebody waits for a checkpoint of its database */
    bool log_held;               /* a checkpoint would give no log space back now */
    bool checkpoint_no_room;     /* the last checkpoint found no log for its records */
    bool serving;                /* its phase is over, and it works for those that have not ended */
    bool through;                /* its phase waits for it (Until), and has it no more */
    bool log_backup_wanted;      /* only a missing log backup of its databases keeps log */
    uint64_t last_checkpoint_ns; /* end of the last checkpoint */
    uint64_t checkpoint_interval_ns;
    unsigned log_full_permille; /* a checkpoint begins */
};

/* Open loop: how often work arrives for all actors of a pattern together, whether or not earlier
 * work is done.  In thousandths. */
struct pattern_rate {
    int64_t per_second; /* 0 = closed loop: each actor asks for more when it is done */
    int64_t data_ios;   /* page reads and page updates of one arrival, on average */
};

/* Buffers of its own for reads past the pool. */
struct pattern_reads {
    unsigned outstanding; /* requests that one actor keeps under way */
    unsigned pages;       /* most of one request */
    bool snapshots;       /* of data files that are snapshots of the moment when it began */
};

/* What the actors of a pattern use of tempdb, together. */
struct pattern_tempdb {
    uint64_t need_bytes; /* at most at a time; 0: nothing */
    uint64_t size_bytes; /* how large tempdb shall be; 0: as is fit */
};

struct pattern {
    const char *name;                  /* "RandomUser": section name, report row */
    const char *help;                  /* what SQL Server activity it stands for */
    const struct opt_section *section; /* NULL: no options */
    bool per_database; /* one actor a database (checkpoint) instead of user_count() */
    bool service;      /* works for the users: runs until the last of them has ended */
    bool cleans;       /* uses OP_LAZY_WRITE; the pool calls it when frames are short */
    bool idle;         /* runs only while its worker has nothing else to do */
    bool checks;       /* uses OP_FRAME_CHECK: its actors get buffers for it */
    bool backs_up;     /* uses OP_BACKUP: its actors get what that needs */
    bool audits;       /* uses OP_AUDIT: its actors get a buffer for it */
    /* Number of actors for these settings (SQLIOSim: -1 = min(cpus * 2, 8)). NULL if per_database.
     */
    int64_t (*user_count)(const void *settings, int64_t cpu_count);
    /* Bytes of state of one actor. */
    size_t (*state_size)(const void *settings);
    void (*init)(void *state, const void *settings, uint64_t seed, unsigned actor_index);
    /* The next intent.  Pure: the same state and view give the same op. */
    void (*next)(void *state, const struct pattern_view *view, struct op *out);
    /* NULL: always closed loop.  With a rate, every op that reads or writes pages is an arrival,
     * and the pattern asks for no pauses: the arrivals set the pace. */
    struct pattern_rate (*rate)(const void *settings);
    bool loads; /* uses OP_BULK */
    /* Its OP_BULK loads new extents.  NULL: never. */
    bool (*new_extents)(const void *settings);
    /* Uses OP_RESIZE: most increments of one change of size.  NULL: it does not.  Its actors are
     * there only when a file is shrinkable. */
    int64_t (*resizes)(const void *settings);
    /* Most consecutive pages of one OP_READ_AHEAD, OP_BULK or chain; NULL: it has none of them. */
    int64_t (*pages_at_once)(const void *settings);
    /* Most requests of an OP_READ_AHEAD under way; NULL or 0: as its buffers allow. */
    int64_t (*requests_at_once)(const void *settings);
    /* NULL: does not use OP_CHECKDB. */
    struct pattern_reads (*reads)(const void *settings);
    /* Most pages of one OP_UPDATE that may be undone; 0 or NULL: it asks for no undo. */
    int64_t (*undo_pages)(const void *settings);
    /* Each page shall be read back within so many ns after it was written.  NULL or 0: no bound. */
    int64_t (*verify_within)(const void *settings);
    /* Largest number of log payload bytes and records of one OP_UPDATE; NULL: writes no log. */
    void (*log_need)(const void *settings, uint64_t *payload_bytes, uint64_t *records);
    /* Which of its pattern's actors it is, once, after init; NULL: all are alike. */
    void (*place)(void *state, unsigned kind_index);
    /* NULL: does not use tempdb. */
    struct pattern_tempdb (*tempdb)(const void *settings);
    /* With tempdb: the largest op of this actor, whose memory is made beforehand; OP_END: of none
     * that needs any. */
    void (*largest)(const void *state, struct op *out);
};

#define PATTERN(name) extern const struct pattern pattern_##name;
#include "patterns/patterns.def"
#undef PATTERN

extern const struct pattern *const patterns[]; /* in the order of patterns.def */
extern const size_t patterns_count;

/* Its part of the requests of a closed loop, in hundredths of a percent: its key Share; 0: none. */
int64_t pattern_share(const struct pattern *pattern, const void *settings);
/* Any case; NULL if unknown. */
const struct pattern *pattern_by_name(const char *name);
/* The option sections of all patterns, for profile_create. Returns the number written. */
size_t pattern_sections(const struct opt_section **out, size_t max);

#endif
