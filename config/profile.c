/*
 * profile.c - the store of all settings: create, set, ask, release.
 *
 * Invariants: a value in the store has passed opt_set(); a later source overwrites an earlier one
 * silently (that is precedence), the same key twice in one file is warned of; nothing changes after
 * profile_finish().
 * Does not read any syntax (source_*.c) and does not compare settings (profile_finish.c).
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/alloc.h"
#include "config/nearest.h"
#include "config/profile_private.h"
#include "config/sizes.h"
#include "config/thresholds.h"

#define NUMBER_DIGITS_MAX 6 /* [File999999]; far above PROFILE_FILES_MAX */
#define NUMBER_MAX        999999
#define QUOTED_NAME_MAX   64
#define QUOTED_VALUE_MAX  128

/* Where a setting goes. */
struct slot {
    const struct opt *opt;
    void *settings;
    struct key_state *key;
    char section[QUOTED_NAME_MAX]; /* for messages: "File3", "RandomUser", "Phase1" */
    char owner[QUOTED_NAME_MAX];   /* for messages: "RandomUser." in a phase, else "" */
};

size_t profile_row(const struct opt_section *section, const struct opt *opt)
{
    return (size_t)(opt - section->opts);
}

static void section_init(struct section_state *state, const struct opt_section *section)
{
    state->section = section;
    state->settings = alloc_zeroed(1, section->size_bytes);
    state->keys = alloc_zeroed(section->count, sizeof(*state->keys));
    opt_section_defaults(section, state->settings);
}

/* What comes after the sections of the actors. */
static const struct opt_section *const tail_sections[] = {&sizes_section, &thresholds_section};
#define TAIL_COUNT (sizeof(tail_sections) / sizeof(tail_sections[0]))

size_t profile_actor_section_count(const struct profile *profile)
{
    return profile->section_count - 1 - TAIL_COUNT;
}

struct profile *profile_create(const struct opt_section *const *sections, size_t count)
{
    struct profile *profile = alloc_zeroed(1, sizeof(*profile));

    profile->section_count = 1 + count + TAIL_COUNT;
    profile->sections = alloc_zeroed(profile->section_count, sizeof(*profile->sections));
    section_init(&profile->sections[0], &config_section);
    for (size_t i = 0; i < count; i++) {
        section_init(&profile->sections[1 + i], sections[i]);
    }
    for (size_t i = 0; i < TAIL_COUNT; i++) {
        section_init(&profile->sections[profile->section_count - TAIL_COUNT + i], tail_sections[i]);
    }
    return profile;
}

void profile_free(struct profile *profile)
{
    if (profile == NULL) {
        return;
    }
    if (profile->rated != profile) {
        profile_free(profile->rated);
    }
    for (size_t i = 0; i < profile->section_count; i++) {
        opt_section_free(profile->sections[i].section, profile->sections[i].settings);
        free(profile->sections[i].settings);
        free(profile->sections[i].keys);
    }
    for (size_t i = 0; i < profile->file_count; i++) {
        opt_section_free(&file_section, &profile->files[i].settings);
        free(profile->files[i].keys);
    }
    profile_phases_free(profile);
    profile_passes_free(profile);
    text_set_free(&profile->sources);
    text_set_free(&profile->unknown);
    free(profile->sections);
    free(profile->files);
    free(profile->diags);
    free(profile);
}

void profile_set_strict(struct profile *profile, bool strict)
{
    profile->strict = strict;
}

static struct section_state *find_section(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->section_count; i++) {
        if (strcasecmp(profile->sections[i].section->name, name) == 0) {
            return &profile->sections[i];
        }
    }
    return NULL;
}

int profile_section_number(const char *section, const struct opt_section *numbered)
{
    size_t stem = strlen(numbered->name);

    if (strncasecmp(section, numbered->name, stem) != 0) {
        return 0;
    }
    const char *digits = section + stem;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || digits[length] != '\0') {
        return 0;
    }
    if (digits[0] == '0' || length > NUMBER_DIGITS_MAX) {
        return -1;
    }
    return (int)strtol(digits, NULL, 10); /* digits only, and few: nothing can go wrong */
}

int profile_file_number(const char *section)
{
    return profile_section_number(section, &file_section);
}

static struct file_state *find_file(const struct profile *profile, unsigned number)
{
    for (size_t i = profile->file_count; i > 0; i--) { /* the one in work is the last */
        if (profile->files[i - 1].settings.number == number) {
            return &profile->files[i - 1];
        }
    }
    return NULL;
}

/* NULL when there are too many: that is said once. */
static struct file_state *add_file(struct profile *profile, unsigned number, struct opt_where where)
{
    if (profile->file_count == PROFILE_FILES_MAX) {
        if (!profile->too_many_files) {
            profile_diag(profile, DIAG_ERROR, where,
                         "[File%u]: more than %d files; this and the following are not read",
                         number, PROFILE_FILES_MAX);
        }
        profile->too_many_files = true;
        return NULL;
    }
    if (profile->file_count == profile->file_capacity) {
        profile->file_capacity = profile->file_capacity * 2 + 8;
        profile->files =
            alloc_resized(profile->files, profile->file_capacity, sizeof(*profile->files));
    }
    struct file_state *file = &profile->files[profile->file_count++];
    opt_section_defaults(&file_section, &file->settings);
    file->keys = alloc_zeroed(file_section.count, sizeof(*file->keys));
    file->settings.number = number;
    file->settings.where = where;
    return file;
}

static void complain(struct profile *profile, struct opt_where where, const char *what,
                     const char *remedy, const char *name)
{
    enum diag_level level = profile->strict ? DIAG_ERROR : DIAG_WARNING;

    profile_diag(profile, level, where, "%s%s%s%s", what, name != NULL ? remedy : "",
                 name != NULL ? name : "", name != NULL ? "?" : "");
}

static void unknown_section(struct profile *profile, const char *name, struct opt_where where)
{
    char quoted[QUOTED_NAME_MAX];
    char what[OPT_TEXT_MAX];
    struct nearest nearest;

    if (profile->unknown.count >= PROFILE_DIAGS_MAX || text_set_seen(&profile->unknown, name)) {
        return;
    }
    nearest_init(&nearest, name);
    for (size_t i = 0; i < profile->section_count; i++) {
        nearest_offer(&nearest, profile->sections[i].section->name);
    }
    nearest_offer(&nearest, "File1");
    nearest_offer(&nearest, "Phase1");
    nearest_offer(&nearest, "Pass1");
    diag_quote(name, quoted, sizeof(quoted));
    snprintf(what, sizeof(what), "[%s]: unknown section%s", quoted,
             profile->strict ? "" : ", its settings are ignored");
    complain(profile, where, what, "; did you mean ", nearest_name(&nearest));
}

/* The section that has key, for a key written under the wrong heading. */
static const char *owner_of(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->section_count; i++) {
        if (opt_find(profile->sections[i].section, key) != NULL) {
            return profile->sections[i].section->name;
        }
    }
    return opt_find(&file_section, key) != NULL ? "FileN" : NULL;
}

static void unknown_key(struct profile *profile, const char *section_name,
                        const struct opt_section *section, const char *key, struct opt_where where)
{
    char quoted[QUOTED_NAME_MAX];
    char what[OPT_TEXT_MAX];
    const char *owner;
    struct nearest nearest;

    if (profile->level_count[profile->strict ? DIAG_ERROR : DIAG_WARNING] > PROFILE_DIAGS_MAX) {
        complain(profile, where, "", "", NULL); /* counted only: spare the search for a name */
        return;
    }
    owner = owner_of(profile, key);
    diag_quote(key, quoted, sizeof(quoted));
    snprintf(what, sizeof(what), "[%s] %s: unknown key%s", section_name, quoted,
             profile->strict ? "" : ", ignored");
    if (owner != NULL) {
        complain(profile, where, what, "; does it belong to section ", owner);
        return;
    }
    nearest_init(&nearest, key);
    for (size_t i = 0; i < section->count; i++) {
        nearest_offer(&nearest, section->opts[i].name);
    }
    complain(profile, where, what, "; did you mean ", nearest_name(&nearest));
}

static int find_file_slot(struct profile *profile, int number, const char *key,
                          struct opt_where where, struct slot *slot)
{
    snprintf(slot->section, sizeof(slot->section), "%s%d", file_section.name, number);
    slot->opt = opt_find(&file_section, key);
    if (slot->opt == NULL) {
        unknown_key(profile, slot->section, &file_section, key, where);
        return -ENOENT;
    }
    struct file_state *file = find_file(profile, (unsigned)number);
    if (file == NULL) {
        file = add_file(profile, (unsigned)number, where);
    }
    if (file == NULL) {
        return -E2BIG;
    }
    slot->settings = &file->settings;
    slot->key = &file->keys[profile_row(&file_section, slot->opt)];
    return 0;
}

static int refuse_number(struct profile *profile, const char *section,
                         const struct opt_section *numbered, struct opt_where where)
{
    char quoted[QUOTED_NAME_MAX];

    if (!text_set_seen(&profile->unknown, section)) {
        diag_quote(section, quoted, sizeof(quoted));
        profile_diag(profile, DIAG_ERROR, where, "[%s]: sections of %s are [%s1], [%s2] ... [%s%d]",
                     quoted,
                     numbered == &file_section    ? "files"
                     : numbered == &phase_section ? "phases"
                                                  : "passes",
                     numbered->name, numbered->name, numbered->name, NUMBER_MAX);
    }
    return -EINVAL;
}

/* phase: "Phase1] [" where the setting stands in one, for messages. */
static int find_plain_slot(struct profile *profile, const char *section, const char *key,
                           const char *phase, struct opt_where where, struct slot *slot)
{
    struct section_state *state = find_section(profile, section);
    char label[2 * QUOTED_NAME_MAX];

    if (state == NULL) {
        unknown_section(profile, section, where);
        return -ENOENT;
    }
    snprintf(slot->section, sizeof(slot->section), "%s", state->section->name);
    slot->opt = opt_find(state->section, key);
    if (slot->opt == NULL) {
        snprintf(label, sizeof(label), "%s%s", phase, state->section->name);
        unknown_key(profile, label, state->section, key, where);
        return -ENOENT;
    }
    slot->settings = state->settings;
    slot->key = &state->keys[profile_row(state->section, slot->opt)];
    return 0;
}

/* A setting of another section in a phase: "RandomUser.UserCount". */
static int find_own_slot(struct profile *profile, struct phase_state *phase, const char *key,
                         struct opt_where where, struct slot *slot)
{
    char section[QUOTED_NAME_MAX];
    size_t length = strcspn(key, ".");

    snprintf(section, sizeof(section), "%.*s", (int)(length < 63 ? length : 63), key);
    const char *name = key + length + 1;
    if (profile_file_number(section) != 0 || profile_section_number(section, &phase_section) != 0) {
        profile_diag(profile, DIAG_ERROR, where,
                     "[%s] %s.%.64s: files and phases stay as they are within a run", slot->section,
                     section, name);
        return -EINVAL;
    }
    struct slot other = {.opt = NULL};
    char phase_label[2 * QUOTED_NAME_MAX];
    snprintf(phase_label, sizeof(phase_label), "%s] [", slot->section);
    int rc = find_plain_slot(profile, section, name, phase_label, where, &other); /* complains */
    if (rc != 0) {
        return rc;
    }
    const struct section_state *state = find_section(profile, section);
    if (state->section->run_wide && (other.opt->flags & OPT_PHASE) == 0) {
        profile_diag(profile, DIAG_ERROR, where,
                     "[%s] %s.%s: cannot change within a run; set it in [%s] for all of it",
                     slot->section, state->section->name, other.opt->name, state->section->name);
        return -EINVAL;
    }
    struct section_state *own = find_section(phase->own, section);
    slot->opt = other.opt;
    slot->settings = own->settings;
    slot->key = &own->keys[profile_row(own->section, slot->opt)];
    snprintf(slot->owner, sizeof(slot->owner), "%.*s.", QUOTED_NAME_MAX - 2, own->section->name);
    return 0;
}

static int find_phase_slot(struct profile *profile, int number, const char *key,
                           struct opt_where where, struct slot *slot)
{
    struct phase_state *phase = profile_phase_at(profile, (unsigned)number, where);

    snprintf(slot->section, sizeof(slot->section), "%s%d", phase_section.name, number);
    if (phase == NULL) {
        return -E2BIG;
    }
    if (strchr(key, '.') != NULL) {
        return find_own_slot(profile, phase, key, where, slot);
    }
    slot->opt = opt_find(&phase_section, key);
    if (slot->opt == NULL) {
        unknown_key(profile, slot->section, &phase_section, key, where);
        return -ENOENT;
    }
    slot->settings = &phase->settings;
    slot->key = &phase->keys[profile_row(&phase_section, slot->opt)];
    return 0;
}

static int find_pass_slot(struct profile *profile, int number, const char *key,
                          struct opt_where where, struct slot *slot)
{
    struct pass_state *pass = profile_pass_at(profile, (unsigned)number, where);

    snprintf(slot->section, sizeof(slot->section), "%s%d", pass_section.name, number);
    if (pass == NULL) {
        return -E2BIG;
    }
    slot->opt = opt_find(&pass_section, key);
    if (slot->opt == NULL) {
        unknown_key(profile, slot->section, &pass_section, key, where);
        return -ENOENT;
    }
    slot->settings = &pass->settings;
    slot->key = &pass->keys[profile_row(&pass_section, slot->opt)];
    return 0;
}

static int find_slot(struct profile *profile, const char *section, const char *key,
                     struct opt_where where, struct slot *slot)
{
    int file = profile_file_number(section);
    int phase = profile_section_number(section, &phase_section);
    int pass = profile_section_number(section, &pass_section);

    slot->owner[0] = '\0';
    if (file > 0) {
        return find_file_slot(profile, file, key, where, slot);
    }
    if (phase > 0) {
        return find_phase_slot(profile, phase, key, where, slot);
    }
    if (pass > 0) {
        return find_pass_slot(profile, pass, key, where, slot);
    }
    if (file < 0 || phase < 0 || pass < 0) {
        const struct opt_section *numbered = file < 0    ? &file_section
                                             : phase < 0 ? &phase_section
                                                         : &pass_section;
        return refuse_number(profile, section, numbered, where);
    }
    return find_plain_slot(profile, section, key, "", where, slot);
}

/* The first few are named; profile_finish() tells the number of the others. */
static void repeated(struct profile *profile, const struct slot *slot, struct opt_where where)
{
    profile->repeated_last = where;
    if (++profile->repeated > PROFILE_REPEATED_MAX) {
        return;
    }
    profile_diag(profile, DIAG_WARNING, where,
                 "[%s] %s%s: set before in line %u (%s:%u); this one counts", slot->section,
                 slot->owner, slot->opt->name, slot->key->where.line, where.source,
                 slot->key->where.line);
}

static void refuse_value(struct profile *profile, const struct slot *slot, const char *value,
                         struct opt_where where, const char *problem)
{
    char quoted[QUOTED_VALUE_MAX];
    bool comment = slot->opt->type != OPT_STRING && strpbrk(value, ";#") != NULL;

    diag_quote(value, quoted, sizeof(quoted));
    profile_diag(profile, DIAG_ERROR, where, "[%s] %s%s=%s: %s%s", slot->section, slot->owner,
                 slot->opt->name, quoted, problem,
                 comment ? "; a comment needs a line of its own" : "");
}

int profile_set(struct profile *profile, const char *section, const char *key, const char *value,
                struct opt_where where)
{
    char problem[OPT_TEXT_MAX];
    struct slot slot;

    assert(!profile->finished);
    where.source = profile_intern(profile, where.source);
    int rc = find_slot(profile, section, key, where, &slot);
    if (rc != 0) {
        return rc;
    }
    rc = opt_set(slot.opt, slot.settings, value, problem);
    if (rc != 0) {
        refuse_value(profile, &slot, value, where, problem);
        return rc;
    }
    if (slot.key->set && where.line > 0 && slot.key->where.source == where.source) {
        repeated(profile, &slot, where);
    }
    *slot.key = (struct key_state){.set = true, .where = where};
    return 0;
}

const struct config_settings *profile_config(const struct profile *profile)
{
    return profile->sections[0].settings;
}

struct config_settings *profile_config_mutable(struct profile *profile)
{
    assert(!profile->finished);
    return profile->sections[0].settings;
}

size_t profile_file_count(const struct profile *profile)
{
    return profile->file_count;
}

const struct file_settings *profile_file(const struct profile *profile, size_t index)
{
    return index < profile->file_count ? &profile->files[index].settings : NULL;
}

size_t profile_section_count(const struct profile *profile)
{
    return profile->section_count;
}

const struct opt_section *profile_section_at(const struct profile *profile, size_t index,
                                             const void **settings)
{
    assert(index < profile->section_count);
    *settings = profile->sections[index].settings;
    return profile->sections[index].section;
}

const void *profile_section(const struct profile *profile, const char *name)
{
    const struct section_state *state = find_section(profile, name);

    return state != NULL ? state->settings : NULL;
}

const struct key_state *profile_key(const struct profile *profile, const char *section,
                                    const char *key)
{
    int number = profile_file_number(section);
    const struct section_state *state = find_section(profile, section);
    const struct file_state *file = number > 0 ? find_file(profile, (unsigned)number) : NULL;
    const struct opt_section *table = number > 0      ? &file_section
                                      : state != NULL ? state->section
                                                      : NULL;
    const struct opt *opt = table != NULL ? opt_find(table, key) : NULL;

    if (opt == NULL || (number > 0 && file == NULL)) {
        return NULL;
    }
    return (file != NULL ? file->keys : state->keys) + profile_row(table, opt);
}

bool profile_is_set(const struct profile *profile, const char *section, const char *key)
{
    const struct key_state *state = profile_key(profile, section, key);

    return state != NULL && state->set;
}

bool profile_where(const struct profile *profile, const char *section, const char *key,
                   struct opt_where *where)
{
    const struct key_state *state = profile_key(profile, section, key);

    if (state == NULL || !state->set) {
        return false;
    }
    *where = state->where;
    return true;
}

static unsigned next_file_number(const struct profile *profile)
{
    unsigned largest = 0;

    for (size_t i = 0; i < profile->file_count; i++) {
        if (profile->files[i].settings.number > largest) {
            largest = profile->files[i].settings.number;
        }
    }
    return largest + 1;
}

int profile_add_file(struct profile *profile, const char *path, bool log_file,
                     int64_t initial_bytes, int64_t max_bytes, int64_t database,
                     struct opt_where where)
{
    static const char *const given[] = {"InitialSize", "MaxSize", "LogFile", "Database"};
    char section[QUOTED_NAME_MAX];

    assert(!profile->finished);
    snprintf(section, sizeof(section), "%s%u", file_section.name, next_file_number(profile));
    int rc = profile_set(profile, section, "FileName", path, where);
    if (rc != 0) {
        return rc;
    }
    struct file_state *file = &profile->files[profile->file_count - 1];
    file->settings.log_file = log_file;
    file->settings.initial_size_bytes = initial_bytes;
    file->settings.max_size_bytes = max_bytes;
    file->settings.database = database;
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        size_t row = profile_row(&file_section, opt_find(&file_section, given[i]));
        file->keys[row] =
            file->keys[profile_row(&file_section, opt_find(&file_section, "FileName"))];
    }
    return 0;
}

void profile_file_grows(struct profile *profile, size_t index, int64_t increment_bytes,
                        bool shrinkable)
{
    assert(!profile->finished && index < profile->file_count);
    struct file_state *file = &profile->files[index];

    file->settings.increment_bytes = increment_bytes;
    file->settings.shrinkable = shrinkable;
    file->keys[profile_row(&file_section, opt_find(&file_section, "Increment"))] =
        file->keys[profile_row(&file_section, opt_find(&file_section, "FileName"))];
    file->keys[profile_row(&file_section, opt_find(&file_section, "Shrinkable"))] =
        file->keys[profile_row(&file_section, opt_find(&file_section, "FileName"))];
}

int profile_add_tempdb_file(struct profile *profile, const char *path, bool log_file, int64_t bytes,
                            int64_t max_bytes, struct opt_where where)
{
    int rc = profile_add_file(profile, path, log_file, bytes, max_bytes, 1, where);
    if (rc != 0) {
        return rc;
    }
    struct file_state *file = &profile->files[profile->file_count - 1];
    file->settings.tempdb = true;
    file->keys[profile_row(&file_section, opt_find(&file_section, "TempDb"))] =
        file->keys[profile_row(&file_section, opt_find(&file_section, "FileName"))];
    return 0;
}

void profile_file_rename(struct profile *profile, size_t index, const char *path)
{
    assert(!profile->finished && index < profile->file_count);
    char **name = &profile->files[index].settings.file_name;
    char *copy = alloc_text(path);

    free(*name);
    *name = copy;
}
