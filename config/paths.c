/*
 * paths.c - names of Windows and of streams become names on this machine.
 *
 * Invariant: a result never contains a drive, a UNC share or a stream, and a mapped name never
 * leaves the directory that it was mapped to.
 */
#include "config/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool has_drive(const char *name)
{
    return is_letter(name[0]) && name[1] == ':';
}

/* Starts with two slashes of which at least the first is Windows': a share or a device. */
static bool is_unc(const char *name)
{
    return name[0] == '\\' && is_slash(name[1]);
}

static char fold(char c)
{
    if (c == '\\') {
        return '/';
    }
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Length of prefix when name begins with it (any case, any slash, whole components), else 0. */
static size_t match_prefix(const char *name, const char *prefix, size_t length)
{
    while (length > 0 && is_slash(prefix[length - 1])) {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (fold(name[i]) != fold(prefix[i])) { /* covers the end of name */
            return 0;
        }
    }
    bool drive = length == 2 && prefix[1] == ':'; /* f:x.mdx belongs to f: as well */
    return drive || is_slash(name[length]) ? length : 0;
}

/* The map with the longest match; *rest is what follows it in name, *target where it leads. */
static bool find_map(const char *name, const struct path_rules *rules, const char **rest,
                     const char **target)
{
    size_t best = 0;

    for (size_t i = 0; i < rules->map_count; i++) {
        const char *equals = strchr(rules->maps[i], '=');
        if (equals == NULL || equals[1] == '\0') {
            continue;
        }
        size_t length = match_prefix(name, rules->maps[i], (size_t)(equals - rules->maps[i]));
        if (length > best) {
            best = length;
            *rest = name + length;
            *target = equals + 1;
        }
    }
    return best > 0;
}

static void slashes_to_linux(char *name)
{
    for (; *name != '\0'; name++) {
        *name = *name == '\\' ? '/' : *name;
    }
}

static const char *last_component(const char *name)
{
    const char *last = has_drive(name) ? name + 2 : name;

    for (const char *c = last; *c != '\0'; c++) {
        last = is_slash(*c) ? c + 1 : last;
    }
    return last;
}

static bool climbs(const char *rest)
{
    for (const char *c = rest; *c != '\0'; c++) {
        bool start = c == rest || is_slash(c[-1]);
        if (start && c[0] == '.' && c[1] == '.' && (c[2] == '\0' || is_slash(c[2]))) {
            return true;
        }
    }
    return false;
}

static char *join(const char *directory, const char *name)
{
    size_t length = strlen(directory);

    while (length > 1 && directory[length - 1] == '/') {
        length--;
    }
    while (is_slash(name[0])) {
        name++;
    }
    bool slash = length == 0 || directory[length - 1] == '/'; /* "" is the current directory */
    return alloc_printf("%.*s%s%s", (int)length, directory, slash ? "" : "/", name);
}

static int map_windows(const char *name, const struct path_rules *rules, char **out,
                       char text[OPT_TEXT_MAX])
{
    const char *rest;
    const char *target;

    if (find_map(name, rules, &rest, &target)) {
        if (climbs(rest)) {
            snprintf(text, OPT_TEXT_MAX, "a mapped name may not contain '..'");
            return -EINVAL;
        }
        char *tail = alloc_text(rest);
        slashes_to_linux(tail);
        *out = join(target, tail);
        free(tail);
        return 0;
    }
    if (rules->dir_count == 1) {
        *out = join(rules->dirs[0], last_component(name));
        return 0;
    }
    if (has_drive(name)) {
        snprintf(text, OPT_TEXT_MAX,
                 "a Windows path: say where drive %c: is with --map %c:=DIR, or give one --dir DIR "
                 "for all such files%s",
                 name[0], name[0], rules->dir_count > 1 ? " (more than one was given)" : "");
    } else {
        snprintf(text, OPT_TEXT_MAX,
                 "a Windows share: say where it is with --map '\\\\SERVER\\SHARE=DIR', or give one "
                 "--dir DIR for all such files%s",
                 rules->dir_count > 1 ? " (more than one was given)" : "");
    }
    return -EINVAL;
}

/* "name:stream:$DATA" -> "name.stream", in place; "name::$DATA" is the file itself. */
static void streams_to_dots(char *name)
{
    char *last = strrchr(name, '/');
    char *base = last != NULL ? last + 1 : name;
    char *type = strrchr(base, ':');

    if (type != NULL && type[1] == '$' && strchr(base, ':') != type) {
        *type = '\0';
    }
    for (char *c = base; *c != '\0'; c++) {
        *c = *c == ':' ? '.' : *c;
    }
    if (type != NULL) { /* "x.mdx:" and "x.mdx::$DATA": the stream without a name */
        size_t length = strlen(base);
        while (length > 1 && base[length - 1] == '.') {
            base[--length] = '\0';
        }
    }
}

/* \\?\f:\x is f:\x, and \\?\UNC\server\share\x is \\server\share\x.  *owned is malloc'd. */
static const char *strip_long_prefix(const char *name, char **owned)
{
    *owned = NULL;
    if (!is_unc(name) || name[2] != '?' || !is_slash(name[3])) {
        return name;
    }
    name += 4;
    if (match_prefix(name, "UNC", 3) == 3) {
        *owned = alloc_printf("\\%s", name + 3);
        return *owned;
    }
    return name;
}

char *path_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL) {
        return alloc_text(".");
    }
    return slash == path ? alloc_text("/") : alloc_printf("%.*s", (int)(slash - path), path);
}

const char *path_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool names_a_file(const char *path)
{
    const char *base = path_last_name(path);

    return base[0] != '\0' && strcmp(base, ".") != 0 && strcmp(base, "..") != 0;
}

/* Under the single --dir, as a Windows path would be: else another disk than the one named would be
 * tested in silence. */
static int map_relative(const char *plain, const struct path_rules *rules, char **out,
                        char text[OPT_TEXT_MAX])
{
    if (rules->dir_count > 1) {
        snprintf(text, OPT_TEXT_MAX,
                 "a relative name, and several --dir: write the whole path, or give one --dir");
        return -EINVAL;
    }
    *out = rules->dir_count == 1 ? alloc_printf("%s/%s", rules->dirs[0], plain) : alloc_text(plain);
    slashes_to_linux(rules->dir_count == 1 ? *out + strlen(rules->dirs[0]) : *out);
    return 0;
}

int path_map(const char *name, const struct path_rules *rules, char **out, char text[OPT_TEXT_MAX])
{
    char *owned;
    const char *plain = strip_long_prefix(name, &owned);
    char *mapped = NULL;
    int rc = 0;

    if (is_unc(plain) && plain[2] == '.' && is_slash(plain[3])) {
        snprintf(text, OPT_TEXT_MAX,
                 "a Windows device: name the Linux block device instead (/dev/...)");
        rc = -EINVAL;
    } else if (has_drive(plain) || is_unc(plain)) {
        rc = map_windows(plain, rules, &mapped, text);
    } else if (plain[0] == '/') {
        mapped = alloc_text(plain);
    } else {
        rc = map_relative(plain, rules, &mapped, text);
    }
    free(owned);
    if (rc == 0) {
        streams_to_dots(mapped);
        if (!names_a_file(mapped)) {
            snprintf(text, OPT_TEXT_MAX, "names a directory, not a file");
            rc = -EINVAL;
        }
    }
    if (rc != 0) {
        free(mapped);
        return rc;
    }
    *out = mapped;
    return 0;
}

static void check_maps(struct profile *profile, const struct path_rules *rules)
{
    const struct opt_where where = {.source = "command line"};

    for (size_t i = 0; i < rules->map_count; i++) {
        const char *equals = strchr(rules->maps[i], '=');
        if (equals == NULL || equals == rules->maps[i] || equals[1] == '\0') {
            char quoted[OPT_TEXT_MAX / 4];
            diag_quote(rules->maps[i], quoted, sizeof(quoted));
            profile_diag(profile, DIAG_ERROR, where,
                         "--map %s: must be of the form f:=/mnt/data (what the configuration "
                         "says = where that is here)",
                         quoted);
        }
    }
}

/* ErrorFile: where a map says, else a Windows path is only a name; what follows is the shell's. */
static char *error_file_mapped(const char *plain, const struct path_rules *rules, bool *lost)
{
    const char *rest;
    const char *target;
    bool windows = has_drive(plain) || is_unc(plain);

    *lost = false;
    if (windows && find_map(plain, rules, &rest, &target) && !climbs(rest)) {
        char *tail = alloc_text(rest);
        slashes_to_linux(tail);
        char *mapped = join(target, tail);
        free(tail);
        return mapped;
    }
    *lost = windows;
    char *name = alloc_text(windows ? last_component(plain) : plain);
    if (plain[0] != '/') {
        slashes_to_linux(name);
    }
    return name;
}

static void apply_error_file(struct profile *profile, const struct path_rules *rules)
{
    char *name = profile_config(profile)->error_file;
    struct opt_where where = {.source = "command line"};
    char quoted[OPT_TEXT_MAX / 4];
    char *owned;
    bool lost;

    if (name == NULL) {
        return;
    }
    diag_quote(name, quoted, sizeof(quoted));
    profile_where(profile, "CONFIG", "ErrorFile", &where);
    char *mapped = error_file_mapped(strip_long_prefix(name, &owned), rules, &lost);
    free(owned);
    if (!names_a_file(mapped)) {
        profile_diag(profile, DIAG_ERROR, where, "ErrorFile=%s: names a directory, not a file",
                     quoted);
    } else if (lost) {
        profile_diag(profile, DIAG_WARNING, where,
                     "ErrorFile=%s: a Windows path; the log is %s in the result folder (--map or "
                     "-log FILE say otherwise)",
                     quoted, mapped);
    }
    profile_config_mutable(profile)->error_file = mapped;
    free(name);
}

int paths_apply(struct profile *profile, const struct path_rules *rules)
{
    size_t errors_before = profile_error_count(profile);
    char text[OPT_TEXT_MAX];

    check_maps(profile, rules);
    apply_error_file(profile, rules);
    for (size_t i = 0; i < profile_file_count(profile); i++) {
        const struct file_settings *file = profile_file(profile, i);
        char *mapped;
        if (file->file_name == NULL) {
            continue;
        }
        if (path_map(file->file_name, rules, &mapped, text) == 0) {
            profile_file_rename(profile, i, mapped);
            free(mapped);
        } else {
            char section[32];
            char quoted[OPT_TEXT_MAX / 4];
            struct opt_where where = file->where;
            snprintf(section, sizeof(section), "File%u", file->number);
            profile_where(profile, section, "FileName", &where);
            diag_quote(file->file_name, quoted, sizeof(quoted));
            profile_diag(profile, DIAG_ERROR, where, "[%s] FileName=%s: %s", section, quoted, text);
        }
    }
    return profile_error_count(profile) > errors_before ? -EINVAL : 0;
}

/* Drop the last component of out[0..length), if it may be dropped. */
static size_t drop_component(const char *out, size_t length, size_t root)
{
    while (length > root && out[length - 1] != '/') {
        length--;
    }
    return length > root ? length - 1 : length;
}

char *path_normalised(const char *name)
{
    size_t root = name[0] == '/' ? 1 : 0;
    char *out = alloc_zeroed(strlen(name) + 2, 1);
    size_t length = root;

    memcpy(out, "/", root);
    while (*name != '\0') {
        size_t part = strcspn(name, "/");
        bool up = part == 2 && strncmp(name, "..", 2) == 0;
        bool after_up = length >= 2 && strcmp(out + length - 2, "..") == 0 &&
                        (length == 2 || out[length - 3] == '/');
        if (up && length > root && !after_up) {
            length = drop_component(out, length, root);
        } else if (part > 0 && !(part == 1 && name[0] == '.') && !(up && root == 1)) {
            if (length > root) {
                out[length++] = '/';
            }
            memcpy(out + length, name, part);
            length += part;
        }
        out[length] = '\0';
        name += part + (name[part] == '/' ? 1 : 0);
    }
    return out;
}
