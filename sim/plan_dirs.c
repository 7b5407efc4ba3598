/*
 * plan_dirs.c - `--dir D` and nothing else: which files a run makes there, and how large.
 *
 * By the rules of [Sizes] (config/sizes.h).  Data files on one file system share its part.  With
 * --size: data of that size, may grow to twice that, log half of it and at most 50 MB (SQLIOSim's
 * rule).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "config/sizes.h"
#include "config/units.h"
#include "sim/exit_code.h"
#include "sim/plan.h"

#define SIZED_LOG_BYTES_MAX (50 * UNITS_MIB) /* SQLIOSim, -size */
#define GRAIN_BYTES         (64 * UNITS_KIB) /* an extent */

void plan_note(struct plan_notes *notes, const char *format, ...)
{
    va_list arguments;
    if (notes->count == PLAN_NOTES_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(notes->text[notes->count++], PLAN_NOTE_MAX, format, arguments);
    va_end(arguments);
}

uint64_t plan_reserve_bytes(const struct config_settings *settings, uint64_t total_bytes)
{
    if (settings->reserve_bytes > 0)
        return (uint64_t)settings->reserve_bytes;
    uint64_t share = total_bytes / 20;
    return share > (uint64_t)UNITS_GIB ? share : (uint64_t)UNITS_GIB;
}

/* The lists after --dir filled in. */
struct layout {
    const char *const *data;
    size_t data_count;
    const char *const *log;
    size_t log_count;
    size_t database_count;
    const struct plan_dirs *dirs;
    const struct sizes_settings *sizes;
    const struct plan_machine *machine;
    struct profile *profile;
    struct plan_notes *notes;
    char *message;
    int *exit_code;
};

static int layout_make(struct layout *l)
{
    const struct plan_dirs *dirs = l->dirs;
    l->data = dirs->data_dir_count ? dirs->data_dirs : dirs->dirs;
    l->data_count = dirs->data_dir_count ? dirs->data_dir_count : dirs->dir_count;
    if (l->data_count == 0) {
        snprintf(l->message, PLAN_MESSAGE_MAX,
                 "--log-dir says where the log goes, but nothing says where the data goes: give "
                 "--data-dir or --dir");
        *l->exit_code = EXIT_CODE_USAGE;
        return -EINVAL;
    }
    l->log = dirs->log_dir_count ? dirs->log_dirs : dirs->dir_count ? dirs->dirs : l->data;
    l->log_count = dirs->log_dir_count ? dirs->log_dir_count
                   : dirs->dir_count   ? dirs->dir_count
                                       : 1; /* data directories alone: one database */
    l->database_count = l->log_count;
    return 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int space_at(const struct layout *l, const char *directory, struct plan_space *space)
{
    int error = l->machine->space(l->machine->context, directory, space);
    if (error) {
        snprintf(l->message, PLAN_MESSAGE_MAX,
                 "%s: %s; the directory must exist (a missing mount point would test another disk)",
                 directory, strerror(-error));
        *l->exit_code = EXIT_CODE_USAGE;
    }
    return error;
}

/* How many of the data files are on this file system? */
static int neighbours(const struct layout *l, uint64_t device, size_t files, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < files; i++) {
        struct plan_space other;
        int error = space_at(l, l->data[least(i, l->data_count - 1)], &other);
        if (error)
            return error;
        *count += other.device == device;
    }
    return 0;
}

/* For one of `sharing` files on a file system with free_bytes beyond the reserve. */
static int64_t data_bytes_for(const struct layout *l, const char *directory, int64_t free_bytes,
                              int64_t sharing)
{
    char size[UNITS_TEXT_MAX], wanted[UNITS_TEXT_MAX], left[UNITS_TEXT_MAX];
    int64_t bytes = sizes_share(free_bytes, l->sizes->data_share) / sharing;
    if (bytes >= l->sizes->data_bytes)
        return l->sizes->data_bytes;
    bytes = bytes < l->sizes->data_bytes_min ? l->sizes->data_bytes_min
                                             : bytes / GRAIN_BYTES * GRAIN_BYTES;
    units_human_size(bytes, size, sizeof size);
    units_human_size(l->sizes->data_bytes, wanted, sizeof wanted);
    units_human_size(free_bytes, left, sizeof left);
    plan_note(l->notes,
              "data file in %.120s: %s instead of %s, since the file system has %s beyond the "
              "reserve",
              directory, size, wanted, left);
    return bytes;
}

static int default_data_bytes(const struct layout *l, const char *directory, size_t files,
                              int64_t *out)
{
    struct plan_space space;
    size_t sharing;
    int error = space_at(l, directory, &space);
    if (!error)
        error = neighbours(l, space.device, files, &sharing);
    if (error)
        return error;
    uint64_t reserve = plan_reserve_bytes(profile_config(l->profile), space.total_bytes);
    uint64_t free_bytes = space.available_bytes > reserve ? space.available_bytes - reserve : 0;
    *out = data_bytes_for(l, directory, (int64_t)free_bytes, (int64_t)(sharing ? sharing : 1));
    return 0;
}

/* Number of earlier files of this kind in the same directory, for the name. */
static size_t earlier(const char *const *list, size_t list_count, size_t index)
{
    size_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += strcmp(list[least(i, list_count - 1)], list[least(index, list_count - 1)]) == 0;
    return count;
}

static char *file_name(const char *directory, size_t before, const char *extension)
{
    size_t length = strlen(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    if (before == 0)
        return alloc_printf("%s%ssqliosim.%s", directory, slash, extension);
    return alloc_printf("%s%ssqliosim%zu.%s", directory, slash, before + 1, extension);
}

/* InitialSize and MaxSize of a file. */
struct extent_of_file {
    int64_t start_bytes, max_bytes;
};

static struct extent_of_file data_extent(const struct layout *l, int64_t bytes)
{
    if (l->dirs->size_bytes)
        return (struct extent_of_file){bytes, 2 * bytes};
    int64_t start = l->sizes->data_start_bytes;
    int64_t growth = sizes_share(bytes, l->sizes->data_growth) / GRAIN_BYTES * GRAIN_BYTES;
    start = start && start < bytes ? start : bytes;
    return (struct extent_of_file){start, bytes + growth};
}

static int file_add(const struct layout *l, const char *const *list, size_t list_count,
                    size_t index, bool is_log, size_t database, struct extent_of_file extent)
{
    const struct opt_where where = {.source = "command line"};
    const char *directory = list[least(index, list_count - 1)];
    char *path = file_name(directory, earlier(list, list_count, index), is_log ? "ldx" : "mdx");
    int error = profile_add_file(l->profile, path, is_log, extent.start_bytes, extent.max_bytes,
                                 (int64_t)database + 1, where);
    if (error) {
        snprintf(l->message, PLAN_MESSAGE_MAX, "%.200s: %s", path,
                 error == -EINVAL ? "not usable as a file name" : strerror(-error));
        *l->exit_code = EXIT_CODE_USAGE;
    }
    if (!error && !is_log && l->sizes->increment_bytes)
        profile_file_grows(l->profile, profile_file_count(l->profile) - 1,
                           l->sizes->increment_bytes, l->sizes->shrinkable);
    free(path);
    return error;
}

static int64_t log_bytes_for(const struct layout *l, int64_t data_bytes)
{
    int64_t sized = l->dirs->size_bytes;
    int64_t bytes = sized ? sized / 2 : sizes_share(data_bytes, l->sizes->log_share);
    int64_t most = sized ? SIZED_LOG_BYTES_MAX : l->sizes->log_bytes_max;
    bytes = bytes < most ? bytes : most;
    if (!sized && bytes < l->sizes->log_bytes_min)
        bytes = l->sizes->log_bytes_min;
    return bytes / GRAIN_BYTES * GRAIN_BYTES;
}

/* Data files of the database, then its log. */
static int database_add(const struct layout *l, size_t database, size_t files)
{
    bool last = database + 1 == l->database_count;
    size_t end = last ? files : database + 1;
    int64_t all_data = 0;
    for (size_t i = database; i < end; i++) {
        int64_t bytes = l->dirs->size_bytes;
        int error = 0;
        if (!bytes)
            error = default_data_bytes(l, l->data[least(i, l->data_count - 1)], files, &bytes);
        if (!error)
            error = file_add(l, l->data, l->data_count, i, false, database, data_extent(l, bytes));
        if (error)
            return error;
        all_data += bytes;
    }
    int64_t log_bytes = log_bytes_for(l, all_data);
    return file_add(l, l->log, l->log_count, database, true, database,
                    (struct extent_of_file){log_bytes, log_bytes});
}

int plan_add_files(struct profile *profile, const struct plan_dirs *dirs,
                   const struct plan_machine *machine, struct plan_notes *notes,
                   char message[PLAN_MESSAGE_MAX], int *exit_code)
{
    struct layout l = {.dirs = dirs,
                       .sizes = profile_section(profile, sizes_section.name),
                       .machine = machine,
                       .profile = profile,
                       .notes = notes,
                       .message = message,
                       .exit_code = exit_code};
    int error = layout_make(&l);
    size_t files = l.data_count > l.database_count ? l.data_count : l.database_count;
    for (size_t i = 0; i < l.database_count && !error; i++)
        error = database_add(&l, i, files);
    return error;
}
