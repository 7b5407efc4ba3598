/*
 * profile_finish.c - what no single setting can tell: rules between keys, sections and files.
 *
 * Every rule that is broken becomes a diagnostic that names the place of a key that took part.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "config/profile_private.h"
#include "config/sql_server_version.h"

static const struct opt_where no_where = {.source = "configuration"};

static void drop_unnamed_files(struct profile *profile)
{
    size_t kept = 0;

    for (size_t i = 0; i < profile->file_count; i++) {
        if (profile->files[i].settings.file_name == NULL) {
            opt_section_free(&file_section, &profile->files[i].settings);
            free(profile->files[i].keys);
        } else {
            profile->files[kept++] = profile->files[i];
        }
    }
    profile->file_count = kept;
}

static int compare_numbers(const void *a, const void *b)
{
    unsigned left = ((const struct file_state *)a)->settings.number;
    unsigned right = ((const struct file_state *)b)->settings.number;

    return (left > right) - (left < right);
}

/* Does text hold name as a word of its own? */
static bool mentions(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        bool word_before = at > text && at[-1] != ' ';
        if (!word_before && strchr(" ,:;.=", at[length]) != NULL) {
            return true;
        }
    }
    return false;
}

struct opt_where profile_place_of(const struct opt_section *section, const struct key_state *keys,
                                  const char *text, struct opt_where fallback)
{
    struct opt_where where = fallback;
    bool found = false;

    for (size_t i = 0; i < section->count; i++) {
        if (keys[i].set && mentions(text, section->opts[i].name) &&
            (!found || keys[i].where.line > where.line)) {
            where = keys[i].where;
            found = true;
        }
    }
    return where;
}

static void check_section(struct profile *profile, const struct section_state *state)
{
    char text[OPT_TEXT_MAX];

    if (state->section->check == NULL || state->section->check(state->settings, text) == 0) {
        return;
    }
    profile_diag(profile, DIAG_ERROR, profile_place_of(state->section, state->keys, text, no_where),
                 "[%s] %s", state->section->name, text);
}

static void check_file_section(struct profile *profile, struct file_state *file)
{
    struct file_settings *settings = &file->settings;
    char text[OPT_TEXT_MAX];

    if (settings->max_size_bytes == 0) {
        settings->max_size_bytes = settings->initial_size_bytes;
    }
    if (file_section.check(settings, text) != 0) {
        profile_diag(profile, DIAG_ERROR,
                     profile_place_of(&file_section, file->keys, text, settings->where),
                     "[File%u] %s", settings->number, text);
    }
    if (settings->sparse && settings->log_file) {
        profile_diag(profile, DIAG_WARNING, settings->where,
                     "[File%u] Sparse has no effect on a log file: logs are written in full",
                     settings->number);
    }
    if (settings->shrinkable && settings->tempdb) {
        profile_diag(profile, DIAG_WARNING, settings->where,
                     "[File%u] Shrinkable has no effect on a file of tempdb: it only grows",
                     settings->number);
    }
    if (settings->sparse && settings->tempdb && !settings->log_file) {
        profile_diag(profile, DIAG_ERROR, settings->where,
                     "[File%u] Sparse: tempdb has no sparse files; leave Sparse or TempDb out",
                     settings->number);
    }
}

struct named_file {
    char *name; /* normalised */
    const struct file_settings *settings;
};

static int compare_names(const void *a, const void *b)
{
    const struct named_file *left = a;
    const struct named_file *right = b;
    int order = strcmp(left->name, right->name);

    return order != 0 ? order
                      : (left->settings->number > right->settings->number) -
                            (left->settings->number < right->settings->number);
}

static void check_same_paths(struct profile *profile)
{
    size_t count = profile->file_count;
    struct named_file *names = alloc_zeroed(count, sizeof(*names));

    for (size_t i = 0; i < count; i++) {
        names[i].settings = &profile->files[i].settings;
        names[i].name = path_normalised(names[i].settings->file_name);
    }
    qsort(names, count, sizeof(*names), compare_names);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i].name, names[i - 1].name) == 0) {
            const struct file_settings *first = names[i - 1].settings;
            char quoted[OPT_TEXT_MAX / 2];
            diag_quote(names[i].settings->file_name, quoted, sizeof(quoted));
            profile_diag(profile, DIAG_ERROR, names[i].settings->where,
                         "[File%u] FileName=%s: the same file as [File%u] (%s:%u)",
                         names[i].settings->number, quoted, first->number, first->where.source,
                         first->where.line);
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(names[i].name);
    }
    free(names);
}

static void warn_repeated(struct profile *profile)
{
    if (profile->repeated <= PROFILE_REPEATED_MAX) {
        return;
    }
    size_t more = profile->repeated - PROFILE_REPEATED_MAX;
    profile_diag(profile, DIAG_WARNING, profile->repeated_last,
                 "and %zu more setting%s that %s set before, the last one here; the last one of a "
                 "key counts",
                 more, more == 1 ? "" : "s", more == 1 ? "was" : "were");
}

/* What the user left to the version of SQL Server. */
static void apply_version(struct profile *profile)
{
    struct config_settings *config = profile_config_mutable(profile);
    bool named = profile_is_set(profile, config_section.name, "SqlServerVersion");

    for (size_t i = 0; i < sql_server_keys_count; i++) {
        const struct sql_server_key *key = &sql_server_keys[i];
        if ((named || !key->when_named) &&
            !profile_is_set(profile, config_section.name, key->name)) {
            sql_server_key_apply(key, sql_server_version_at(config->sql_server_version), config);
        }
    }
}

/* Commits that nothing makes durable are no test of a database's storage. */
static void check_durability(struct profile *profile)
{
    const struct config_settings *config = profile_config(profile);
    struct opt_where where;

    if (!config->write_through && !config->forced_flush &&
        profile_where(profile, config_section.name, "ForcedFlush", &where)) {
        profile_diag(
            profile, DIAG_ERROR, where,
            "[CONFIG] ForcedFlush=FALSE with WriteThrough=FALSE: nothing would make a commit "
            "durable, and what a power cut takes would be nobody's fault; set WriteThrough, "
            "or leave ForcedFlush out");
    }
}

int profile_finish(struct profile *profile)
{
    assert(!profile->finished);
    apply_version(profile);
    check_durability(profile);
    drop_unnamed_files(profile);
    if (profile->file_count > 0) {
        qsort(profile->files, profile->file_count, sizeof(*profile->files), compare_numbers);
    }
    for (size_t i = 0; i < profile->section_count; i++) {
        check_section(profile, &profile->sections[i]);
    }
    for (size_t i = 0; i < profile->file_count; i++) {
        check_file_section(profile, &profile->files[i]);
    }
    if (profile->file_count > 1) {
        check_same_paths(profile);
    }
    profile_shares_check(profile, profile, "", no_where);
    profile_phases_finish(profile);
    profile_passes_finish(profile);
    warn_repeated(profile);
    profile->finished = true;
    return profile_error_count(profile) > 0 ? -EINVAL : 0;
}

/* The first file of the database that is a log (or data) file. */
static const struct file_settings *file_of(const struct profile *profile, int64_t database,
                                           bool log_file)
{
    for (size_t i = 0; i < profile->file_count; i++) {
        const struct file_settings *file = &profile->files[i].settings;
        if (file_settings_database(file) == database && file->log_file == log_file) {
            return file;
        }
    }
    return NULL;
}

int profile_check_files(struct profile *profile)
{
    size_t errors_before = profile_error_count(profile);

    if (profile->file_count == 0) {
        profile_diag(profile, DIAG_ERROR, no_where,
                     "no files to work on: give --dir DIR, or [FileN] sections in the file");
    }
    for (size_t i = 0; i < profile->file_count; i++) {
        const struct file_settings *file = &profile->files[i].settings;
        int64_t database = file_settings_database(file);
        if (file_of(profile, database, !file->log_file) != NULL ||
            file_of(profile, database, file->log_file) != file) {
            continue; /* complete, or said already */
        }
        if (file->tempdb) {
            profile_diag(profile, DIAG_ERROR, file->where,
                         "[File%u]: tempdb has no %s file; add a [FileN] with TempDb=TRUE and "
                         "LogFile=%s",
                         file->number, file->log_file ? "data" : "log",
                         file->log_file ? "FALSE" : "TRUE");
        } else if (file->log_file) {
            profile_diag(profile, DIAG_ERROR, file->where,
                         "[File%u]: database %lld has a log file but no data file", file->number,
                         (long long)file->database);
        } else {
            profile_diag(profile, DIAG_ERROR, file->where,
                         "[File%u]: no log file for database %lld; add a [FileN] with LogFile=TRUE",
                         file->number, (long long)file->database);
        }
    }
    return profile_error_count(profile) > errors_before ? -EINVAL : 0;
}
