/* io.c - see io.h. */
#include "tests/faultfs/io.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/faultfs/damage.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/power.h"

static void wait_thawed(struct fs *fs, struct node *node)
{
    pthread_mutex_lock(&fs->freeze_lock);
    while (*fs->frozen) {
        char *path = node_path(&fs->nodes, node);
        bool frozen = fnmatch(fs->frozen, path, 0) == 0;
        free(path);
        if (!frozen)
            break;
        fs->waiting++;
        pthread_cond_wait(&fs->thawed, &fs->freeze_lock);
        fs->waiting--;
    }
    pthread_mutex_unlock(&fs->freeze_lock);
}

/* Delays, without the gate while it lasts. */
static void wait_delay(struct fs *fs, const struct request *request)
{
    uint64_t ms = 0;
    pthread_rwlock_wrlock(&fs->gate);
    char *path = node_path(&fs->nodes, request->node);
    const struct rule *rule = shot_whole(fs, request, path, 0, CLASS_delay);
    if (rule) {
        ms = rule->ms;
        shot_note(fs, request, rule, path)->note = memory_text("ms=%ju", (uintmax_t)ms);
    }
    free(path);
    pthread_rwlock_unlock(&fs->gate);
    struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    while (ms && nanosleep(&pause, &pause) < 0 && errno == EINTR)
        ;
}

static bool is_plain(const struct fs *fs, const struct node *node)
{
    return fs->powered && !fs->rules.count && !node->damage.used && !fs->volatile_cache &&
           !node->modulus;
}

/* -errno of a rule that answers with an error, or 0. */
static int error_of(struct fs *fs, const struct request *request, const char *path)
{
    const struct rule *rule = shot_whole(fs, request, path, ERRNO, CLASS_COUNT);
    if (!rule)
        return 0;
    shot_note(fs, request, rule, path);
    return rule->class == CLASS_enospc ? -ENOSPC : rule->class == CLASS_edquot ? -EDQUOT : -EIO;
}

static void shorten(struct fs *fs, struct request *request, const char *path)
{
    const struct rule *rule = shot_whole(fs, request, path, 0, CLASS_short);
    if (!rule)
        return;
    size_t keep = rule->keep ? (size_t)rule->keep : request->size_bytes / 2 / 512 * 512;
    if (keep >= request->size_bytes)
        return;
    shot_note(fs, request, rule, path)->note = memory_text("keep=%zu", keep);
    request->size_bytes = keep;
}

static void start_wrapping(struct fs *fs, const struct request *request, const char *path)
{
    const struct rule *rule = shot_whole(fs, request, path, 0, CLASS_wrap);
    if (!rule || request->node->modulus)
        return;
    request->node->wrap_event = truth_event(&fs->truth, rule->id, 'w', "wrap");
    truth_place(request->node->wrap_event, path, rule->modulus, 0, NULL, NULL)->sectors = 1;
    request->node->modulus = rule->modulus;
}

/* What was kept of an earlier write to these sectors comes over the new one. */
static int replay(struct fs *fs, const struct request *request, struct event *event,
                  const unsigned char *bad)
{
    const struct patch patch = {event,
                                request->node,
                                request->offset,
                                request->size_bytes,
                                request->bytes,
                                bad,
                                .durable = request->durable};
    return damage_patch(fs, &patch);
}

static int write_alone(struct fs *fs, struct request *request, const char *path)
{
    struct shots shots = {.count = 0};
    int rc = error_of(fs, request, path);
    if (rc)
        return rc;
    start_wrapping(fs, request, path);
    shorten(fs, request, path);
    shots_aim(fs, request, path, &shots);
    unsigned char *bad = NULL;
    struct event *armed = NULL;
    if (request->node->damage.used) {
        bad = memory_copy(request->bytes, request->size_bytes);
        armed = damage_take_armed(request->node, bad, request->size_bytes, request->offset);
        damage_rewritten(request->node, request->offset, request->size_bytes);
    }
    rc = content_write(fs, request->node, request->bytes, request->size_bytes, request->offset,
                       request->durable);
    if (rc == 0 && armed)
        rc = replay(fs, request, armed, bad);
    for (unsigned i = 0; rc == 0 && i < shots.count; i++)
        rc = shot_write(fs, request, &shots.list[i]);
    shots_free(&shots);
    free(bad);
    return rc;
}

/* fs->gate is held, shared (plain) or alone. */
static bool enter(struct fs *fs, struct request *request)
{
    request->begin_ns = truth_now();
    wait_thawed(fs, request->node);
    pthread_rwlock_rdlock(&fs->gate);
    if (is_plain(fs, request->node))
        return true;
    bool rules = fs->rules.count > 0;
    pthread_rwlock_unlock(&fs->gate);
    if (rules)
        wait_delay(fs, request);
    pthread_rwlock_wrlock(&fs->gate);
    return false;
}

ssize_t io_write(struct fs *fs, struct request *request)
{
    int rc;
    request->op = 'w';
    if (request->durable)
        __atomic_fetch_add(&fs->fua_count, 1, __ATOMIC_RELAXED);
    if (enter(fs, request)) {
        rc = content_write(fs, request->node, request->bytes, request->size_bytes, request->offset,
                           request->durable);
    } else if (!fs->powered) {
        rc = -EIO;
    } else {
        char *path = node_path(&fs->nodes, request->node);
        rc = write_alone(fs, request, path);
        free(path);
    }
    pthread_rwlock_unlock(&fs->gate);
    return rc ? rc : (ssize_t)request->size_bytes;
}

static ssize_t read_alone(struct fs *fs, struct request *request, const char *path)
{
    int rc = error_of(fs, request, path);
    if (rc)
        return rc;
    shorten(fs, request, path);
    ssize_t n = content_read(request->node, request->bytes, request->size_bytes, request->offset);
    if (n <= 0)
        return n;
    request->size_bytes = (size_t)n;
    rc = damage_read(fs, request->node, request->bytes, request->size_bytes, request->offset,
                     request->begin_ns);
    struct shots shots = {.count = 0};
    if (rc == 0)
        shots_aim(fs, request, path, &shots);
    for (unsigned i = 0; i < shots.count; i++) {
        int one = shot_read(fs, request, &shots.list[i]);
        rc = rc ? rc : one;
    }
    shots_free(&shots);
    return rc ? rc : n;
}

ssize_t io_read(struct fs *fs, struct request *request)
{
    ssize_t n;
    request->op = 'r';
    if (enter(fs, request)) {
        n = content_read(request->node, request->bytes, request->size_bytes, request->offset);
    } else if (!fs->powered) {
        n = -EIO;
    } else {
        char *path = node_path(&fs->nodes, request->node);
        n = read_alone(fs, request, path);
        free(path);
    }
    pthread_rwlock_unlock(&fs->gate);
    return n;
}

int io_sync(struct fs *fs, struct request *request)
{
    int rc = 0;
    request->op = 's';
    if (!enter(fs, request)) {
        char *path = node_path(&fs->nodes, request->node);
        rc = fs->powered ? error_of(fs, request, path) : -EIO;
        if (rc && fs->powered)
            power_drop(request->node); /* and the next flush is well */
        else if (!rc)
            power_flush(fs, request->node);
        free(path);
    }
    pthread_rwlock_unlock(&fs->gate);
    return rc;
}

void io_cut_off(struct fs *fs, struct node *node, uint64_t size_bytes)
{
    pthread_rwlock_wrlock(&fs->gate);
    damage_gone(node, size_bytes);
    power_shrunk(node, size_bytes);
    pthread_rwlock_unlock(&fs->gate);
}

void io_zeroed(struct fs *fs, struct node *node, uint64_t offset, uint64_t size_bytes)
{
    pthread_rwlock_wrlock(&fs->gate);
    damage_rewritten(node, offset, (size_t)size_bytes);
    pthread_rwlock_unlock(&fs->gate);
}
