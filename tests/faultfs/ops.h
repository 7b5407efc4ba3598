/* ops.h - the operations of the file system towards the kernel. */
#ifndef FAULTFS_OPS_H
#define FAULTFS_OPS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "tests/faultfs/fs.h"

/* Names, attributes, directories: ops_meta.c. */
void ops_add_meta(struct fuse_lowlevel_ops *ops);
/* Open files and their bytes: ops_data.c. */
void ops_add_data(struct fuse_lowlevel_ops *ops);

static inline struct fs *fs_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

static inline struct node *node_of(fuse_req_t req, fuse_ino_t ino)
{
    return ino == FUSE_ROOT_ID ? fs_of(req)->nodes.root : (struct node *)(uintptr_t)ino;
}

#endif
