/* power.c - see power.h. */
#include "tests/faultfs/power.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/faultfs/memory.h"
#include "tests/faultfs/wrap.h"

struct stable_sector {
    uint64_t sequence; /* of the durable write that it came with, 0: before the cache */
    unsigned char bytes[SECTOR_BYTES];
};

static ssize_t read_all(int fd, unsigned char *bytes, size_t size_bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < size_bytes) {
        ssize_t n = pread(fd, bytes + done, size_bytes - done, (off_t)(offset + done));
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int write_all(int fd, const unsigned char *bytes, size_t size_bytes, uint64_t offset)
{
    for (size_t done = 0; done < size_bytes;) {
        ssize_t n = pwrite(fd, bytes + done, size_bytes - done, (off_t)(offset + done));
        if (n < 0)
            return -errno;
        done += (size_t)n;
    }
    return 0;
}

ssize_t content_read(struct node *node, void *bytes, size_t size_bytes, uint64_t offset)
{
    if (!node->modulus)
        return read_all(node->fd, bytes, size_bytes, offset);
    struct stat st;
    if (fstat(node->fd, &st) < 0)
        return -errno;
    if (offset >= (uint64_t)st.st_size)
        return 0;
    if (size_bytes > (uint64_t)st.st_size - offset)
        size_bytes = (uint64_t)st.st_size - offset;
    for (size_t done = 0; done < size_bytes;) {
        size_t n = wrap_piece(node, offset + done, size_bytes - done);
        wrap_read(node, offset + done, n);
        ssize_t rc =
            read_all(node->fd, (unsigned char *)bytes + done, n, (offset + done) % node->modulus);
        if (rc < 0)
            return rc;
        done += n;
    }
    return (ssize_t)size_bytes;
}

static int write_wrapped(struct node *node, const unsigned char *bytes, size_t size_bytes,
                         uint64_t offset)
{
    struct stat st;
    if (fstat(node->fd, &st) < 0)
        return -errno;
    if (offset + size_bytes > (uint64_t)st.st_size &&
        ftruncate(node->fd, (off_t)(offset + size_bytes)) < 0)
        return -errno;
    for (size_t done = 0; done < size_bytes;) {
        size_t n = wrap_piece(node, offset + done, size_bytes - done);
        wrap_written(node, offset + done, n);
        int rc = write_all(node->fd, bytes + done, n, (offset + done) % node->modulus);
        if (rc)
            return rc;
        done += n;
    }
    return 0;
}

/* What these sectors hold now is what they hold for good, until they are durable anew. */
static void keep_stable(struct node *node, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        if (table_get(&node->stable, i))
            continue;
        struct stable_sector *stable = memory_zeroed(sizeof *stable);
        if (read_all(node->fd, stable->bytes, SECTOR_BYTES, i * SECTOR_BYTES) < 0)
            memset(stable->bytes, 0, SECTOR_BYTES);
        table_set(&node->stable, i, stable);
    }
}

static void made_durable(struct fs *fs, struct node *node, uint64_t first, uint64_t end)
{
    uint64_t i = first;
    while ((i = table_next(&node->stable, i, end)) != TABLE_NOTHING) {
        struct stable_sector *stable = table_get(&node->stable, i);
        stable->sequence = ++fs->sequence;
        if (read_all(node->fd, stable->bytes, SECTOR_BYTES, i * SECTOR_BYTES) < 0)
            memset(stable->bytes, 0, SECTOR_BYTES);
        i++;
    }
}

static void add_pending(struct fs *fs, struct node *node, const void *bytes, size_t size_bytes,
                        uint64_t offset)
{
    if (node->pending_count == node->pending_room) {
        node->pending_room = node->pending_room ? 2 * node->pending_room : 64;
        node->pending = memory_resize(node->pending, node->pending_room * sizeof *node->pending);
    }
    node->pending[node->pending_count++] =
        (struct pending){.sequence = ++fs->sequence,
                         .offset = offset,
                         .size_bytes = size_bytes,
                         .lied_before = node->lied_syncs,
                         .bytes = memory_copy(bytes, size_bytes)};
}

int content_write(struct fs *fs, struct node *node, const void *bytes, size_t size_bytes,
                  uint64_t offset, bool durable)
{
    if (node->modulus)
        return write_wrapped(node, bytes, size_bytes, offset);
    uint64_t first = offset / SECTOR_BYTES;
    uint64_t end = (offset + size_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    bool held = fs->volatile_cache && (!durable || fs->lie);
    if (held)
        keep_stable(node, first, end);
    int rc = write_all(node->fd, bytes, size_bytes, offset);
    if (rc == 0 && held)
        add_pending(fs, node, bytes, size_bytes, offset);
    else if (rc == 0 && fs->volatile_cache)
        made_durable(fs, node, first, end);
    return rc;
}

static void forget_pending(struct node *node)
{
    for (size_t i = 0; i < node->pending_count; i++)
        free(node->pending[i].bytes);
    free(node->pending);
    node->pending = NULL;
    node->pending_count = node->pending_room = 0;
    for (uint64_t i = 0; (i = table_next(&node->stable, i, UINT64_MAX)) != TABLE_NOTHING; i++)
        free(table_get(&node->stable, i));
    table_free(&node->stable);
    node->lied_syncs = 0;
}

void power_flush(struct fs *fs, struct node *node)
{
    if (fs->volatile_cache && fs->lie)
        node->lied_syncs++;
    else
        forget_pending(node);
}

void power_shrunk(struct node *node, uint64_t size_bytes)
{
    for (size_t i = 0; i < node->pending_count; i++) {
        struct pending *write = &node->pending[i];
        if (write->offset >= size_bytes)
            write->size_bytes = 0;
        else if (write->size_bytes > size_bytes - write->offset)
            write->size_bytes = size_bytes - write->offset;
    }
    uint64_t i = (size_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    for (; (i = table_next(&node->stable, i, UINT64_MAX)) != TABLE_NOTHING; i++) {
        free(table_get(&node->stable, i));
        table_set(&node->stable, i, NULL);
    }
}

/* Bytes within the file only: a cut does not make it longer. */
static void put_back(const struct node *node, const unsigned char *bytes, size_t size_bytes,
                     uint64_t offset)
{
    struct stat st;
    if (node->fd < 0 || fstat(node->fd, &st) < 0 || offset >= (uint64_t)st.st_size)
        return;
    if (size_bytes > (uint64_t)st.st_size - offset)
        size_bytes = (uint64_t)st.st_size - offset;
    if (write_all(node->fd, bytes, size_bytes, offset))
        fprintf(stderr, "faultfs: %s at %ju: the cut could not be written\n", node->path,
                (uintmax_t)offset);
}

static void put_stable_back(const struct node *node)
{
    for (uint64_t i = 0; (i = table_next(&node->stable, i, UINT64_MAX)) != TABLE_NOTHING; i++) {
        const struct stable_sector *stable = table_get(&node->stable, i);
        put_back(node, stable->bytes, SECTOR_BYTES, i * SECTOR_BYTES);
    }
}

void power_drop(struct node *node)
{
    put_stable_back(node);
    forget_pending(node);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The sectors of a write that survive; one that is durable in a later content stays that. */
static unsigned apply_sectors(const struct node *node, const struct pending *write, bool torn,
                              uint64_t *seed)
{
    unsigned dropped = 0;
    for (size_t done = 0; done < write->size_bytes;) {
        uint64_t at = write->offset + done;
        size_t n = SECTOR_BYTES - at % SECTOR_BYTES;
        if (n > write->size_bytes - done)
            n = write->size_bytes - done;
        const struct stable_sector *stable = table_get(&node->stable, at / SECTOR_BYTES);
        bool survives = !torn || next_random(seed) & 1;
        if (survives && (!stable || stable->sequence < write->sequence))
            put_back(node, write->bytes + done, n, at);
        dropped += !survives;
        done += n;
    }
    return dropped;
}

struct held_write {
    struct node *node;
    const struct pending *write;
};

static int by_sequence(const void *a, const void *b)
{
    uint64_t x = ((const struct held_write *)a)->write->sequence;
    uint64_t y = ((const struct held_write *)b)->write->sequence;
    return (x > y) - (x < y);
}

/* All held writes of all files in the order in which they came. */
static struct held_write *collect(struct fs *fs, size_t *count)
{
    struct held_write *list = NULL;
    *count = 0;
    for (unsigned i = 0; i < NODE_BUCKETS; i++)
        for (struct node *node = fs->nodes.buckets[i]; node; node = node->next) {
            put_stable_back(node);
            list = memory_resize(list, (*count + node->pending_count) * sizeof *list);
            for (size_t j = 0; j < node->pending_count; j++)
                list[(*count)++] = (struct held_write){node, &node->pending[j]};
        }
    if (*count)
        qsort(list, *count, sizeof *list, by_sequence);
    return list;
}

static bool survives(const char *mode, const struct held_write *held, size_t rank, size_t prefix,
                     uint64_t *seed)
{
    if (strcmp(mode, "prefix") == 0)
        return rank < prefix;
    if (strcmp(mode, "random") == 0)
        return next_random(seed) & 1;
    if (strcmp(mode, "reorder") == 0) /* what came behind a lied flush, and not what it covered */
        return held->write->lied_before == held->node->lied_syncs && held->node->lied_syncs;
    return strcmp(mode, "all") != 0;
}

int power_cut(struct fs *fs, const char *mode, uint64_t seed, struct cut_counts *counts)
{
    static const char *const modes = " all prefix random torn keepall reorder ";
    char word[16];
    if ((size_t)snprintf(word, sizeof word, " %s ", mode) >= sizeof word || !strstr(modes, word))
        return -EINVAL;
    size_t count;
    fs->powered = false;
    struct held_write *list = collect(fs, &count);
    size_t prefix = count ? next_random(&seed) % (count + 1) : 0;
    *counts = (struct cut_counts){.pending = count};
    for (size_t i = 0; i < count; i++) {
        bool keep = survives(mode, &list[i], i, prefix, &seed);
        unsigned dropped =
            keep ? apply_sectors(list[i].node, list[i].write, strcmp(mode, "torn") == 0, &seed) : 0;
        counts->kept += keep;
        counts->torn += dropped > 0;
        counts->dropped += !keep;
    }
    free(list);
    for (unsigned i = 0; i < NODE_BUCKETS; i++)
        for (struct node *node = fs->nodes.buckets[i]; node; node = node->next)
            forget_pending(node);
    return 0;
}
