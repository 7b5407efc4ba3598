/*
 * source_ini.c - SQLIOSim's configuration files.
 *
 * Syntax: [Section], Key=Value, ';' or '#' at the start of a line is a comment.  Nothing later in a
 * line is a comment (paths may hold ';' and '#'), a backslash at the end is text ("f:\"), blanks
 * around names and values and one pair of quotes around a value go.  Any case, any line end, UTF-8
 * with or without byte order mark, UTF-16 with it.
 *
 * Invariants: every problem becomes a diagnostic with its line; a problem in one line does not hide
 * the others; the values reach profile_set() in the order of the file.
 * Does not know any section or key.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/ini_values.h"
#include "config/source.h"
#include "config/text_decode.h"

struct ini_setting {
    const char *section;
    const char *key;
    unsigned line;
};

struct ini_reader {
    struct profile *profile;
    const char *name;    /* of the source, for messages */
    const char *section; /* in the decoded text; NULL before the first */
    struct ini_setting settings[INI_VALUES_MAX];
    const char *values[INI_VALUES_MAX];
    size_t count;
    int rc; /* first error that hides settings */
};

static void reader_error(struct ini_reader *reader, unsigned line, int rc, const char *text)
{
    struct opt_where where = {.source = reader->name, .line = line};

    profile_diag(reader->profile, DIAG_ERROR, where, "%s", text);
    if (reader->rc == 0) {
        reader->rc = rc;
    }
}

/* Hand the collected values through iniparser to the profile. */
static void reader_flush(struct ini_reader *reader)
{
    char *values[INI_VALUES_MAX];
    size_t count = reader->count;

    reader->count = 0;
    if (count == 0) {
        return;
    }
    int rc = ini_values_read(reader->values, count, values);
    if (rc != 0) {
        char text[OPT_TEXT_MAX];
        snprintf(text, sizeof(text),
                 "cannot be parsed: no memory for it, or /proc is not mounted (%s)", strerror(-rc));
        reader_error(reader, 0, rc, text);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct opt_where where = {.source = reader->name, .line = reader->settings[i].line};
        int ignored = profile_set(reader->profile, reader->settings[i].section,
                                  reader->settings[i].key, values[i], where);
        (void)ignored; /* a diagnostic by now */
        free(values[i]);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

/* Cut blanks off both ends, in place. */
static char *trimmed(char *text)
{
    while (is_blank(*text)) {
        text++;
    }
    size_t length = strlen(text);
    while (length > 0 && is_blank(text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

static char *unquoted(char *text)
{
    size_t length = strlen(text);
    bool quoted = length >= 2 && (text[0] == '"' || text[0] == '\'') && text[length - 1] == text[0];

    if (quoted) {
        text[length - 1] = '\0';
        text++;
    }
    return text;
}

static void read_section(struct ini_reader *reader, char *text, unsigned line)
{
    char *end = strchr(text, ']');

    reader->section = NULL;
    if (end == NULL) {
        reader_error(reader, line, -EINVAL, "a section without its closing ']'");
        return;
    }
    char *after = trimmed(end + 1);
    if (*after != '\0' && *after != ';' && *after != '#') {
        reader_error(reader, line, -EINVAL, "text behind a section's ']': put it on its own line");
        return;
    }
    *end = '\0';
    text = trimmed(text + 1);
    if (*text == '\0') {
        reader_error(reader, line, -EINVAL, "a section without a name");
        return;
    }
    reader->section = text;
}

static void read_setting(struct ini_reader *reader, char *text, unsigned line, bool lost)
{
    char *equals = strchr(text, '=');
    char message[OPT_TEXT_MAX];
    char quoted[OPT_TEXT_MAX / 4];

    if (equals == NULL) {
        diag_quote(text, quoted, sizeof(quoted));
        snprintf(message, sizeof(message),
                 "\"%s\" is neither [Section] nor Key=Value nor a comment (; at the line's start)",
                 quoted);
        reader_error(reader, line, -EINVAL, message);
        return;
    }
    *equals = '\0';
    char *key = trimmed(text);
    char *value = unquoted(trimmed(equals + 1));
    if (*key == '\0') {
        reader_error(reader, line, -EINVAL, "a value without a key in front of its '='");
        return;
    }
    if (reader->section == NULL) {
        if (!lost) { /* else the broken heading was complained of */
            reader_error(reader, line, -EINVAL, "a setting before the first [Section]");
        }
        return;
    }
    reader->settings[reader->count] =
        (struct ini_setting){.section = reader->section, .key = key, .line = line};
    reader->values[reader->count++] = value;
    if (reader->count == INI_VALUES_MAX) {
        reader_flush(reader);
    }
}

/* One line, zero-terminated; *heading says that there was a [ line before. */
static void read_line(struct ini_reader *reader, char *text, unsigned line, bool *heading)
{
    if (strlen(text) > SOURCE_LINE_MAX) {
        char message[OPT_TEXT_MAX];
        snprintf(message, sizeof(message), "a line of %zu bytes; no setting needs more than %d",
                 strlen(text), SOURCE_LINE_MAX);
        reader_error(reader, line, -EMSGSIZE, message);
        return;
    }
    text = trimmed(text);
    if (*text == '\0' || *text == ';' || *text == '#') {
        return;
    }
    if (*text == '[') {
        *heading = true;
        read_section(reader, text, line);
    } else {
        read_setting(reader, text, line, *heading);
    }
}

/* Lines that say something, when there are several and none of them is [Section] or Key=Value; else
 * 0. */
static unsigned foreign_lines(const char *text)
{
    unsigned count = 0;

    while (*text != '\0') {
        text += strspn(text, " \t\f\v");
        size_t length = strcspn(text, "\r\n");
        if (*text == '[' || memchr(text, '=', length) != NULL) {
            return 0;
        }
        count += length > 0 && *text != ';' && *text != '#';
        text += length;
        text += strspn(text, "\r\n");
    }
    return count > 1 ? count : 0;
}

static void read_lines(struct ini_reader *reader, char *text)
{
    bool heading = false;
    unsigned line = 1, foreign = foreign_lines(text);

    if (foreign > 0) {
        char message[OPT_TEXT_MAX];
        snprintf(message, sizeof(message),
                 "this is no configuration: none of its %u lines is [Section] or Key=Value",
                 foreign);
        reader_error(reader, 0, -EINVAL, message);
        return;
    }
    while (*text != '\0') {
        size_t length = strcspn(text, "\r\n");
        size_t end = text[length] == '\r' && text[length + 1] == '\n' ? 2 : text[length] != '\0';
        char *next = text + length + end;
        text[length] = '\0';
        read_line(reader, text, line++, &heading);
        text = next;
    }
    reader_flush(reader);
}

int source_ini_text(struct profile *profile, const char *name, const char *text, size_t size_bytes)
{
    struct ini_reader *reader = alloc_zeroed(1, sizeof(*reader));
    const char *problem;
    char *decoded;
    size_t length;

    reader->profile = profile;
    reader->name = name;
    if (size_bytes > SOURCE_FILE_MAX) {
        reader_error(reader, 0, -EFBIG, "larger than 4 MiB: not a configuration file");
    } else if (text_decode(text, size_bytes, &decoded, &length, &problem) != 0) {
        reader_error(reader, 0, -EINVAL, problem);
    } else {
        read_lines(reader, decoded);
        free(decoded);
    }
    int rc = reader->rc;
    free(reader);
    return rc;
}

static int file_error(struct profile *profile, const char *path, int rc, const char *what)
{
    struct opt_where where = {.source = path};

    profile_diag(profile, DIAG_ERROR, where, "%s", what);
    return rc;
}

static int open_error(struct profile *profile, const char *path, int error)
{
    char text[OPT_TEXT_MAX];

    if (error == ENOENT || error == ENOTDIR) {
        snprintf(text, sizeof(text), "no such configuration file");
    } else if (error == EACCES || error == EPERM) {
        snprintf(text, sizeof(text), "this user may not read the configuration file");
    } else {
        snprintf(text, sizeof(text), "cannot be opened: %s", strerror(error));
    }
    return file_error(profile, path, -error, text);
}

/* Read at most size_bytes; the number read or -errno. */
static ssize_t read_up_to(int fd, char *buffer, size_t size_bytes)
{
    size_t used = 0;

    while (used < size_bytes) {
        ssize_t got = read(fd, buffer + used, size_bytes - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -errno;
        }
        if (got == 0) {
            break;
        }
        used += (size_t)got;
    }
    return (ssize_t)used;
}

int source_ini_load(struct profile *profile, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat status;
    char text[OPT_TEXT_MAX];
    int rc;

    if (fd < 0) {
        return open_error(profile, path, errno);
    }
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        return file_error(profile, path, -EISDIR, "is a directory, not a configuration file");
    }
    char *bytes = alloc_zeroed(SOURCE_FILE_MAX + 1, 1); /* one more tells that there is more */
    ssize_t size_bytes = read_up_to(fd, bytes, SOURCE_FILE_MAX + 1);
    close(fd);
    if (size_bytes < 0) {
        snprintf(text, sizeof(text), "cannot be read: %s", strerror((int)-size_bytes));
        rc = file_error(profile, path, (int)size_bytes, text);
    } else {
        rc = source_ini_text(profile, path, bytes, (size_t)size_bytes);
    }
    free(bytes);
    return rc;
}

bool source_ini_present(const char *path)
{
    return access(path, F_OK) == 0;
}
