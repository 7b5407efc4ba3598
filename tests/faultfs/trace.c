/* trace.c - see trace.h. */
#include "tests/faultfs/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

int trace_to(struct fs *fs, const char *path)
{
    int rc = 0;
    pthread_mutex_lock(&fs->trace_lock);
    if (fs->trace && fclose(fs->trace) != 0)
        rc = -errno;
    fs->trace = NULL;
    if (path) {
        FILE *file = fopen(path, "we");
        __atomic_store_n(&fs->trace, file, __ATOMIC_RELAXED);
        rc = file ? rc : -errno;
    }
    pthread_mutex_unlock(&fs->trace_lock);
    return rc;
}

static const char *words_of(int flags)
{
    bool sync = (flags & O_SYNC) == O_SYNC;
    if (flags & O_DIRECT)
        return sync ? "direct,sync" : flags & O_DSYNC ? "direct,dsync" : "direct";
    return sync ? "cached,sync" : flags & O_DSYNC ? "cached,dsync" : "cached";
}

void trace_line(struct fs *fs, uint64_t begin_ns, const char *op, const char *path, uint64_t offset,
                uint64_t size_bytes, int flags, ssize_t result)
{
    if (!__atomic_load_n(&fs->trace, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&fs->trace_lock);
    if (fs->trace)
        fprintf(fs->trace, "%" PRIu64 " %" PRIu64 " %s %s %" PRIu64 " %" PRIu64 " %s %zd\n",
                begin_ns, truth_now(), op, path, offset, size_bytes, words_of(flags), result);
    pthread_mutex_unlock(&fs->trace_lock);
}

void trace_node(struct fs *fs, uint64_t begin_ns, const char *op, const struct node *node,
                uint64_t offset, uint64_t size_bytes, int flags, ssize_t result)
{
    if (!__atomic_load_n(&fs->trace, __ATOMIC_RELAXED))
        return;
    char *path = node_path(&fs->nodes, node);
    trace_line(fs, begin_ns, op, path, offset, size_bytes, flags, result);
    free(path);
}
