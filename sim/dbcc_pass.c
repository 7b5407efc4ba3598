/* dbcc_pass.c - see dbcc_pass.h. */
#include "sim/dbcc_pass.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/snapshot.h"

struct dbcc_pass *dbcc_pass_create(struct run *run)
{
    struct dbcc_pass *pass = calloc(1, sizeof *pass);
    if (!pass)
        return NULL;
    pass->run = run;
    pthread_mutex_init(&pass->lock, NULL);
    return pass;
}

void dbcc_pass_free(struct dbcc_pass *pass)
{
    if (!pass)
        return;
    pthread_mutex_destroy(&pass->lock);
    free(pass);
}

void dbcc_pass_actors(struct dbcc_pass *pass, int change)
{
    pthread_mutex_lock(&pass->lock);
    pass->actors += (unsigned)change;
    pthread_mutex_unlock(&pass->lock);
}

/* ---- begin ---- */

static uint64_t pages_of(const struct database *database)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < database->file_count; i++)
        sum += database->files[i].file.size_pages;
    return sum;
}

/* Whole reads, as equal as they can be. */
static uint32_t set_pages(const struct dbcc_pass *pass, unsigned read_pages)
{
    uint64_t sets = (uint64_t)pass->actors * DBCC_SETS_OF_A_THREAD;
    uint64_t pages = pages_of(pass->database) / sets;
    if (pages > DBCC_SET_PAGES_MAX)
        pages = DBCC_SET_PAGES_MAX;
    return (uint32_t)(pages / read_pages + 1) * read_pages;
}

static void open_locked(struct dbcc_pass *pass, unsigned read_pages, unsigned until)
{
    struct run *run = pass->run;
    pass->state = DBCC_OPENING;
    pass->number++;
    pass->until = until;
    pass->threads = 1;
    pass->complete = true;
    pass->database = &run->databases[pass->database_next++ % run->user_database_count];
    pass->file = 0;
    pass->page = 0;
    pass->set_pages = set_pages(pass, read_pages);
}

enum dbcc_join dbcc_pass_join(struct dbcc_pass *pass, unsigned read_pages, unsigned until,
                              struct task *task)
{
    enum dbcc_join joined = DBCC_JOIN_WAIT;
    pthread_mutex_lock(&pass->lock);
    if (pass->state == DBCC_IDLE) {
        open_locked(pass, read_pages, until);
        joined = DBCC_JOIN_OPEN;
    } else if (pass->state == DBCC_RUNNING) {
        pass->threads++;
        joined = DBCC_JOIN_IN;
    } else {
        wait_list_add(&pass->waiters, task);
    }
    pthread_mutex_unlock(&pass->lock);
    return joined;
}

bool dbcc_pass_is_suspect(const struct dbcc_pass *pass)
{
    const struct database *database = pass->database;
    for (unsigned i = 0; pass->snapshot && i < database->file_count; i++)
        if (snapshot_is_suspect(database->files[i].snapshot))
            return true;
    return false;
}

void dbcc_pass_opened(struct dbcc_pass *pass, bool snapshot)
{
    pthread_mutex_lock(&pass->lock);
    pass->snapshot = snapshot;
    assert(pass->state == DBCC_OPENING);
    pass->state = DBCC_RUNNING;
    wait_list_wake_all(&pass->waiters);
    pthread_mutex_unlock(&pass->lock);
}

/* ---- page sets ---- */

static bool take_locked(struct dbcc_pass *pass, struct dbcc_set *out)
{
    struct database *database = pass->database;
    while (pass->file < database->file_count) {
        struct data_file *file = &database->files[pass->file];
        uint32_t size = pass->snapshot ? file->snapshot->size_pages : file->file.size_pages;
        if (pass->page < size) {
            uint32_t left = size - pass->page;
            uint32_t count = left < pass->set_pages ? left : pass->set_pages;
            *out = (struct dbcc_set){file, pass->page, count};
            pass->page += count;
            return true;
        }
        pass->file++;
        pass->page = 0;
    }
    return false;
}

bool dbcc_pass_take(struct dbcc_pass *pass, struct dbcc_set *out)
{
    pthread_mutex_lock(&pass->lock);
    bool taken = take_locked(pass, out);
    pthread_mutex_unlock(&pass->lock);
    return taken;
}

/* ---- end ---- */

bool dbcc_pass_leave(struct dbcc_pass *pass, bool early)
{
    pthread_mutex_lock(&pass->lock);
    assert(pass->state == DBCC_RUNNING && pass->threads > 0);
    pass->complete = pass->complete && !early;
    bool last = --pass->threads == 0;
    if (last)
        pass->state = DBCC_CLOSING;
    pthread_mutex_unlock(&pass->lock);
    return last;
}

static void count_locked(struct dbcc_pass *pass)
{
    bool follows = pass->complete && pass->row_until == pass->until;
    pass->row = (follows ? pass->row : 0) + pass->complete;
    pass->row_until = pass->until;
}

bool dbcc_pass_is_through(struct dbcc_pass *pass, unsigned until)
{
    pthread_mutex_lock(&pass->lock);
    bool through = until && pass->row_until == until && pass->row >= pass->run->user_database_count;
    pthread_mutex_unlock(&pass->lock);
    return through;
}

bool dbcc_pass_closed(struct dbcc_pass *pass)
{
    pthread_mutex_lock(&pass->lock);
    assert(pass->state == DBCC_CLOSING);
    pass->state = DBCC_IDLE;
    count_locked(pass);
    bool complete = pass->complete;
    wait_list_wake_all(&pass->waiters);
    pthread_mutex_unlock(&pass->lock);
    return complete;
}

bool dbcc_pass_is_over(struct dbcc_pass *pass, uint64_t number, struct task *task)
{
    pthread_mutex_lock(&pass->lock);
    bool over = pass->state == DBCC_IDLE || pass->number != number;
    if (!over)
        wait_list_add(&pass->waiters, task);
    pthread_mutex_unlock(&pass->lock);
    return over;
}
