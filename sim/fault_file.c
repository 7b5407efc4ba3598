/*
 * fault_file.c - whole files for the fault layer: which are attached, and copies of them.
 *
 * Invariant: at most one copy a file, the last one that was kept; it lies in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fault_rule.h"

#define PIECE_BYTES (1u << 20)

struct fault_kept {
    struct fault_kept *next;
    uint16_t file_uid;
    uint64_t size_bytes;
    unsigned char data[];
};

/* A second descriptor of a file, for a cold read, has the uid of the first: that one stays. */
void fault_target_add(struct fault_config *config, const struct io_target *target)
{
    pthread_mutex_lock(&config->lock);
    unsigned place = FAULT_TARGETS_MAX;
    for (unsigned i = FAULT_TARGETS_MAX; i-- > 0;) {
        if (config->targets[i] && config->targets[i]->uid == target->uid) {
            place = FAULT_TARGETS_MAX;
            break;
        }
        if (!config->targets[i])
            place = i;
    }
    if (place < FAULT_TARGETS_MAX)
        config->targets[place] = target;
    pthread_mutex_unlock(&config->lock);
}

void fault_target_drop(struct fault_config *config, const struct io_target *target)
{
    pthread_mutex_lock(&config->lock);
    for (unsigned i = 0; i < FAULT_TARGETS_MAX; i++)
        if (config->targets[i] == target)
            config->targets[i] = NULL;
    pthread_mutex_unlock(&config->lock);
}

const struct io_target *fault_target_of(struct fault_config *config, uint16_t uid)
{
    const struct io_target *found = NULL;
    pthread_mutex_lock(&config->lock);
    for (unsigned i = 0; i < FAULT_TARGETS_MAX && !found; i++)
        if (config->targets[i] && config->targets[i]->uid == uid)
            found = config->targets[i];
    pthread_mutex_unlock(&config->lock);
    return found;
}

/* Under the lock. */
static struct fault_kept *take(struct fault_config *config, uint16_t uid)
{
    struct fault_kept **link = &config->kept;
    while (*link && (*link)->file_uid != uid)
        link = &(*link)->next;
    struct fault_kept *kept = *link;
    if (kept)
        *link = kept->next;
    return kept;
}

static void put(struct fault_config *config, struct fault_kept *kept)
{
    pthread_mutex_lock(&config->lock);
    struct fault_kept *before = take(config, kept->file_uid);
    kept->next = config->kept;
    config->kept = kept;
    pthread_mutex_unlock(&config->lock);
    free(before);
}

int fault_kept_make(struct fault_config *config, const struct io_target *target)
{
    uint64_t size_bytes = atomic_load(&target->size_bytes);
    struct fault_kept *kept = malloc(sizeof(*kept) + size_bytes);
    if (kept == NULL)
        return -ENOMEM;
    kept->file_uid = target->uid;
    kept->size_bytes = size_bytes;
    int r = 0;
    for (uint64_t at = 0; at < size_bytes && r == 0; at += PIECE_BYTES) {
        size_t piece = size_bytes - at < PIECE_BYTES ? (size_t)(size_bytes - at) : PIECE_BYTES;
        r = fault_pread(target, kept->data + at, piece, at);
    }
    if (r == 0)
        put(config, kept);
    else
        free(kept);
    return r;
}

int fault_kept_restore(struct fault_config *config, const struct io_target *target)
{
    pthread_mutex_lock(&config->lock);
    struct fault_kept *kept = take(config, target->uid);
    pthread_mutex_unlock(&config->lock);
    if (kept == NULL)
        return -ENOENT;
    int r = 0;
    for (uint64_t at = 0; at < kept->size_bytes && r == 0; at += PIECE_BYTES) {
        uint64_t left = kept->size_bytes - at;
        r = fault_pwrite(target, kept->data + at, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES,
                         at);
    }
    free(kept);
    return r;
}

void fault_kept_clear(struct fault_config *config)
{
    while (config->kept) {
        struct fault_kept *kept = config->kept;
        config->kept = kept->next;
        free(kept);
    }
}
