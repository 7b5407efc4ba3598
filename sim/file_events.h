/*
 * file_events.h - what other processes do to files of ours, as the kernel tells it (fanotify).
 *
 * Each file is marked by its inode.  The kernel queues an event for each open, write, change of
 * size, rename or change of links, with the process that did it; what this process does itself is
 * dropped here.  It works without rights since Linux 5.13 (the process is unknown then: pid 0).  A
 * write through a mapping, and what another machine does to a shared file system, are not told.
 *
 * Cost: an event a write of ours, which the kernel joins with the one before it: about 1 us.
 *
 * Threads: add while no one looks; one look at a time (the caller's lock).  Ownership: the files
 * must live as long as the events.  Errors: 0 or -errno, with a sentence of why.
 */
#ifndef SIM_FILE_EVENTS_H
#define SIM_FILE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct file;
struct file_events;

#define FILE_EVENTS_WHY_MAX 200

struct file_deed {
    const struct file *file;
    int pid; /* 0: unknown */
    bool opened;
    bool written; /* or cut, or lengthened */
    bool named;   /* renamed, removed, linked, or its owner or rights changed */
};

int file_events_create(struct file_events **out, char why[FILE_EVENTS_WHY_MAX])
    __attribute__((warn_unused_result));
int file_events_add(struct file_events *events, const struct file *file,
                    char why[FILE_EVENTS_WHY_MAX]) __attribute__((warn_unused_result));
/* Tell all that happened since the last look. */
void file_events_look(struct file_events *events,
                      void (*told)(void *context, const struct file_deed *deed), void *context);
void file_events_free(struct file_events *events); /* NULL is fine */

#endif
