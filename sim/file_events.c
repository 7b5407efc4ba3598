/*
 * file_events.c - see file_events.h.
 *
 * Events name an inode by file system and handle (FAN_REPORT_FID), not by an open descriptor: that
 * needs no rights, and only that tells of renames and links.
 * What it does not do: judge (foreign.c does).
 */
#include "sim/file_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "sim/file.h"

#define BUFFER_BYTES    65536
#define EVENT_BYTES_MAX 512 /* the event itself, and a file handle of 128 bytes at most */
#define DEEDS           (FAN_OPEN | FAN_MODIFY | FAN_ATTRIB | FAN_MOVE_SELF | FAN_DELETE_SELF)

struct handle {
    unsigned bytes;
    int type;
    unsigned char name[MAX_HANDLE_SZ];
};

struct file_mark_of {
    const struct file *file;
    uint8_t fsid[sizeof(fsid_t)];
    struct handle handle;
};

struct file_events {
    int fd;
    pid_t self;
    struct file_mark_of *marks;
    unsigned count;
    char buffer[BUFFER_BYTES];
};

static int fail(char *why, int error, const char *what)
{
    snprintf(why, FILE_EVENTS_WHY_MAX, "%s: %s", what, strerror(-error));
    return error;
}

int file_events_create(struct file_events **out, char why[FILE_EVENTS_WHY_MAX])
{
    struct file_events *events = calloc(1, sizeof *events);
    *out = NULL;
    if (!events)
        return fail(why, -ENOMEM, "no memory");
    events->self = getpid();
    events->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_NONBLOCK | FAN_CLOEXEC, 0);
    if (events->fd < 0) {
        int error = -errno;
        free(events);
        return fail(why, error, "fanotify is not to be had here");
    }
    *out = events;
    return 0;
}

/* ---- marks ---- */

static int handle_of(int fd, struct handle *out)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } at = {.handle.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    if (name_to_handle_at(fd, "", &at.handle, &mount, AT_EMPTY_PATH) < 0)
        return -errno;
    out->bytes = at.handle.handle_bytes;
    out->type = at.handle.handle_type;
    memcpy(out->name, at.room + sizeof(struct file_handle), out->bytes);
    return 0;
}

static int mark_make(struct file_mark_of *mark, const struct file *file)
{
    struct statfs fs;
    mark->file = file;
    if (fstatfs(file->target.fd, &fs) < 0)
        return -errno;
    memcpy(mark->fsid, &fs.f_fsid, sizeof mark->fsid);
    return handle_of(file->target.fd, &mark->handle);
}

int file_events_add(struct file_events *events, const struct file *file,
                    char why[FILE_EVENTS_WHY_MAX])
{
    struct file_mark_of *marks =
        realloc(events->marks, (events->count + 1) * sizeof *events->marks);
    char name[32];
    if (!marks)
        return fail(why, -ENOMEM, "no memory");
    events->marks = marks;
    int error = mark_make(&marks[events->count], file);
    if (error)
        return fail(why, error, "its file system names no inode");
    snprintf(name, sizeof name, "/proc/self/fd/%d", file->target.fd);
    if (fanotify_mark(events->fd, FAN_MARK_ADD, DEEDS, AT_FDCWD, name) < 0)
        return fail(why, -errno, "fanotify cannot watch this file");
    events->count++;
    return 0;
}

/* ---- looking ---- */

static const struct file *file_of(const struct file_events *events,
                                  const struct fanotify_event_info_fid *info)
{
    const unsigned char *raw = info->handle;
    struct file_handle head;
    memcpy(&head, raw, sizeof head);
    for (unsigned i = 0; i < events->count; i++) {
        const struct file_mark_of *mark = &events->marks[i];
        if (mark->handle.bytes == head.handle_bytes && mark->handle.type == head.handle_type &&
            memcmp(mark->handle.name, raw + sizeof head, head.handle_bytes) == 0 &&
            memcmp(mark->fsid, &info->fsid, sizeof mark->fsid) == 0)
            return mark->file;
    }
    return NULL;
}

static void tell(const struct file_events *events, const struct fanotify_event_metadata *event,
                 void (*told)(void *context, const struct file_deed *deed), void *context)
{
    const struct fanotify_event_info_fid *info = (const void *)(event + 1);
    size_t least = sizeof *event + sizeof *info + sizeof(struct file_handle);
    if (event->event_len < least || info->hdr.info_type != FAN_EVENT_INFO_TYPE_FID)
        return;
    struct file_deed deed = {
        .file = file_of(events, info),
        .pid = event->pid,
        .opened = event->mask & FAN_OPEN,
        .written = event->mask & FAN_MODIFY,
        .named = event->mask & (FAN_ATTRIB | FAN_MOVE_SELF | FAN_DELETE_SELF),
    };
    if (deed.file)
        told(context, &deed);
}

/* Their lengths are what they are, so all but the first may lie at odd addresses: each is copied.
 */
static void each_event(struct file_events *events, size_t size_bytes,
                       void (*told)(void *context, const struct file_deed *deed), void *context)
{
    struct fanotify_event_metadata event;
    unsigned char copy[EVENT_BYTES_MAX] __attribute__((aligned(8)));
    for (size_t at = 0; size_bytes - at >= sizeof event; at += event.event_len) {
        memcpy(&event, events->buffer + at, sizeof event);
        if (event.event_len < sizeof event || event.event_len > size_bytes - at)
            return;
        if (event.pid == events->self || event.event_len > sizeof copy)
            continue;
        memcpy(copy, events->buffer + at, event.event_len);
        tell(events, (const void *)copy, told, context);
    }
}

void file_events_look(struct file_events *events,
                      void (*told)(void *context, const struct file_deed *deed), void *context)
{
    for (;;) {
        ssize_t got = read(events->fd, events->buffer, sizeof events->buffer);
        if (got <= 0)
            return;
        each_event(events, (size_t)got, told, context);
    }
}

void file_events_free(struct file_events *events)
{
    if (!events)
        return;
    close(events->fd);
    free(events->marks);
    free(events);
}
