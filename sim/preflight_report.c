/* preflight_report.c - see preflight_report.h. */
#include "sim/preflight_report.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "config/wrap.h"

#define SCHEMA     "pagestorm-preflight/1"
#define COLUMNS    80
#define MARK_WIDTH 3

/* ---- for people ---- */

static const char *mark_of(enum preflight_grade grade)
{
    static const char *const marks[] = {" ", "-", "!", "X"};
    return marks[grade];
}

static void print_line(const struct preflight_line *line, unsigned label_width, FILE *out)
{
    size_t indent = label_width + MARK_WIDTH + 2;
    char text[PREFLIGHT_VALUE_MAX + PREFLIGHT_ADVICE_MAX + 2];
    bool one = indent + strlen(line->value) + 2 + strlen(line->advice) <= COLUMNS;
    snprintf(text, sizeof text, "%s%s%s", line->value, line->advice[0] && one ? "; " : "",
             one ? line->advice : "");
    fprintf(out, " %s %-*s  ", mark_of(line->grade), (int)label_width, line->label);
    wrap_print(out, text, indent, indent, COLUMNS);
    if (one || !line->advice[0])
        return;
    fprintf(out, "%*s", (int)indent, "");
    wrap_print(out, line->advice, indent, indent, COLUMNS);
}

static void print_result(const struct preflight_result *result, FILE *out)
{
    unsigned width = 0;
    for (unsigned i = 0; i < result->count; i++)
        if (strlen(result->lines[i].label) > width)
            width = (unsigned)strlen(result->lines[i].label);
    for (unsigned i = 0; i < result->count; i++)
        print_line(&result->lines[i], width, out);
}

static const char *sentence_of(enum preflight_grade worst)
{
    switch (worst) {
    case PREFLIGHT_REFUSED:
        return "REFUSED: SQL Server's files do not belong there (see X)";
    case PREFLIGHT_ADVICE:
        return "ACCEPTED WITH ADVICE (see !)";
    case PREFLIGHT_OK:
    case PREFLIGHT_NOTE:
        break;
    }
    return "ACCEPTED";
}

void preflight_print(const struct preflight_report *report, FILE *out)
{
    for (unsigned i = 0; i < report->path_count; i++) {
        fprintf(out, "%s\n", report->paths[i].path);
        print_result(&report->results[i], out);
        fputc('\n', out);
    }
    fprintf(out, "this machine (kernel %s)\n", report->kernel[0] ? report->kernel : "unknown");
    print_result(report->host, out);
    fputc('\n', out);
    for (unsigned i = 0; i < report->path_count; i++)
        fprintf(out, "%s: %s\n", report->paths[i].path, sentence_of(report->results[i].worst));
    fprintf(out, "RESULT: %s\n", sentence_of(report->worst));
}

/* ---- JSON ---- */

static void put(json_t *object, const char *key, json_t *value)
{
    int error = json_object_set_new(object, key, value);
    assert(error == 0);
}

/* Paths may hold bytes that are not UTF-8: those become '?'. */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(copy);
}

static json_t *lines_json(const struct preflight_result *result)
{
    json_t *lines = json_array();
    for (unsigned i = 0; i < result->count; i++) {
        const struct preflight_line *line = &result->lines[i];
        json_t *object = json_object();
        put(object, "key", text_json(line->key));
        put(object, "grade", text_json(preflight_grade_text(line->grade)));
        put(object, "value", text_json(line->value));
        put(object, "advice", text_json(line->advice));
        json_array_append_new(lines, object);
    }
    return lines;
}

static json_t *answer_json(enum drive_answer answer)
{
    return answer == DRIVE_UNKNOWN ? json_null() : json_boolean(answer == DRIVE_YES);
}

static json_t *devices_json(const struct device_chain *chain)
{
    json_t *devices = json_array();
    for (unsigned i = 0; i < chain->count; i++) {
        const struct device_link *link = &chain->links[i];
        json_t *object = json_object();
        char number[32];
        snprintf(number, sizeof number, "%u:%u", major(link->device), minor(link->device));
        put(object, "name", text_json(link->name));
        put(object, "number", text_json(number));
        put(object, "kind", text_json(device_kind_text(link->kind)));
        put(object, "detail", text_json(link->detail));
        put(object, "depth", json_integer(link->depth));
        put(object, "bottom", json_boolean(link->is_bottom));
        put(object, "logical_bytes", json_integer((json_int_t)link->logical_bytes));
        put(object, "physical_bytes", json_integer((json_int_t)link->physical_bytes));
        put(object, "atomic_write_bytes", json_integer((json_int_t)link->atomic_write_bytes));
        put(object, "size_bytes", json_integer((json_int_t)link->size_bytes));
        put(object, "read_ahead_kib", json_integer((json_int_t)link->read_ahead_kib));
        put(object, "queue_requests", json_integer((json_int_t)link->queue_requests));
        put(object, "scheduler", text_json(link->scheduler));
        put(object, "fua", answer_json(link->fua));
        put(object, "write_cache", answer_json(link->write_cache));
        put(object, "rotational", answer_json(link->rotational));
        json_array_append_new(devices, object);
    }
    return devices;
}

static json_t *path_json(const struct path_facts *facts, const struct preflight_result *result)
{
    json_t *object = json_object();
    put(object, "path", text_json(facts->path));
    put(object, "grade", text_json(preflight_grade_text(result->worst)));
    put(object, "lines", lines_json(result));
    put(object, "devices", devices_json(&facts->place.chain));
    return object;
}

int preflight_write_json(const struct preflight_report *report, const char *path)
{
    json_t *root = json_object(), *paths = json_array(), *host = json_object();
    put(root, "schema", text_json(SCHEMA));
    put(root, "grade", text_json(preflight_grade_text(report->worst)));
    put(root, "exit_code", json_integer(report->exit_code));
    for (unsigned i = 0; i < report->path_count; i++)
        json_array_append_new(paths, path_json(&report->paths[i], &report->results[i]));
    put(root, "paths", paths);
    put(host, "kernel", text_json(report->kernel));
    put(host, "grade", text_json(preflight_grade_text(report->host->worst)));
    put(host, "lines", lines_json(report->host));
    put(root, "host", host);
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!out) {
        int error = -errno;
        json_decref(root);
        return error;
    }
    errno = 0;
    bool failed = json_dumpf(root, out, JSON_INDENT(1)) != 0 || fputc('\n', out) == EOF;
    failed |= out == stdout ? fflush(out) != 0 : fclose(out) != 0;
    json_decref(root);
    return failed ? (errno ? -errno : -EIO) : 0;
}
