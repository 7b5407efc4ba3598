/*
 * backup.h - OP_BACKUP: the state machine that backs a database up, for its parts.
 *
 *   backup.c        which database, from the checkpoint to the end record
 *   backup_pages.c  the ring of buffers: pages read, verified, written
 *   backup_log.c    the log behind the writer
 *   backup_write.c  blocks, directories, header and trailer in the backup file
 *
 * A full backup is fuzzy: users go on while the pages are read.  Before it a checkpoint is taken;
 * from then on the log is held, and the log from MinLSN to the end follows the pages, so that redo
 * makes one state of them.  It reads past the pool, in transfers of MaxTransferSize through a ring
 * of buffers, from each volume in turn (SQL Server: one reader a volume), only allocated extents.
 * No file shrinks meanwhile.
 *
 * Nothing here waits for log space or frames, so users that wait for the log cannot make it wait.
 */
#ifndef SIM_BACKUP_H
#define SIM_BACKUP_H

#include "patterns/backup_user.h"
#include "sim/actor.h"
#include "sim/backup_media.h"
#include "sim/page_batch.h"

#define BACKUP_VOLUMES_MAX  16
#define BACKUP_OVERLAPS_MAX 1000 /* of one page: it is being written each time */

enum backup_buffer_state {
    BACKUP_BUFFER_FREE,
    BACKUP_BUFFER_READING,
    BACKUP_BUFFER_READ,
    BACKUP_BUFFER_WRITING,
};

struct backup;

struct backup_buffer {
    struct backup *backup;
    enum backup_buffer_state state;
    uint8_t *memory;   /* MaxTransferSize */
    struct io_req req; /* of its log, and of what is written */
    struct iovec iov;
    struct page_batch batch; /* of its pages */
    struct iovec batch_iov;
    struct backup_block row;
    struct data_file *file;
};

struct backup_volume {
    uint64_t device;
    unsigned file; /* of the database; the next page */
    uint32_t next_page;
    bool done;
};

struct backup {
    struct actor *actor;
    const struct backup_user_settings *settings;
    unsigned share, shares; /* databases share, share + shares, ... are this actor's */
    unsigned database_index;
    struct database *database;
    struct backup_media *media;
    struct backup_file *to; /* NULL: written nowhere */
    bool log_only;
    bool whole;     /* so far each database got its full backup in this op */
    bool forbidden; /* shrinks, by us */
    uint64_t ticket;
    struct wal_hold hold;
    uint64_t started_ns, first_position;
    int error;           /* of a transfer to the backup, or why it ends */
    bool failed, counts; /* counts: it ended as a backup */
    char why[BACKUP_WHY_MAX];
    /* blocks */
    uint64_t offset; /* where the next one goes */
    uint64_t sequence, pages, log_bytes, bytes;
    uint64_t last_directory;
    struct backup_header header;
    struct backup_directory directory;
    uint8_t *meta; /* a meta page on its way */
    struct io_req meta_req;
    struct iovec meta_iov;
    bool meta_busy;
    executor_step after_meta;
    /* pages */
    struct backup_volume volumes[BACKUP_VOLUMES_MAX];
    unsigned volume_count, volume_turn;
    unsigned buffer_count, busy;
    struct backup_buffer *buffers;
    struct backup_buffer *judging; /* its log is read and judged */
    unsigned overlaps;             /* of the page that is judged */
    struct page_reader reader;
    unsigned floor_file; /* the generations that are noted for the restore */
    uint32_t floor_page;
    /* log */
    uint64_t position, end_position;
    uint32_t crc;
    bool crc_known;
    unsigned log_tries;
    int log_error;       /* of the first of them */
    uint64_t log_serial; /* of the poison of the present read */
    struct wal_span span;
    uint8_t *scratch; /* LOG_BLOCK_BYTES_MAX */
};

/* actor.c: of a pattern with backs_up; share: of its actors. */
int backup_create(struct actor *actor, const struct backup_user_settings *settings, unsigned share)
    __attribute__((warn_unused_result));
void backup_free(struct actor *actor);
enum task_result backup_begin(struct actor *actor);
/* The actor has ended: where nobody backs logs up any more, they are not held for that. */
void backup_left(struct actor *actor);
/* Has it to go on, when the phase is over, for those that wait for the log? */
bool backup_serves_on(const struct actor *actor);
/* Must what it does come to its end? One that serves goes on while the run stops. */
bool backup_stops(const struct actor *actor);
/* Does the log of one of its databases wait for a log backup alone? */
bool backup_log_is_wanted(const struct actor *actor);

/* ---- between its parts ---- */

/* It cannot be completed; what is under way is waited for, then the next database follows. */
enum task_result backup_fail(struct actor *actor, const char *why, ...)
    __attribute__((format(printf, 2, 3)));
enum task_result backup_pages_begin(struct actor *actor);
enum task_result backup_log_begin(struct actor *actor);
/* All blocks are written: the end of it. */
enum task_result backup_finish(struct actor *actor);
enum task_result backup_ended(struct actor *actor); /* complete */

/* Where a block of so many bytes goes; false: the file is full. */
bool backup_place(struct backup *backup, struct backup_block *row);
/* The content is right: write it (or forget it, if it goes nowhere). */
void backup_block_write(struct backup_buffer *buffer);
/* Has a directory to be written before the next block? */
bool backup_directory_is_full(const struct backup *backup);
/* Write header, directory or trailer, then go on with `then`. */
enum task_result backup_write_header(struct actor *actor, bool complete, executor_step then);
enum task_result backup_write_directory(struct actor *actor, executor_step then);
enum task_result backup_write_trailer(struct actor *actor, executor_step then);
enum task_result backup_flush(struct actor *actor, executor_step then);
struct backup_buffer *backup_free_buffer(struct backup *backup);

#endif
