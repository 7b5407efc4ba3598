/* result_dir.c - create, fill and remove the result folder; see result_dir.h. */
#include "sim/result_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "sim/command_settings.h"
#include "sim/error_dump.h"
#include "sim/error_log.h"
#include "sim/evidence.h"
#include "sim/finding_hook.h"
#include "sim/series.h"

#define DIR_MODE           0755
#define FALLBACK_DIRECTORY "/var/tmp"
#define SAME_SECOND_MAX    1000 /* runs that begin in one second in one directory */

/* ---- where ---- */

/* Device of a path, or of the nearest directory above it that exists. */
static bool device_of(const char *path, dev_t *device)
{
    struct stat st;
    char *copy = alloc_text(path);
    bool found = stat(copy, &st) == 0;
    while (!found) {
        char *parent = path_directory_of(copy);
        bool same = strcmp(parent, copy) == 0;
        free(copy);
        copy = parent;
        found = stat(copy, &st) == 0;
        if (same)
            break;
    }
    free(copy);
    if (found)
        *device = st.st_dev;
    return found;
}

static bool is_under_test(const struct result_place *place, const char *directory)
{
    dev_t mine, other;
    if (!device_of(directory, &mine))
        return false;
    for (size_t i = 0; i < place->under_test_count; i++)
        if (device_of(place->under_test[i], &other) && other == mine)
            return true;
    return false;
}

static bool is_usable(const char *directory)
{
    struct stat st;
    return directory && directory[0] == '/' && stat(directory, &st) == 0 && S_ISDIR(st.st_mode) &&
           access(directory, W_OK | X_OK) == 0;
}

/* The directory that the folder is made in. */
static const char *parent_of(const struct result_place *place, struct result_dir *dir)
{
    bool writable = access(".", W_OK | X_OK) == 0;
    const char *others[] = {getenv("XDG_STATE_HOME"), FALLBACK_DIRECTORY};
    if (writable && !is_under_test(place, "."))
        return ".";
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!is_usable(others[i]) || is_under_test(place, others[i]))
            continue;
        snprintf(dir->note, sizeof dir->note, "the result goes to %.800s, since %s", others[i],
                 writable ? "the current directory is on a device under test"
                          : "the current directory is not writable");
        return others[i];
    }
    snprintf(dir->note, sizeof dir->note,
             "the result is written to a device under test, since there is no other place for it "
             "(--out DIR names one); that disturbs the measurement a little");
    return ".";
}

/* ---- names ---- */

static bool is_result_name(const char *name)
{
    if (strcmp(name, LEDGER_FILE_NAME) == 0 || strcmp(name, SERIES_FILE_NAME) == 0 ||
        strcmp(name, ERROR_LOG_NAME) == 0 || strcmp(name, ERROR_LOG_STYLESHEET) == 0 ||
        strcmp(name, HOOK_LOG_NAME) == 0 || error_dump_is_name(name))
        return true;
    for (size_t i = 0; i < report_writers_count; i++) {
        const char *file = report_writers[i]->file_name;
        size_t length = file ? strlen(file) : 0;
        if (file && strncmp(name, file, length) == 0 &&
            (name[length] == '\0' || strcmp(name + length, ".part") == 0))
            return true;
    }
    return false;
}

/* Also of directories that are still to be made: by their parents and their names. */
static bool same_directory(const char *a, const char *b)
{
    struct stat left, right;
    bool left_is = stat(a, &left) == 0, right_is = stat(b, &right) == 0;
    if (left_is && right_is)
        return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
    return !left_is && !right_is && run_setup_same_file(a, b);
}

/* Would the run's own files be written over this one?  Only a file directly in the folder can be
 * in their way: the folder is empty before the run. */
static bool is_in_the_way(const char *folder, const char *path)
{
    const char *name = path_last_name(path);
    if (!is_result_name(name) && strcmp(name, EVIDENCE_FOLDER) != 0)
        return false;
    char *directory = path_directory_of(path);
    bool same = same_directory(directory, folder);
    free(directory);
    return same;
}

/* ---- create ---- */

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    bool empty = folder != NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            empty = false;
    if (folder)
        closedir(folder);
    return empty;
}

static int fail(char message[RESULT_MESSAGE_MAX], int error, const char *path, const char *what)
{
    snprintf(message, RESULT_MESSAGE_MAX, "result folder %.600s: %s", path, what);
    return error;
}

static int check_existing(const char *wanted, char message[RESULT_MESSAGE_MAX])
{
    struct stat st;
    if (stat(wanted, &st) != 0 || !S_ISDIR(st.st_mode))
        return fail(message, -ENOTDIR, wanted, "exists and is not a directory");
    if (access(wanted, W_OK | X_OK) != 0)
        return fail(message, -EACCES, wanted, "is not writable");
    if (!is_empty(wanted))
        return fail(
            message, -EEXIST, wanted,
            "is not empty; name another one, or remove an earlier run with pagestorm clean");
    return 0;
}

static int fail_to_create(char message[RESULT_MESSAGE_MAX], int error, const char *wanted)
{
    return fail(message, -error, wanted,
                error == ENOENT ? "the directory above it does not exist" : strerror(error));
}

static int create_wanted(struct result_dir *dir, const char *wanted,
                         char message[RESULT_MESSAGE_MAX])
{
    dir->path = alloc_text(wanted);
    if (mkdir(wanted, DIR_MODE) == 0) {
        dir->created = true;
        return 0;
    }
    return errno == EEXIST ? check_existing(wanted, message)
                           : fail_to_create(message, errno, wanted);
}

static int create_default(struct result_dir *dir, const struct result_place *place,
                          char message[RESULT_MESSAGE_MAX])
{
    const char *parent = parent_of(place, dir);
    char date[32];
    time_t seconds = (time_t)(place->realtime_ns / NS_PER_S);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm);
    int error = 0;
    for (unsigned i = 1; i <= SAME_SECOND_MAX; i++) {
        char suffix[16] = "";
        if (i > 1)
            snprintf(suffix, sizeof suffix, "-%u", i);
        free(dir->path);
        dir->path = alloc_printf("%s/pagestorm-%s%s", parent, date, suffix);
        dir->created = mkdir(dir->path, DIR_MODE) == 0;
        error = errno;
        if (dir->created)
            return 0;
        if (error != EEXIST)
            break;
    }
    return fail(message, -error, dir->path, strerror(error));
}

/* Of the directory that it is to be made in. */
static int check_parent(const char *wanted, char message[RESULT_MESSAGE_MAX])
{
    char *trimmed = alloc_text(wanted);
    size_t length = strlen(trimmed);
    while (length > 1 && trimmed[length - 1] == '/')
        trimmed[--length] = '\0';
    char *parent = path_directory_of(trimmed);
    int error = access(parent, W_OK | X_OK) == 0 ? 0 : errno;
    free(parent);
    free(trimmed);
    return error ? fail_to_create(message, error, wanted) : 0;
}

int result_dir_check(const struct result_place *place, char message[RESULT_MESSAGE_MAX])
{
    struct stat st;
    if (!place->wanted)
        return 0;
    for (size_t i = 0; i < place->under_test_count; i++) {
        if (!is_in_the_way(place->wanted, place->under_test[i]))
            continue;
        snprintf(message, RESULT_MESSAGE_MAX,
                 "%.400s has a name that the result folder %.400s needs for itself; choose another "
                 "path for one of them",
                 place->under_test[i], place->wanted);
        return -EEXIST;
    }
    return lstat(place->wanted, &st) == 0 ? check_existing(place->wanted, message)
                                          : check_parent(place->wanted, message);
}

/* For messages and commands that outlive the current directory. */
static void make_absolute(struct result_dir *dir)
{
    char *absolute = realpath(dir->path, NULL);
    if (!absolute)
        return;
    free(dir->path);
    dir->path = absolute;
}

int result_dir_create(struct result_dir *dir, const struct result_place *place,
                      char message[RESULT_MESSAGE_MAX])
{
    memset(dir, 0, sizeof *dir);
    if (place->wanted && is_under_test(place, place->wanted))
        snprintf(
            dir->note, sizeof dir->note,
            "the result folder %.600s is on a device under test; that disturbs the measurement "
            "a little",
            place->wanted);
    int error = place->wanted ? create_wanted(dir, place->wanted, message)
                              : create_default(dir, place, message);
    if (!error)
        make_absolute(dir);
    return error;
}

void result_dir_free(struct result_dir *dir)
{
    free(dir->path);
    memset(dir, 0, sizeof *dir);
}

/* ---- write ---- */

static int write_whole(const struct report_writer *writer, const struct report *report,
                       const char *path)
{
    FILE *out = fopen(path, "wxe");
    if (!out)
        return -errno;
    int error = writer->write(report, out);
    if (!error && (fflush(out) != 0 || fsync(fileno(out)) != 0))
        error = -errno;
    if (fclose(out) != 0 && !error)
        error = -errno;
    return error;
}

static int write_one(const char *directory, const struct report_writer *writer,
                     const struct report *report, char message[RESULT_MESSAGE_MAX])
{
    char *path = alloc_printf("%s/%s", directory, writer->file_name);
    char *temporary = alloc_printf("%s.part", path);
    int error = write_whole(writer, report, temporary);
    if (!error && rename(temporary, path) != 0)
        error = -errno;
    if (error) {
        unlink(temporary);
        snprintf(message, RESULT_MESSAGE_MAX, "%.600s cannot be written: %s", path,
                 strerror(-error));
    }
    free(temporary);
    free(path);
    return error;
}

static void sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd); /* best effort: the files themselves are synced */
    close(fd);
}

int result_dir_write(const struct result_dir *dir, struct report *report,
                     char message[RESULT_MESSAGE_MAX])
{
    int first = 0;
    for (size_t i = 0; i < report_writers_count; i++) {
        char why[RESULT_MESSAGE_MAX], problem[REPORT_PROBLEM_MAX];
        if (!report_writers[i]->file_name)
            continue;
        int error = write_one(dir->path, report_writers[i], report, why);
        if (!error)
            continue;
        snprintf(problem, sizeof problem, "could not be written: %s", strerror(-error));
        report_problem_add(report, report_writers[i]->file_name, problem);
        if (!first)
            memcpy(message, why, sizeof why);
        first = first ? first : error;
    }
    sync_directory(dir->path);
    return first;
}

/* ---- look, remove ---- */

static bool is_regular_at(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* "00012-bit_flip-sqliosim.mdx-4711.txt": five digits or more, a hyphen, .txt or .bin. */
static bool is_evidence_name(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    const char *dot = strrchr(name, '.');
    return digits >= 5 && name[digits] == '-' && dot &&
           (strcmp(dot, ".txt") == 0 || strcmp(dot, ".bin") == 0);
}

static bool is_evidence_at(int folder, const char *name)
{
    return is_evidence_name(name) && is_regular_at(folder, name);
}

/* The XML log has the name that ErrorFile gave it. */
static bool is_result_at(int folder, const char *name)
{
    return (is_result_name(name) && is_regular_at(folder, name)) || error_log_is_one(folder, name);
}

/* What there is before the ledger. */
static bool is_begun_at(int folder, const char *name)
{
    bool known = strcmp(name, SERIES_FILE_NAME) == 0 || strcmp(name, ERROR_LOG_NAME) == 0 ||
                 strcmp(name, ERROR_LOG_STYLESHEET) == 0;
    return (known && is_regular_at(folder, name)) || error_log_is_one(folder, name);
}

bool result_dir_is_begun(const char *path)
{
    DIR *folder = opendir(path);
    bool begun = folder != NULL;
    for (struct dirent *entry; begun && (entry = readdir(folder));)
        begun = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                is_begun_at(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
    return begun;
}

/* Remove what is ours below fd (closed here); entries that stay are counted. */
static int remove_known(int fd, bool (*ours)(int, const char *), unsigned *kept)
{
    DIR *folder = fdopendir(fd);
    int error = 0;
    if (!folder) {
        error = -errno;
        close(fd);
        return error;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, EVIDENCE_FOLDER) == 0)
            continue;
        if (!ours(dirfd(folder), name))
            ++*kept;
        else if (unlinkat(dirfd(folder), name, 0) != 0)
            error = -errno;
    }
    closedir(folder);
    return error;
}

static int open_folder(int above, const char *path)
{
    int fd = openat(above, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int remove_evidence(int folder, unsigned *kept)
{
    unsigned strangers = 0;
    int fd = open_folder(folder, EVIDENCE_FOLDER);
    if (fd == -ENOENT)
        return 0;
    if (fd < 0) {
        ++*kept;
        return 0;
    }
    int error = remove_known(fd, is_evidence_at, &strangers);
    if (!error && strangers == 0 && unlinkat(folder, EVIDENCE_FOLDER, AT_REMOVEDIR) != 0)
        error = -errno;
    *kept += strangers;
    return error;
}

int result_dir_remove(const char *path, unsigned *kept)
{
    *kept = 0;
    int folder = open_folder(AT_FDCWD, path);
    if (folder < 0)
        return folder;
    int error = remove_evidence(folder, kept);
    int again = error ? error : remove_known(folder, is_result_at, kept);
    if (error)
        close(folder);
    error = again;
    if (!error && *kept == 0 && rmdir(path) != 0)
        error = -errno;
    return error;
}

/* "--json real.mdf real.ldf" lacks its FILE: only nothing, or a JSON file, may be overwritten. */
bool result_json_may_be_written(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0)
        return true; /* standard output; or absent, or the error comes when it is opened */
    if (S_ISREG(st.st_mode)) {
        FILE *file = st.st_size ? fopen(path, "re") : NULL;
        bool is_json = !st.st_size || (file && fgetc(file) == '{');
        if (file)
            fclose(file);
        return is_json;
    }
    return S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode);
}
