/*
 * environment.h - the machine a run was made on, for its report: kernel, distribution, CPU, memory,
 * file systems.  Looked up once, when the report is frozen.
 */
#ifndef SIM_ENVIRONMENT_H
#define SIM_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#define ENVIRONMENT_TEXT_MAX 128
#define ENVIRONMENT_PATH_MAX 1024

struct environment_volume {
    uint64_t device;                        /* st_dev */
    char mount_point[ENVIRONMENT_PATH_MAX]; /* "" when it could not be found out */
    char source[ENVIRONMENT_PATH_MAX];      /* "/dev/sda1" */
    char type[ENVIRONMENT_TEXT_MAX];        /* "xfs" */
    char options[ENVIRONMENT_PATH_MAX];     /* of the mount and of the file system */
    uint64_t total_bytes, available_bytes;
};

struct environment {
    char host[ENVIRONMENT_TEXT_MAX];
    char kernel[ENVIRONMENT_TEXT_MAX];       /* "Linux 6.1.0 x86_64" */
    char distribution[ENVIRONMENT_TEXT_MAX]; /* "Debian GNU/Linux 12 (bookworm)" */
    char cpu_model[ENVIRONMENT_TEXT_MAX];
    unsigned cpus_online, cpus_allowed;
    uint64_t memory_total_bytes, memory_available_bytes;
    struct environment_volume *volumes; /* one a device, in the order of the paths */
    unsigned volume_count;
};

/* paths: files or directories that exist (others are passed over).  What cannot be found out stays
 * empty.  0 or -ENOMEM. */
int environment_look(struct environment *environment, const char *const *paths, size_t count)
    __attribute__((warn_unused_result));
void environment_free(struct environment *environment);

/* The parts, for tests: from the text of /etc/os-release, /proc/cpuinfo, /proc/self/mountinfo. */
void environment_distribution(const char *text, char *out, size_t out_size_bytes);
void environment_cpu_model(const char *text, char *out, size_t out_size_bytes);
/* The last mount of the device (it hides earlier ones at the same place). */
void environment_mount(const char *text, uint64_t device, struct environment_volume *out);

#endif
