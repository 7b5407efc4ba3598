/* verify_report.c - see verify_report.h. */
#include "sim/verify_report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "pagestorm-verify/1"

/* ---- for people ---- */

static const char *kind_of(const struct verify_file *file)
{
    if (file->ours)
        return file->is_backup ? "backup file of a run"
               : file->is_log  ? "log file of a run"
                               : "data file of a run";
    return file->is_log ? "SQL Server log file" : "SQL Server data file";
}

static void print_ledger(const struct verify_set *set, FILE *out)
{
    if (!set->ledger) {
        fprintf(out, "no ledger: each file is checked for what it says of itself and of its log\n");
        return;
    }
    fprintf(out, "run in %s: ledger %s, %s\n", set->path,
            set->clean ? "closed in order" : "left open: the run did not end in order",
            set->believed ? "believed: every page is compared with it"
                          : "not believed: this machine was started again since; pages are checked "
                            "for themselves and against the log");
}

/* SQL Server notes a new size late, so this proves nothing. */
static void print_header_size(const struct verify_file *file, FILE *out)
{
    uint64_t said = (uint64_t)file->header_pages * PAGE_BYTES;
    if (file->size_bytes < said)
        fprintf(out, "  note: its file header says %" PRIu64 " bytes: the file is shorter\n", said);
}

void verify_print_set(const struct verify_set *set, FILE *out)
{
    print_ledger(set, out);
    for (size_t i = 0; i < set->count; i++) {
        const struct verify_file *file = &set->files[i];
        fprintf(out, "\n%s: %s, %" PRIu64 " bytes\n", file->file.path, kind_of(file),
                file->size_bytes);
        print_header_size(file, out);
        if (verify_is_unspecified(set, file))
            fprintf(out, "  note: a data file of tempdb, of which nothing is recovered after a "
                         "crash: its pages are not judged\n");
        for (int c = 0; c < VERIFY_COUNT_COUNT; c++)
            if (file->counts[c])
                fprintf(out, "  %12" PRIu64 "  %s\n", file->counts[c],
                        verify_count_text((enum verify_count)c));
    }
}

void verify_print_findings(const struct findings *findings, FILE *out)
{
    char line[2 * FINDING_FILE_MAX + FINDING_DETAIL_MAX + 512];
    uint64_t integrity = 0, all = 0, kept = 0;
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++) {
        all += findings->by_verdict[i];
        if (verdict_info((enum verdict)i)->severity == SEVERITY_INTEGRITY)
            integrity += findings->by_verdict[i];
    }
    fprintf(out, "\n");
    for (unsigned i = 0; i < findings->count; i++) {
        if (findings->list[i].amended)
            continue;
        kept++;
        finding_line(&findings->list[i], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    if (all > kept)
        fprintf(out, "... %" PRIu64 " more, not listed\n", all - kept);
    if (integrity)
        fprintf(out, "FAIL: %" PRIu64 " integrity finding%s\n", integrity,
                integrity == 1 ? "" : "s");
    else
        fprintf(out, "no integrity finding\n");
}

/* ---- JSON ---- */

static json_t *json_of_file(const struct verify_file *file)
{
    json_t *counts = json_object();
    for (int c = 0; c < VERIFY_COUNT_COUNT; c++)
        json_object_set_new(counts, verify_count_name((enum verify_count)c),
                            json_integer((json_int_t)file->counts[c]));
    json_t *out = json_object();
    json_object_set_new(out, "path", json_string(file->file.path));
    json_object_set_new(out, "kind",
                        json_string(file->is_backup ? "backup"
                                    : file->is_log  ? "log"
                                                    : "data"));
    json_object_set_new(out, "ours", json_boolean(file->ours));
    json_object_set_new(out, "size_bytes", json_integer((json_int_t)file->size_bytes));
    json_object_set_new(out, "counts", counts);
    return out;
}

static void add_page(json_t *out, const struct finding *finding)
{
    const struct explanation *why = &finding->why;
    if (finding->has_page)
        json_object_set_new(out, "page", json_integer(finding->page_no));
    if (why->generation_expected || why->generation_found) {
        json_object_set_new(out, "generation_expected",
                            json_integer((json_int_t)why->generation_expected));
        json_object_set_new(out, "generation_found",
                            json_integer((json_int_t)why->generation_found));
    }
    if (why->sectors[0])
        json_object_set_new(out, "sectors", json_string(why->sectors));
    if (!why->has_origin)
        return;
    json_t *origin = json_object();
    json_object_set_new(origin, "file_uid", json_integer(why->origin_file_uid));
    json_object_set_new(origin, "page", json_integer(why->origin_page_no));
    json_object_set_new(origin, "generation", json_integer((json_int_t)why->origin_generation));
    json_object_set_new(origin, "other_run", json_boolean(why->origin_other_run));
    json_object_set_new(out, "origin", origin);
}

static json_t *json_of_finding(const struct finding *finding)
{
    const struct verdict_info *info = verdict_info(finding->verdict);
    json_t *out = json_object();
    json_object_set_new(out, "class", json_string(info->name));
    json_object_set_new(out, "severity", json_string(severity_name(info->severity)));
    json_object_set_new(out, "blame", json_string(blame_name(info->blame)));
    json_object_set_new(out, "sql_error", json_integer(info->sql_error));
    json_object_set_new(out, "file", json_string(finding->file));
    json_object_set_new(out, "offset", json_integer((json_int_t)finding->offset));
    json_object_set_new(out, "times", json_integer((json_int_t)finding->times));
    add_page(out, finding);
    if (finding->pages)
        json_object_set_new(out, "pages", json_integer((json_int_t)finding->pages));
    if (finding->detail[0])
        json_object_set_new(out, "detail", json_string(finding->detail));
    return out;
}

struct verify_json {
    json_t *root, *sets, *findings;
};

struct verify_json *verify_json_begin(void)
{
    struct verify_json *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->root = json_object();
    json->sets = json_array();
    json->findings = json_array();
    if (json->root && json->sets && json->findings)
        return json;
    verify_json_free(json);
    return NULL;
}

void verify_json_free(struct verify_json *json)
{
    if (!json)
        return;
    json_decref(json->root);
    json_decref(json->sets);
    json_decref(json->findings);
    free(json);
}

void verify_json_add(struct verify_json *json, const struct verify_set *set)
{
    json_t *out = json_object(), *files = json_array();
    for (size_t i = 0; i < set->count; i++)
        json_array_append_new(files, json_of_file(&set->files[i]));
    if (set->path)
        json_object_set_new(out, "run", json_string(set->path));
    if (set->ledger) {
        json_object_set_new(out, "ledger_believed", json_boolean(set->believed));
        json_object_set_new(out, "ledger_clean", json_boolean(set->clean));
    }
    json_object_set_new(out, "files", files);
    json_array_append_new(json->sets, out);
    for (unsigned i = 0; i < set->findings->count; i++)
        if (!set->findings->list[i].amended)
            json_array_append_new(json->findings, json_of_finding(&set->findings->list[i]));
}

int verify_json_end(struct verify_json *json, const char *path, int exit_code)
{
    json_object_set_new(json->root, "schema", json_string(SCHEMA));
    json_object_set_new(json->root, "exit_code", json_integer(exit_code));
    json_object_set(json->root, "sets", json->sets);
    json_object_set(json->root, "findings", json->findings);
    errno = 0;
    int failed = strcmp(path, "-") == 0
                     ? json_dumpf(json->root, stdout, JSON_INDENT(2)) || fputc('\n', stdout) == EOF
                     : json_dump_file(json->root, path, JSON_INDENT(2));
    int error = failed ? (errno ? -errno : -EIO) : 0;
    verify_json_free(json);
    return error;
}
