/*
 * database_use.c - see database_use.h.
 *
 * Why two counts are enough: a user adds itself to the present epoch and then looks whether that is
 * still the present one.  If it is, the turn came after the addition, so who drains sees it; if
 * not, the user goes and begins again, in the new epoch, where it sees the new size.  All of this
 * is sequentially consistent: size lowered, epoch turned, count read on one side; count raised,
 * epoch read, size read on the other.
 */
#include "sim/database_use.h"

#include <assert.h>

/* ---- users ---- */

static void leave(struct data_file *file, unsigned epoch)
{
    uint32_t before = atomic_fetch_sub(&file->users.count[epoch], 1);
    assert(before > 0);
    struct task *drainer = before == 1 ? atomic_load(&file->users.drainer) : NULL;
    if (drainer)
        task_wake(drainer);
}

void file_use_begin(struct file_use *use, struct data_file *file)
{
    assert(!use->file);
    for (;;) {
        unsigned epoch = atomic_load(&file->users.epoch);
        atomic_fetch_add(&file->users.count[epoch], 1);
        if (atomic_load(&file->users.epoch) == epoch) {
            *use = (struct file_use){file, epoch};
            return;
        }
        leave(file, epoch);
    }
}

void file_use_end(struct file_use *use)
{
    if (!use->file)
        return;
    leave(use->file, use->epoch);
    use->file = NULL;
}

unsigned file_use_turn(struct data_file *file, struct task *task)
{
    unsigned old = atomic_load(&file->users.epoch);
    atomic_store(&file->users.drainer, task);
    atomic_store(&file->users.epoch, !old);
    return old;
}

bool file_use_drained(struct data_file *file, unsigned epoch)
{
    if (atomic_load(&file->users.count[epoch]) > 0)
        return false;
    atomic_store(&file->users.drainer, NULL);
    return true;
}

/* ---- who may change a size ---- */

void size_rights_init(struct size_rights *rights)
{
    *rights = (struct size_rights){0};
    pthread_mutex_init(&rights->lock, NULL);
}

void size_rights_free(struct size_rights *rights)
{
    pthread_mutex_destroy(&rights->lock);
}

enum size_right size_right_begin(struct database *database, bool shrink, struct task *task)
{
    struct size_rights *rights = &database->sizes;
    enum size_right right = SIZE_RIGHT_YOURS;
    pthread_mutex_lock(&rights->lock);
    assert(rights->changer != task);
    if (shrink && rights->shrink_forbidden) {
        wait_list_remove(&rights->waiters, task); /* something else woke it */
        right = SIZE_RIGHT_REFUSED;
    } else if (rights->changer) {
        wait_list_add(&rights->waiters, task);
        right = SIZE_RIGHT_WAIT;
    } else {
        rights->changer = task;
        rights->shrinking = shrink;
    }
    pthread_mutex_unlock(&rights->lock);
    return right;
}

void size_right_end(struct database *database)
{
    struct size_rights *rights = &database->sizes;
    pthread_mutex_lock(&rights->lock);
    assert(rights->changer);
    rights->changer = NULL;
    rights->shrinking = false;
    wait_list_wake_all(&rights->waiters);
    pthread_mutex_unlock(&rights->lock);
}

bool shrink_forbid(struct database *database, struct task *task)
{
    struct size_rights *rights = &database->sizes;
    pthread_mutex_lock(&rights->lock);
    bool forbidden = !rights->shrinking;
    if (forbidden)
        rights->shrink_forbidden++;
    else
        wait_list_add(&rights->waiters, task);
    pthread_mutex_unlock(&rights->lock);
    return forbidden;
}

void shrink_allow(struct database *database)
{
    struct size_rights *rights = &database->sizes;
    pthread_mutex_lock(&rights->lock);
    assert(rights->shrink_forbidden > 0);
    rights->shrink_forbidden--;
    pthread_mutex_unlock(&rights->lock);
}
