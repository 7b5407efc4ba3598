/*
 * command_clean.c - `pagestorm clean`: remove the files of one run and its result folder.
 *
 * Invariants: a file is removed only if it carries our mark with the very run id of that result
 * folder, and nobody has it open; in the folder only names that are known to be ours go.  What the
 * folder says of paths is believed no further than that, since it may come from anywhere.  The
 * folder of several runs in a row is its passes' folders, one after the other.
 */
#include "sim/command_clean.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/units.h"
#include "sim/error_log.h"
#include "sim/result_dir.h"

#define RESULT_NAME "result.json"
#define SCHEMA_STEM "pagestorm-result/"

struct cleaning {
    const char *directory;
    bool yes;
    uint8_t run_id[RUN_ID_BYTES];
    char **paths; /* of the run's files, as the result says */
    size_t path_count;
    char **found; /* of them: ours, and still there */
    size_t found_count;
    unsigned in_the_way;
    unsigned absent;
};

static void list_add(char ***list, size_t *count, const char *text)
{
    *list = alloc_resized(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = alloc_text(text);
}

static void list_free(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* ---- what the run was ---- */

static bool hex_read(const char *text, uint8_t out[RUN_ID_BYTES])
{
    if (strlen(text) != 2 * RUN_ID_BYTES ||
        strspn(text, "0123456789abcdefABCDEF") != 2 * RUN_ID_BYTES)
        return false;
    for (size_t i = 0; i < RUN_ID_BYTES; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        out[i] = (uint8_t)byte;
    }
    return true;
}

/* Nothing but a regular file is read: a FIFO would hang, a link may lead anywhere. */
static json_t *load_result(const char *directory)
{
    char *path = alloc_printf("%s/" RESULT_NAME, directory);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    json_t *root = NULL;
    free(path);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        root = json_loadfd(fd, 0, NULL);
    close(fd);
    return root;
}

/* A folder whose ledger is gone or damaged. */
static bool read_result(struct cleaning *c)
{
    json_t *root = load_result(c->directory);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const char *id = json_string_value(json_object_get(json_object_get(root, "run"), "id"));
    bool ours = schema && strncmp(schema, SCHEMA_STEM, strlen(SCHEMA_STEM)) == 0 && id &&
                hex_read(id, c->run_id);
    json_t *file;
    size_t index;
    json_array_foreach(ours ? json_object_get(root, "files") : NULL, index, file)
    {
        const char *name = json_string_value(json_object_get(file, "path"));
        if (name)
            list_add(&c->paths, &c->path_count, name);
    }
    json_array_foreach(ours ? json_object_get(root, "backup_files") : NULL, index,
                       file) if (json_is_string(file))
        list_add(&c->paths, &c->path_count, json_string_value(file));
    json_decref(root);
    return ours;
}

/* A snapshot is there only where a run was killed. */
static void list_row(struct cleaning *c, const struct ledger_file *row)
{
    if (row->kind != FILE_KIND_SNAPSHOT || access(row->path, F_OK) == 0)
        list_add(&c->paths, &c->path_count, row->path);
}

/* The ledger comes first: it has every path byte for byte, where JSON has only UTF-8, and a run
 * that was killed left nothing else. */
static bool read_ledger(struct cleaning *c)
{
    char *path = alloc_printf("%s/" LEDGER_FILE_NAME, c->directory);
    const char *reason;
    struct ledger *ledger;
    int error = ledger_open(&ledger, path, false, &reason);
    free(path);
    if (error)
        return false;
    const struct ledger_header *header = ledger_header_of(ledger);
    memcpy(c->run_id, header->run_id, sizeof c->run_id);
    for (uint32_t i = 1; i <= header->file_count; i++)
        list_row(c, ledger_file_at(ledger, (uint16_t)i));
    ledger_close(ledger, false);
    return true;
}

/* ---- what is there ---- */

static void look_at(struct cleaning *c, const char *path)
{
    char message[FILE_MESSAGE_MAX];
    struct file_mark mark = {0};
    switch (file_probe(path, &mark, message)) {
    case FILE_OURS:
        if (memcmp(mark.run_id, c->run_id, sizeof c->run_id) == 0) {
            printf("  %s\n", path);
            list_add(&c->found, &c->found_count, path);
        } else {
            printf("  %s  stays: it is of another run\n", path);
        }
        break;
    case FILE_IN_USE:
        printf("  %s  in use: %s\n", path, message);
        c->in_the_way++;
        break;
    case FILE_FOREIGN:
        printf("  stays: %s\n", message);
        break;
    case FILE_ABSENT:
        c->absent++;
        break;
    case FILE_DIRECTORY_BAD:
        printf("  %s\n", message);
        if (memcmp(mark.run_id, c->run_id, sizeof c->run_id) == 0)
            list_add(&c->found, &c->found_count, path); /* removing it fails: the folder stays */
        else
            c->absent++;
        break;
    }
}

static bool confirmed(const struct cleaning *c)
{
    char answer[16] = "";
    if (c->yes)
        return true;
    printf("Remove them? [y/N] ");
    fflush(stdout);
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}

/* ---- remove ---- */

static int remove_files(const struct cleaning *c)
{
    char message[FILE_MESSAGE_MAX];
    int exit_code = EXIT_CODE_OK;
    for (size_t i = 0; i < c->found_count; i++) {
        if (file_delete_own(c->found[i], c->run_id, message)) {
            fprintf(stderr, "error: %s\n", message);
            exit_code = EXIT_CODE_INCOMPLETE;
        }
    }
    return exit_code;
}

static int remove_folder(const struct cleaning *c)
{
    unsigned kept;
    int error = result_dir_remove(c->directory, &kept);
    if (error) {
        fprintf(stderr, "error: %s: %s\n", c->directory, strerror(-error));
        return EXIT_CODE_INCOMPLETE;
    }
    printf("removed %zu file%s and the %s\n", c->found_count, c->found_count == 1 ? "" : "s",
           kept ? "report" : "folder with its report");
    if (kept)
        printf("%s stays: it holds %u other entr%s\n", c->directory, kept, kept == 1 ? "y" : "ies");
    return EXIT_CODE_OK;
}

/* The run has been read: what of it is there, and may it go? */
static int clean_run(struct cleaning *c)
{
    printf("files of the run in %s, and the folder itself with report and evidence:\n",
           c->directory);
    for (size_t i = 0; i < c->path_count; i++)
        look_at(c, c->paths[i]);
    if (!c->path_count)
        printf(
            "  none is known: it ended before it had a ledger. Files that it had begun carry our "
            "mark, and the next run there replaces them\n");
    if (c->path_count && c->absent == c->path_count)
        printf("  none of the %zu files that the run had is there any more\n", c->path_count);
    fflush(stdout);
    if (c->in_the_way) {
        fprintf(stderr, "error: the run is still going, or a file is being verified; nothing was "
                        "removed\n");
        return EXIT_CODE_USAGE;
    }
    if (!c->yes && !isatty(STDIN_FILENO)) {
        fprintf(stderr, "error: nobody can be asked here; say --yes to remove them\n");
        return EXIT_CODE_USAGE;
    }
    if (!confirmed(c)) {
        printf("nothing was removed\n");
        return EXIT_CODE_OK;
    }
    int exit_code = remove_files(c);
    return exit_code ? exit_code : remove_folder(c); /* the folder tells where the files are */
}

static void cleaning_end(struct cleaning *c)
{
    list_free(c->paths, c->path_count);
    list_free(c->found, c->found_count);
}

/* Logs alone: a run that ended before it had a ledger, and with it a file of its own to be removed.
 * One that is still at it holds the lock of its log. */
static bool ended_early(const char *directory)
{
    if (!result_dir_is_begun(directory))
        return false;
    char *path = alloc_printf("%s/" ERROR_LOG_NAME, directory);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    bool ended = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    free(path);
    return ended;
}

static bool read_run(struct cleaning *c)
{
    return read_ledger(c) || read_result(c) || ended_early(c->directory);
}

/* ---- several runs in a row ---- */

/* "02-bulk-load", as passes.c names the folder of a pass. */
static int is_pass_folder(const struct dirent *entry)
{
    size_t digits = strspn(entry->d_name, "0123456789");
    return digits >= 2 && entry->d_name[digits] == '-' &&
           (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* A folder that is no pass's stays, and with it the series'. */
static int clean_pass(const char *directory, bool yes, unsigned *passes)
{
    struct cleaning pass = {.directory = directory, .yes = yes};
    int exit_code = EXIT_CODE_OK;
    if (read_run(&pass)) {
        (*passes)++;
        exit_code = clean_run(&pass);
    }
    cleaning_end(&pass);
    return exit_code;
}

/* Every pass is tried, whatever became of the others; the first trouble is the exit code. */
static int clean_series(const char *directory, bool yes, unsigned *passes)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_pass_folder, alphasort);
    int exit_code = EXIT_CODE_OK;
    *passes = 0;
    if (count < 0)
        return EXIT_CODE_OK;
    for (int i = 0; i < count; i++) {
        char *path = alloc_printf("%s/%s", directory, entries[i]->d_name);
        int of_pass = clean_pass(path, yes, passes);
        exit_code = exit_code ? exit_code : of_pass;
        free(path);
        free(entries[i]);
    }
    free(entries);
    /* Fails where a pass stays, or somebody else's entry: then it has something to say. */
    if (*passes && rmdir(directory) == 0)
        printf("removed the folder of all passes\n");
    return exit_code;
}

static int clean(struct cleaning *c)
{
    unsigned passes;
    if (read_run(c))
        return clean_run(c);
    int exit_code = clean_series(c->directory, c->yes, &passes);
    if (passes)
        return exit_code;
    fprintf(stderr,
            "error: %s is no result folder of pagestorm: neither " RESULT_NAME
            " nor " LEDGER_FILE_NAME " can be read there, nor in a pass's folder in it\n",
            c->directory);
    return EXIT_CODE_USAGE;
}

static void usage(FILE *out)
{
    fputs("usage: pagestorm clean RUN_DIR [--yes]\n\n"
          "Remove the data and log files of the run whose results are in RUN_DIR, if they\n"
          "still carry its mark, and then RUN_DIR with its report and evidence. Of several runs\n"
          "in a row ([PassN]) RUN_DIR may be the folder of all. Lists them and asks; --yes does\n"
          "not ask.\n",
          out);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int command_clean(int argc, char **argv)
{
    struct cleaning c = {0};
    bool bad = false;
    for (int i = 1; i < argc; i++) {
        if (is_help(argv[i])) {
            usage(stdout);
            return EXIT_CODE_OK;
        }
        if (strcmp(argv[i], "--yes") == 0)
            c.yes = true;
        else if (argv[i][0] == '-' || c.directory)
            bad = true;
        else
            c.directory = argv[i];
    }
    if (bad || !c.directory) {
        usage(stderr);
        return EXIT_CODE_USAGE;
    }
    int exit_code = clean(&c);
    cleaning_end(&c);
    return exit_code;
}
