/* ops_meta.c - names, attributes, directories: straight to the backing directory. */
#include "tests/faultfs/ops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/faultfs/io.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/trace.h"

/* Answers with the entry of a name; done is the result of what came before. */
static void reply_entry(fuse_req_t req, fuse_ino_t parent, const char *name, int done)
{
    struct fs *fs = fs_of(req);
    struct fuse_entry_param entry = {.attr_timeout = fs->attr_timeout_s,
                                     .entry_timeout = fs->attr_timeout_s};
    struct node *node = NULL;
    int rc = done ? done : node_lookup(&fs->nodes, node_of(req, parent), name, &node, &entry.attr);
    entry.ino = (fuse_ino_t)(uintptr_t)node;
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_entry(req, &entry);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    reply_entry(req, parent, name, 0);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
    node_forget(&fs_of(req)->nodes, node_of(req, ino), count);
    fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *list)
{
    for (size_t i = 0; i < count; i++)
        node_forget(&fs_of(req)->nodes, node_of(req, list[i].ino), list[i].nlookup);
    fuse_reply_none(req);
}

static void reply_attr(fuse_req_t req, struct node *node, int done)
{
    struct stat st;
    int rc = done ? done : node_stat(&fs_of(req)->nodes, node, &st);
    if (rc)
        fuse_reply_err(req, -rc);
    else
        fuse_reply_attr(req, &st, fs_of(req)->attr_timeout_s);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)fi;
    reply_attr(req, node_of(req, ino), 0);
}

static int set_size(struct fs *fs, struct node *node, off_t size)
{
    uint64_t begin = truth_now();
    if (!fs->powered)
        return -EIO;
    int rc = node_open(&fs->nodes, node);
    if (rc == 0 && ftruncate(node->fd, size) < 0)
        rc = -errno;
    if (rc == 0)
        io_cut_off(fs, node, (uint64_t)size);
    trace_node(fs, begin, "truncate", node, (uint64_t)size, 0, 0, rc);
    return rc;
}

static struct timespec time_to_set(int set, int value, int now, struct timespec time)
{
    if (set & now)
        time.tv_nsec = UTIME_NOW;
    else if (!(set & value))
        time.tv_nsec = UTIME_OMIT;
    return time;
}

static int set_attributes(struct fs *fs, const char *path, const struct stat *st, int set)
{
    int at = fs->nodes.root_fd;
    if (set & FUSE_SET_ATTR_MODE && fchmodat(at, path, st->st_mode, 0) < 0)
        return -errno;
    uid_t uid = set & FUSE_SET_ATTR_UID ? st->st_uid : (uid_t)-1;
    gid_t gid = set & FUSE_SET_ATTR_GID ? st->st_gid : (gid_t)-1;
    if (set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID) &&
        fchownat(at, path, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    struct timespec times[] = {
        time_to_set(set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, st->st_atim),
        time_to_set(set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, st->st_mtim)};
    if (set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME) &&
        utimensat(at, path, times, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return 0;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
                       struct fuse_file_info *fi)
{
    struct node *node = node_of(req, ino);
    struct fs *fs = fs_of(req);
    (void)fi;
    int rc = set & FUSE_SET_ATTR_SIZE ? set_size(fs, node, st->st_size) : 0;
    set &= ~FUSE_SET_ATTR_SIZE;
    if (rc == 0 && set && !node->unlinked) {
        char *path = node_path(&fs->nodes, node);
        rc = set_attributes(fs, path, st, set);
        free(path);
    }
    reply_attr(req, node, rc);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
    struct fs *fs = fs_of(req);
    uint64_t begin = truth_now();
    char *path = node_child(&fs->nodes, node_of(req, parent), name);
    int rc = fs->powered ? 0 : -EIO;
    if (rc == 0 && mknodat(fs->nodes.root_fd, path, mode, dev) < 0)
        rc = -errno;
    if (rc == 0)
        trace_line(fs, begin, "create", path, 0, 0, 0, rc);
    free(path);
    reply_entry(req, parent, name, rc);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
    struct fs *fs = fs_of(req);
    char *path = node_child(&fs->nodes, node_of(req, parent), name);
    int rc = mkdirat(fs->nodes.root_fd, path, mode) < 0 ? -errno : 0;
    free(path);
    reply_entry(req, parent, name, rc);
}

static void remove_name(fuse_req_t req, fuse_ino_t parent, const char *name, int flags)
{
    struct fs *fs = fs_of(req);
    uint64_t begin = truth_now();
    char *path = node_child(&fs->nodes, node_of(req, parent), name);
    struct node *node = NULL;
    struct stat st;
    int rc = fs->powered ? 0 : -EIO;
    bool found =
        rc == 0 && !flags && node_lookup(&fs->nodes, node_of(req, parent), name, &node, &st) == 0;
    if (rc == 0 && unlinkat(fs->nodes.root_fd, path, flags) < 0)
        rc = -errno;
    if (rc == 0)
        nodes_unlinked(&fs->nodes, path);
    if (found) {
        if (rc == 0)
            io_cut_off(fs, node, 0); /* whoever has it open goes on without faults */
        node_forget(&fs->nodes, node, 1);
        trace_line(fs, begin, "unlink", path, 0, 0, 0, rc);
    }
    free(path);
    fuse_reply_err(req, -rc);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    remove_name(req, parent, name, 0);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    remove_name(req, parent, name, AT_REMOVEDIR);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
                      const char *newname, unsigned flags)
{
    struct fs *fs = fs_of(req);
    char *from = node_child(&fs->nodes, node_of(req, parent), name);
    char *to = node_child(&fs->nodes, node_of(req, newparent), newname);
    int at = fs->nodes.root_fd, rc = fs->powered ? 0 : -EIO;
    if (rc == 0 && renameat2(at, from, at, to, flags & RENAME_NOREPLACE) < 0)
        rc = -errno;
    if (rc == 0) {
        nodes_unlinked(&fs->nodes, to);
        nodes_renamed(&fs->nodes, from, to);
    }
    free(from);
    free(to);
    fuse_reply_err(req, -rc);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    char *path = node_path(&fs->nodes, node_of(req, ino));
    int fd = openat(fs->nodes.root_fd, path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    free(path);
    if (!directory) {
        fuse_reply_err(req, errno);
        return;
    }
    fi->fh = (uintptr_t)directory;
    fuse_reply_open(req, fi);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                       struct fuse_file_info *fi)
{
    DIR *directory = (DIR *)(uintptr_t)fi->fh;
    char *bytes = memory_zeroed(size);
    size_t done = 0;
    (void)ino;
    if (offset == 0)
        rewinddir(directory);
    else
        seekdir(directory, offset);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat st = {.st_ino = entry->d_ino, .st_mode = (mode_t)entry->d_type << 12};
        size_t n = fuse_add_direntry(req, bytes + done, size - done, entry->d_name, &st,
                                     telldir(directory));
        if (n > size - done)
            break;
        done += n;
    }
    fuse_reply_buf(req, bytes, done);
    free(bytes);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    closedir((DIR *)(uintptr_t)fi->fh);
    fuse_reply_err(req, 0);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
    (void)ino;
    (void)datasync;
    (void)fi;
    fuse_reply_err(req, fs_of(req)->powered ? 0 : EIO); /* names are durable at once */
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
    struct statvfs st;
    (void)ino;
    if (fstatvfs(fs_of(req)->nodes.root_fd, &st) < 0)
        fuse_reply_err(req, errno);
    else
        fuse_reply_statfs(req, &st);
}

void ops_add_meta(struct fuse_lowlevel_ops *ops)
{
    ops->lookup = op_lookup;
    ops->forget = op_forget;
    ops->forget_multi = op_forget_multi;
    ops->getattr = op_getattr;
    ops->setattr = op_setattr;
    ops->mknod = op_mknod;
    ops->mkdir = op_mkdir;
    ops->unlink = op_unlink;
    ops->rmdir = op_rmdir;
    ops->rename = op_rename;
    ops->opendir = op_opendir;
    ops->readdir = op_readdir;
    ops->releasedir = op_releasedir;
    ops->fsyncdir = op_fsyncdir;
    ops->statfs = op_statfs;
}
