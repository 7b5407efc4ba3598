/*
 * file_mount.h - is the file system of an open file still mounted?  After `umount -l` an open file
 * goes on working, while its path leads to what lies below the mount point.
 *
 * Reads /proc only: it never waits for the file system.  Threads: any.
 */
#ifndef SIM_FILE_MOUNT_H
#define SIM_FILE_MOUNT_H

#include <stdbool.h>

/* The id of the mount through which fd was opened; -1: /proc does not say. */
int file_mount_id(int fd);
/* Does this process still see that mount?  Also true when nothing says that it does not. */
bool file_mount_is_there(int mount_id);

#endif
