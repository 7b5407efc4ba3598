/*
 * diag.c - the list of what is wrong with a configuration.
 *
 * Every mistake is kept so that a user sees all of them at once, up to PROFILE_DIAGS_MAX of each
 * level; what follows is counted only, so that a broken file cannot fill the memory.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/alloc.h"
#include "config/profile_private.h"

bool text_set_seen(struct text_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcasecmp(set->items[i], name) == 0) {
            return true;
        }
    }
    set->items = alloc_resized(set->items, set->count + 1, sizeof(*set->items));
    set->items[set->count++] = alloc_text(name);
    return false;
}

void text_set_free(struct text_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->items[i]);
    }
    free(set->items);
    *set = (struct text_set){0};
}

const char *profile_intern(struct profile *profile, const char *text)
{
    struct text_set *set = &profile->sources;

    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i] == text || strcmp(set->items[i], text) == 0) {
            return set->items[i];
        }
    }
    set->items = alloc_resized(set->items, set->count + 1, sizeof(*set->items));
    set->items[set->count] = alloc_text(text);
    return set->items[set->count++];
}

static struct diag *diag_append(struct profile *profile)
{
    if (profile->diag_count == profile->diag_capacity) {
        profile->diag_capacity = profile->diag_capacity * 2 + 8;
        profile->diags =
            alloc_resized(profile->diags, profile->diag_capacity, sizeof(*profile->diags));
    }
    return &profile->diags[profile->diag_count++];
}

void profile_diag(struct profile *profile, enum diag_level level, struct opt_where where,
                  const char *format, ...)
{
    size_t count = ++profile->level_count[level];
    va_list arguments;

    if (count > PROFILE_DIAGS_MAX + 1) {
        return;
    }
    struct diag *diag = diag_append(profile);
    diag->level = level;
    diag->where.source = profile_intern(profile, where.source != NULL ? where.source : "default");
    diag->where.line = where.line;
    if (count == PROFILE_DIAGS_MAX + 1) {
        diag->where.line = 0;
        snprintf(diag->text, sizeof(diag->text), "too many %s; the others are not listed",
                 level == DIAG_ERROR ? "errors" : "warnings");
        return;
    }
    va_start(arguments, format);
    vsnprintf(diag->text, sizeof(diag->text), format, arguments);
    va_end(arguments);
}

size_t profile_error_count(const struct profile *profile)
{
    return profile->level_count[DIAG_ERROR];
}

size_t profile_diag_count(const struct profile *profile)
{
    return profile->diag_count;
}

const struct diag *profile_diag_at(const struct profile *profile, size_t index)
{
    return index < profile->diag_count ? &profile->diags[index] : NULL;
}

void diag_print(const struct diag *diag, FILE *out)
{
    fputs(diag->where.source, out);
    if (diag->where.line > 0) {
        fprintf(out, ":%u", diag->where.line);
    }
    fprintf(out, ": %s%s\n", diag->level == DIAG_WARNING ? "warning: " : "", diag->text);
}

/* Bytes at the end of text[0..length) that belong to a UTF-8 character that was cut. */
static size_t cut_tail(const char *text, size_t length)
{
    size_t tail = 0;

    while (tail < length && ((unsigned char)text[length - 1 - tail] & 0xc0) == 0x80) {
        tail++;
    }
    return tail < length && ((unsigned char)text[length - 1 - tail] & 0xc0) == 0xc0 ? tail + 1 : 0;
}

void diag_quote(const char *text, char *out, size_t out_size_bytes)
{
    size_t used = 0;

    out[0] = '\0';
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (used + 8 > out_size_bytes) { /* "\xNN" or "..." and the zero must fit */
            used -= cut_tail(out, used);
            snprintf(out + used, out_size_bytes - used, "...");
            return;
        }
        if (c < 0x20 || c == 0x7f) {
            used += (size_t)snprintf(out + used, out_size_bytes - used, "\\x%02x", c);
        } else {
            out[used++] = (char)c;
            out[used] = '\0';
        }
    }
}
