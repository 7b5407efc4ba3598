/*
 * command_save.c - see command_save.h.
 *
 * Invariant: a file that is replaced is replaced whole or not at all.
 */
#include "sim/command_save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "sim/exit_code.h"

static bool is_same_file(const struct stat *st, const char *other)
{
    struct stat seen;
    return other && stat(other, &seen) == 0 && seen.st_dev == st->st_dev &&
           seen.st_ino == st->st_ino;
}

/* Empty, or does it begin as what is to be saved does? */
static bool begins_like(const char *path, const char *text)
{
    char line[256];
    size_t length = strcspn(text, "\n") + 1;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, line, length < sizeof line ? length : sizeof line);
    close(fd);
    return got == 0 || (got > 0 && (size_t)got == length && memcmp(line, text, length) == 0);
}

/* Nothing there, nothing in it, what was saved before, or the very configuration of this run. */
static bool may_be_overwritten(const struct run_setup *setup, const char *text)
{
    const char *path = setup->options.save_path;
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT;
    if (stat(path, &st) < 0)
        return false; /* a link to nothing */
    if (!S_ISREG(st.st_mode))
        return S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode); /* a terminal, a pipe */
    return is_same_file(&st, setup->options.config_path) || begins_like(path, text);
}

static char *configuration_text(const struct run_setup *setup)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    profile_dump(setup->profile, out);
    if (fclose(out) != 0)
        abort();
    return text;
}

static int save_failed(const char *path, const char *why)
{
    fprintf(stderr, "error: --save %s: %s\n", path, why);
    return EXIT_CODE_USAGE;
}

int command_save_check(const struct run_setup *setup)
{
    const char *path = setup->options.save_path;
    if (!path)
        return 0;
    char *text = configuration_text(setup);
    bool may = may_be_overwritten(setup, text);
    free(text);
    if (!may)
        return save_failed(path, "the file exists and is no configuration that pagestorm saved; "
                                 "name another one");
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return access(path, W_OK) == 0 ? 0 : save_failed(path, strerror(errno));
    char *directory = path_directory_of(path);
    int error = access(directory, W_OK | X_OK) == 0 ? 0 : errno;
    free(directory);
    return error ? save_failed(path, strerror(error)) : 0;
}

static int write_text(int fd, const char *text)
{
    size_t length = strlen(text);
    while (length) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno != EINTR)
            return -errno;
        text += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Whole or not at all: a temporary file beside the target, renamed.  old: what it replaces. */
static int replace_file(const char *target, const char *text, const struct stat *old)
{
    char *temporary = alloc_printf("%s.%ld.part", target, (long)getpid());
    int error = 0;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        error = -errno;
        free(temporary);
        return error;
    }
    error = write_text(fd, text);
    if (!error && ((old && fchmod(fd, old->st_mode & 07777) != 0) || fsync(fd) != 0))
        error = -errno;
    if (close(fd) != 0 && !error)
        error = -errno;
    if (!error && rename(temporary, target) != 0)
        error = -errno;
    if (error)
        unlink(temporary);
    free(temporary);
    return error;
}

static int write_to_device(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int error = write_text(fd, text);
    return close(fd) != 0 && !error ? -errno : error;
}

int command_save(const struct run_setup *setup)
{
    const char *path = setup->options.save_path;
    struct stat st;
    if (!path)
        return 0;
    char *text = configuration_text(setup);
    bool exists = stat(path, &st) == 0;
    char *target = exists ? realpath(path, NULL) : NULL; /* a link stays one */
    int error = exists && !S_ISREG(st.st_mode)
                    ? write_to_device(path, text)
                    : replace_file(target ? target : path, text, exists ? &st : NULL);
    free(target);
    free(text);
    return error ? save_failed(path, strerror(-error)) : 0;
}
