/* file_mount.c - see file_mount.h. */
#include "sim/file_mount.h"

#include <stdio.h>
#include <stdlib.h>

int file_mount_id(int fd)
{
    char name[64], *line = NULL;
    size_t size_bytes = 0;
    int id = -1;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    FILE *in = fopen(name, "re");
    while (in && id < 0 && getline(&line, &size_bytes, in) > 0)
        if (sscanf(line, "mnt_id: %d", &id) != 1)
            id = -1;
    free(line);
    if (in)
        fclose(in);
    return id;
}

bool file_mount_is_there(int mount_id)
{
    char *line = NULL;
    size_t size_bytes = 0;
    bool any = false, found = false;
    FILE *in = mount_id < 0 ? NULL : fopen("/proc/self/mountinfo", "re");
    while (in && !found && getline(&line, &size_bytes, in) > 0) {
        any = true;
        found = strtol(line, NULL, 10) == mount_id;
    }
    free(line);
    if (in)
        fclose(in);
    return found || !any;
}
