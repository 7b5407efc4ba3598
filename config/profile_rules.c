/*
 * profile_rules.c - the rules of SQL Server that a profile follows, as text: what each version
 * sets, what is in effect, and who said so.
 */
#include <stdarg.h>
#include <string.h>

#include "config/profile_private.h"
#include "config/sql_server_version.h"

struct text {
    char *at;
    size_t left;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    size_t used = length > 0 ? (size_t)length : 0;
    used = used < text->left ? used : text->left - 1;
    text->at += used;
    text->left -= used;
}

/* The first version after `first` for which the key has another value. */
static size_t next_value(const struct sql_server_key *key, size_t first)
{
    size_t next = first + 1;

    while (next < sql_server_versions_count &&
           key->value(&sql_server_versions[next]) == key->value(&sql_server_versions[first])) {
        next++;
    }
    return next;
}

void profile_versions_text(const struct opt *opt, char *out, size_t out_size_bytes)
{
    const struct sql_server_key *key = sql_server_key_by_name(opt->name);
    struct text text = {out, out_size_bytes};

    *out = '\0';
    for (size_t first = 0, next; key != NULL && first < sql_server_versions_count; first = next) {
        struct config_settings settings = {.gather_pages_max = 0};
        char value[OPT_TEXT_MAX];
        sql_server_key_apply(key, &sql_server_versions[first], &settings);
        opt_get(opt, &settings, value, sizeof(value));
        next = next_value(key, first);
        add(&text, "%s%s (%s", first == 0 ? " SqlServerVersion sets " : ", ", value,
            sql_server_versions[first].name);
        if (next > first + 1) {
            add(&text, " .. %s", sql_server_versions[next - 1].name);
        }
        add(&text, next == sql_server_versions_count ? ")." : ")");
    }
}

void profile_origin(const struct profile *profile, const char *key, char *out,
                    size_t out_size_bytes)
{
    const struct sql_server_key *rule = sql_server_key_by_name(key);
    const char *version = sql_server_version_at(profile_config(profile)->sql_server_version)->name;
    bool named = profile_is_set(profile, config_section.name, "SqlServerVersion");
    struct opt_where where;

    if (profile_where(profile, config_section.name, key, &where)) {
        if (where.line > 0) {
            snprintf(out, out_size_bytes, "%s:%u", where.source, where.line);
        } else {
            snprintf(out, out_size_bytes, "%s", where.source);
        }
    } else if (rule != NULL && named) {
        snprintf(out, out_size_bytes, "SqlServerVersion=%s", version);
    } else if (rule != NULL && !rule->when_named) {
        snprintf(out, out_size_bytes, "as in SQL Server %s", version);
    } else {
        snprintf(out, out_size_bytes, "default");
    }
}

void profile_rules_text(const struct profile *profile, char *out, size_t out_size_bytes)
{
    char origin[OPT_TEXT_MAX], before[OPT_TEXT_MAX] = "";
    const char *separator = "";
    struct text text = {out, out_size_bytes};

    *out = '\0';
    for (size_t i = 0; i < sql_server_keys_count; i++) {
        const struct opt *opt = opt_find(&config_section, sql_server_keys[i].name);
        char value[OPT_TEXT_MAX];
        opt_get(opt, profile_config(profile), value, sizeof(value));
        profile_origin(profile, opt->name, origin, sizeof(origin));
        if (before[0] != '\0' && strcmp(origin, before) != 0) {
            add(&text, " (%s)", before);
        }
        add(&text, "%s%s=%s", separator, opt->name, value);
        separator = ", ";
        snprintf(before, sizeof(before), "%s", origin);
    }
    add(&text, " (%s)", before);
}
