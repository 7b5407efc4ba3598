/* file_system.c - the file system under a directory: space and device. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "sim/file.h"

int file_system_space(const char *directory, uint64_t *available_bytes, uint64_t *total_bytes,
                      uint64_t *device)
{
    struct statvfs fs;
    struct stat st;
    if (statvfs(directory, &fs) < 0 || stat(directory, &st) < 0)
        return -errno;
    *available_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    *total_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
    *device = st.st_dev;
    return 0;
}
