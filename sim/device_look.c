/* device_look.c - see device_look.h. */
#include "sim/device_look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "sim/clock.h"
#include "sim/small_file.h"

#define SAMPLE_NS (NS_PER_S / 5)

static bool is_known(const struct device_look *look, uint64_t device)
{
    for (unsigned i = 0; i < look->volume_count; i++)
        if (look->volumes[i].place.file_system == device)
            return true;
    return false;
}

static void add_volume(struct device_look *look, const struct device_roots *roots,
                       const char *mounts, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || is_known(look, st.st_dev))
        return;
    struct device_before *volume = &look->volumes[look->volume_count++];
    device_place_look(&volume->place, &volume->volume, roots, mounts, st.st_dev);
    volume->has_level = device_facts_counters(&volume->place, roots, &volume->level);
}

/* The look at processes is part of the sample; what is left of it is waited for. */
static void measure_load(struct device_look *look, const struct device_roots *roots,
                         const struct clock *clock, uint64_t from_ns)
{
    uint64_t spent_ns = clock_now_ns(clock) - from_ns;
    if (spent_ns < SAMPLE_NS) {
        const struct timespec pause = {.tv_nsec = (long)(SAMPLE_NS - spent_ns)};
        (void)nanosleep(&pause, NULL);
    }
    for (unsigned i = 0; i < look->volume_count; i++) {
        struct device_before *volume = &look->volumes[i];
        struct drive_level now;
        if (volume->has_level && device_facts_counters(&volume->place, roots, &now))
            volume->busy = device_busy_between(&volume->level, &now, clock_now_ns(clock) - from_ns);
    }
}

int device_look(struct device_look *look, const struct device_roots *roots,
                const char *const *paths, unsigned path_count)
{
    struct clock clock;
    char name[SMALL_FILE_PATH_MAX];
    clock_init_real(&clock);
    *look = (struct device_look){.volume_count = 0};
    look->volumes = calloc(path_count ? path_count : 1, sizeof *look->volumes);
    snprintf(name, sizeof name, "%s/self/mountinfo", roots->proc);
    char *mounts = small_file_whole(name);
    struct device_place *places = calloc(path_count ? path_count : 1, sizeof *places);
    if (!look->volumes || !mounts || !places) {
        free(mounts);
        free(places);
        device_look_free(look);
        return -ENOMEM;
    }
    uint64_t from_ns = clock_now_ns(&clock);
    for (unsigned i = 0; i < path_count; i++)
        add_volume(look, roots, mounts, paths[i]);
    for (unsigned i = 0; i < look->volume_count; i++)
        places[i] = look->volumes[i].place;
    device_users_look(&look->users, roots->proc, roots->sysfs, places, look->volume_count);
    measure_load(look, roots, &clock, from_ns);
    free(mounts);
    free(places);
    return 0;
}

void device_look_free(struct device_look *look)
{
    free(look->volumes);
    *look = (struct device_look){.volume_count = 0};
}

bool device_look_allows(const struct device_look *look, char message[PLAN_MESSAGE_MAX])
{
    const struct device_user *user = device_users_find(&look->users, DEVICE_USER_SQL_SERVER);
    if (!user)
        return true;
    snprintf(message, PLAN_MESSAGE_MAX,
             "a SQL Server (%s, pid %d) has %u file%s open on the device under test, such as %s. "
             "The load would stall it, and its I/O would be in the figures. Stop it, test another "
             "device, or say --beside-others if that is what you want.",
             user->program, user->pid, user->files, user->files == 1 ? "" : "s", user->file);
    return false;
}

/* ---- notes ---- */

static void note_users(const struct device_users *users, char (*notes)[PLAN_NOTE_MAX],
                       unsigned count, unsigned *used)
{
    for (unsigned i = 0; i < users->count && *used < count; i++) {
        const struct device_user *user = &users->list[i];
        snprintf(notes[(*used)++], PLAN_NOTE_MAX,
                 "%s (%s, pid %d) uses the device under test as well: %u file%s open there, such "
                 "as %.96s; figures are those of both",
                 device_user_text(user->kind), user->program, user->pid, user->files,
                 user->files == 1 ? "" : "s", user->file);
    }
    if (users->unseen_sql_server && *used < count)
        snprintf(notes[(*used)++], PLAN_NOTE_MAX,
                 "a SQL Server runs here (pid %d), whose files only root may see: it may use the "
                 "device under test",
                 users->unseen_sql_server);
}

unsigned device_look_notes(const struct device_look *look, char (*notes)[PLAN_NOTE_MAX],
                           unsigned count)
{
    unsigned used = 0;
    note_users(&look->users, notes, count, &used);
    for (unsigned i = 0; i < look->volume_count && used < count; i++) {
        const struct device_before *volume = &look->volumes[i];
        if (!volume->busy.known || volume->busy.percent <= DEVICE_BUSY_PERCENT)
            continue;
        snprintf(notes[used++], PLAN_NOTE_MAX,
                 "the device of %.64s was %u %% busy before the load (%.1f MB/s read, %.1f MB/s "
                 "written): somebody else works on it",
                 volume->volume.mount_point[0] ? volume->volume.mount_point : volume->volume.source,
                 volume->busy.percent, volume->busy.read_mb_per_s, volume->busy.write_mb_per_s);
    }
    return used;
}
