/*
 * ops_data.c - open files and their bytes.
 *
 * There is no create operation: the kernel then makes the name and opens it in two steps.  Direct
 * I/O of the kernel's (FOPEN_DIRECT_IO) is for O_DIRECT opens alone, so that the page cache behaves
 * for others as on any file system.  libfuse 3.14 has no field for FOPEN_PARALLEL_DIRECT_WRITES,
 * without which threads that pwrite() one file take turns: open is answered in the kernel's layout.
 */
#include "tests/faultfs/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/faultfs/io.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/trace.h"

/* struct fuse_open_out, FOPEN_DIRECT_IO and FOPEN_PARALLEL_DIRECT_WRITES of <linux/fuse.h>. */
struct open_answer {
    uint64_t handle;
    uint32_t flags;
    uint32_t padding;
};
#define OPEN_DIRECT          1u
#define OPEN_PARALLEL_DIRECT 64u

_Static_assert(sizeof(struct open_answer) == 16, "the kernel's layout");

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct open_answer answer = {.flags = 0};
    struct fs *fs = fs_of(req);
    int rc = fs->powered ? node_open(&fs->nodes, node_of(req, ino)) : -EIO;
    if (rc == 0 && fi->flags & O_TRUNC) {
        if (ftruncate(node_of(req, ino)->fd, 0) < 0)
            rc = -errno;
        io_cut_off(fs, node_of(req, ino), 0);
    }
    if (fi->flags & O_DIRECT)
        answer.flags = OPEN_DIRECT | OPEN_PARALLEL_DIRECT;
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_buf(req, (const char *)&answer, sizeof answer);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    (void)fi;
    fuse_reply_err(req, 0);
}

static bool misaligned(const struct fs *fs, int flags, uint64_t offset, size_t size)
{
    return flags & O_DIRECT && fs->align_bytes &&
           (offset % fs->align_bytes || size % fs->align_bytes);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct request request = {.node = node_of(req, ino),
                              .bytes = memory_zeroed(size),
                              .size_bytes = size,
                              .offset = (uint64_t)offset};
    ssize_t n = misaligned(fs, fi->flags, request.offset, size) ? -EINVAL : io_read(fs, &request);
    trace_node(fs, request.begin_ns, "read", request.node, request.offset, size, fi->flags, n);
    if (n < 0)
        fuse_reply_err(req, (int)-n);
    else
        fuse_reply_buf(req, (const char *)request.bytes, (size_t)n);
    free(request.bytes);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct request request = {.node = node_of(req, ino),
                              .bytes = (unsigned char *)(uintptr_t)bytes,
                              .size_bytes = size,
                              .offset = (uint64_t)offset,
                              .durable = fi->flags & (O_DSYNC | O_SYNC)};
    ssize_t n = misaligned(fs, fi->flags, request.offset, size) ? -EINVAL : io_write(fs, &request);
    trace_node(fs, request.begin_ns, "write", request.node, request.offset, size, fi->flags, n);
    if (n < 0)
        fuse_reply_err(req, (int)-n);
    else
        fuse_reply_write(req, (size_t)n);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct request request = {.node = node_of(req, ino)};
    int rc = io_sync(fs, &request);
    trace_node(fs, request.begin_ns, datasync ? "fdatasync" : "fsync", request.node, 0, 0,
               fi->flags, rc);
    fuse_reply_err(req, -rc);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
                         struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct node *node = node_of(req, ino);
    uint64_t begin = truth_now();
    int rc = fs->powered ? 0 : -EIO;
    if (rc == 0 && fallocate(node->fd, mode, offset, length) < 0)
        rc = -errno;
    if (rc == 0 && mode & ~FALLOC_FL_KEEP_SIZE)
        io_zeroed(fs, node, (uint64_t)offset, (uint64_t)length);
    trace_node(fs, begin, "fallocate", node, (uint64_t)offset, (uint64_t)length, fi->flags, rc);
    fuse_reply_err(req, -rc);
}

static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
                     struct fuse_file_info *fi)
{
    (void)fi;
    off_t at = lseek(node_of(req, ino)->fd, offset, whence);
    if (at < 0)
        fuse_reply_err(req, errno);
    else
        fuse_reply_lseek(req, at);
}

void ops_add_data(struct fuse_lowlevel_ops *ops)
{
    ops->open = op_open;
    ops->release = op_release;
    ops->read = op_read;
    ops->write = op_write;
    ops->fsync = op_fsync;
    ops->fallocate = op_fallocate;
    ops->lseek = op_lseek;
}
