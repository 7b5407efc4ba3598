/*
 * control.h - the UNIX socket through which a test rules the mount: a line in, a line back that
 * begins with `ok` or `error`.  README.md has the commands.
 */
#ifndef FAULTFS_CONTROL_H
#define FAULTFS_CONTROL_H

#include "tests/faultfs/fs.h"

/* A listening socket, or -errno. */
int control_listen(const char *path) __attribute__((warn_unused_result));
/* Serves one connection after the other in a thread of its own, until the process ends. */
int control_start(struct fs *fs, int listening) __attribute__((warn_unused_result));

#endif
