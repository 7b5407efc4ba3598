/* plan_fixture.h - a machine that a test makes up, and profiles by (section, key, value). */
#ifndef TESTS_UNIT_PLAN_FIXTURE_H
#define TESTS_UNIT_PLAN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "config/units.h"
#include "patterns/pattern.h"
#include "sim/plan.h"

#define MIB ((uint64_t)UNITS_MIB)
#define GIB ((uint64_t)UNITS_GIB)

struct fake_volume {
    const char *prefix; /* of the directory */
    struct plan_space space;
};

struct fake_machine {
    struct plan_machine machine;
    struct fake_volume volumes[4];
    const char *own_path; /* an earlier file of ours */
    uint64_t own_bytes;
};

static inline int fake_space(void *context, const char *directory, struct plan_space *out)
{
    const struct fake_machine *fake = context;
    for (size_t i = 0; i < 4 && fake->volumes[i].prefix; i++) {
        if (strncmp(directory, fake->volumes[i].prefix, strlen(fake->volumes[i].prefix)) != 0)
            continue;
        *out = fake->volumes[i].space;
        return 0;
    }
    return -ENOENT;
}

static inline uint64_t fake_reusable(void *context, const char *path)
{
    const struct fake_machine *fake = context;
    return fake->own_path && strcmp(path, fake->own_path) == 0 ? fake->own_bytes : 0;
}

/* One file system /data of total_bytes with available_bytes left; 4 CPUs, 16 GiB of memory. */
static inline void fake_machine_init(struct fake_machine *fake, uint64_t total_bytes,
                                     uint64_t available_bytes)
{
    *fake = (struct fake_machine){
        .machine = {.cpus = 4,
                    .memory_bytes = 16 * GIB,
                    .space = fake_space,
                    .reusable_bytes = fake_reusable,
                    .context = fake},
        .volumes = {{"/data", {1, available_bytes, total_bytes}}},
    };
}

static inline struct profile *empty_profile(void)
{
    const struct opt_section *sections[64];
    size_t count = pattern_sections(sections, 64);
    return profile_create(sections, count);
}

static inline void set(struct profile *profile, const char *section, const char *key,
                       const char *value)
{
    struct opt_where where = {.source = "test"};
    assert_int_equal(profile_set(profile, section, key, value, where), 0);
}

static inline void set_file(struct profile *profile, const char *section, const char *path,
                            const char *size, const char *log, const char *database)
{
    set(profile, section, "FileName", path);
    set(profile, section, "InitialSize", size);
    set(profile, section, "LogFile", log);
    set(profile, section, "Database", database);
}

#endif
