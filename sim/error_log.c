/* error_log.c - the file of the XML log; see error_log.h. */
#include "sim/error_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/paths.h"
#include "sim/error_log_entry.h"

#define ROOT      "SQLIOSIM"
#define END_TAG   "</" ROOT ">\n"
#define FILE_MODE 0666 /* less the umask */
/* The root's name is ours: SQLIOSim's is not published, and its readers look for ENTRY alone. */
static const char head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<?xml-stylesheet type=\"text/xsl\" href=\"" ERROR_LOG_STYLESHEET "\"?>\n"
    "<" ROOT ">\n";
#define HEAD_BYTES (sizeof head - 1)

/* ---- may it be written? ---- */

static int refuse(char message[ERROR_LOG_MESSAGE_MAX], int error, const char *path,
                  const char *what)
{
    snprintf(message, ERROR_LOG_MESSAGE_MAX,
             "XML log %.500s: %s. -log FILE (ErrorFile of [CONFIG]) names another one; an empty "
             "ErrorFile= writes none",
             path, what);
    return error;
}

/* An empty file or a log of this kind.  -1: it cannot be read. */
static int begins_as_a_log(int fd)
{
    char begin[HEAD_BYTES];
    ssize_t got = pread(fd, begin, sizeof begin, 0);
    if (got < 0)
        return -1;
    return got == 0 || (got == (ssize_t)HEAD_BYTES && memcmp(begin, head, HEAD_BYTES) == 0);
}

bool error_log_is_one(int directory, const char *name)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_one =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && begins_as_a_log(fd) == 1;
    close(fd);
    return is_one;
}

static int check_absent(const char *path, char message[ERROR_LOG_MESSAGE_MAX])
{
    struct stat st;
    if (lstat(path, &st) == 0)
        return refuse(message, -ENOENT, path, "it is a link to nothing");
    char *directory = path_directory_of(path);
    int error = access(directory, W_OK | X_OK) == 0 ? 0 : errno;
    free(directory);
    if (error == ENOENT)
        return refuse(message, -error, path, "its directory does not exist");
    return error ? refuse(message, -error, path, strerror(error)) : 0;
}

static int check_open(int fd, const char *path, char message[ERROR_LOG_MESSAGE_MAX])
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return refuse(message, -errno, path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse(message, -EINVAL, path, "it is not a regular file");
    if (begins_as_a_log(fd) != 1)
        return refuse(message, -EEXIST, path,
                      "the file exists and is no log of this kind; it was left as it is");
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return refuse(message, -EBUSY, path, "another run writes it");
    return 0;
}

int error_log_check(const char *path, char message[ERROR_LOG_MESSAGE_MAX])
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == ENOENT ? check_absent(path, message)
                               : refuse(message, -errno, path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return refuse(message, -EISDIR, path, "it is a directory");
    int fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return refuse(message, -errno, path, strerror(errno));
    int error = check_open(fd, path, message);
    close(fd);
    return error;
}

/* ---- writing ---- */

static int write_at(int fd, const char *text, size_t length, uint64_t offset)
{
    while (length) {
        ssize_t done = pwrite(fd, text, length, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -ENOSPC;
        text += done;
        length -= (size_t)done;
        offset += (size_t)done;
    }
    return 0;
}

/* One entry with the root's end behind it.  When only a part could be written the file is made
 * whole again: it ends where it did. */
static int append(struct error_log *log, const char *entry, size_t length)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return -ENOMEM;
    fwrite(entry, 1, length, out);
    fputs(END_TAG, out);
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    int error = write_at(log->fd, text, size, log->end_bytes);
    free(text);
    if (!error) {
        log->end_bytes += length;
        return 0;
    }
    (void)!write_at(log->fd, END_TAG, strlen(END_TAG), log->end_bytes);
    (void)!ftruncate(log->fd, (off_t)(log->end_bytes + strlen(END_TAG)));
    return error;
}

static int append_event(struct error_log *log, const struct event *event)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return -ENOMEM;
    error_log_entry(event, log->utc, out);
    int error = fclose(out) == 0 ? append(log, text, size) : -ENOMEM;
    free(text);
    return error;
}

/* Before the first entry that can be written again: that some are missing. */
static int append_lost(struct error_log *log, const struct event *event)
{
    char text[128];
    struct event lost = *event;
    snprintf(text, sizeof text, "%" PRIu64 " entries before this one could not be written",
             log->lost);
    lost.type = EVENT_WARNING;
    lost.user = "System";
    lost.place = EVENT_HERE;
    lost.hresult = HRESULT_NONE;
    lost.system_text = NULL;
    lost.text = text;
    int error = append_event(log, &lost);
    if (!error)
        log->lost = 0;
    return error;
}

int error_log_add(struct error_log *log, const struct event *event)
{
    pthread_mutex_lock(&log->lock);
    int error = log->lost ? append_lost(log, event) : 0;
    if (!error)
        error = append_event(log, event);
    bool say = error && !log->failed;
    log->lost += error != 0;
    log->failed = log->failed || error;
    pthread_mutex_unlock(&log->lock);
    return say ? error : 0;
}

/* ---- open and close ---- */

/* Best effort: without it a browser shows the log as it is. */
static void stylesheet_write(const char *path)
{
    char *directory = path_directory_of(path);
    char *name = alloc_printf("%s/" ERROR_LOG_STYLESHEET, directory);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (fd >= 0) {
        const char *text = error_log_stylesheet();
        if (write_at(fd, text, strlen(text), 0))
            unlink(name);
        close(fd);
    }
    free(name);
    free(directory);
}

static int begin_file(struct error_log *log, const char *path, char message[ERROR_LOG_MESSAGE_MAX])
{
    log->fd = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, FILE_MODE);
    if (log->fd < 0)
        return refuse(message, -errno, path, strerror(errno));
    int error = check_open(log->fd, path, message);
    if (error)
        return error;
    /* Never empty in between: a reader, or a kill, finds the earlier log or this one. */
    error = write_at(log->fd, head, HEAD_BYTES, 0);
    if (!error)
        error = write_at(log->fd, END_TAG, strlen(END_TAG), HEAD_BYTES);
    if (!error && ftruncate(log->fd, (off_t)(HEAD_BYTES + strlen(END_TAG))) != 0)
        error = -errno;
    return error ? refuse(message, error, path, strerror(-error)) : 0;
}

int error_log_open(struct error_log *log, const char *path, bool utc,
                   char message[ERROR_LOG_MESSAGE_MAX])
{
    *log = (struct error_log){.fd = -1, .utc = utc, .end_bytes = HEAD_BYTES};
    int error = begin_file(log, path, message);
    if (error) {
        if (log->fd >= 0)
            close(log->fd);
        log->fd = -1;
        return error;
    }
    pthread_mutex_init(&log->lock, NULL);
    stylesheet_write(path);
    return 0;
}

void error_log_close(struct error_log *log)
{
    if (log->fd < 0)
        return;
    close(log->fd);
    log->fd = -1;
    pthread_mutex_destroy(&log->lock);
}
