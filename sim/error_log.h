/*
 * error_log.h - SQLIOSim's XML log (sqliosim.log.xml), for people with a browser and for programs
 * that read SQLIOSim's.
 *
 * One <ENTRY> with ten attributes and one <EXTENDED_DESCRIPTION> an event.  Invariant: after each
 * call the file is well-formed XML; an entry is written over the end tag of the root, with a new
 * end tag, in one call, so that a process that is killed leaves whole entries.  (The system may
 * lose the tail of the file when it goes down itself: nothing is synced.)  Beside the log lies
 * ErrorLog.xslt, which shows it as a table; a file of that name that exists is left alone.
 *
 * What it does not do: decide what is told (run_event.c), or stop a run when it cannot be written.
 *
 * Ownership: the log owns its descriptor, locked against other runs.  Threads: error_log_add by
 * anyone (one mutex).
 */
#ifndef SIM_ERROR_LOG_H
#define SIM_ERROR_LOG_H

#include <pthread.h>
#include <stdbool.h>

#include "sim/event.h"

#define ERROR_LOG_MESSAGE_MAX 1024
#define ERROR_LOG_NAME        "sqliosim.log.xml" /* ErrorFile's default */
#define ERROR_LOG_STYLESHEET  "ErrorLog.xslt"

struct error_log {
    pthread_mutex_t lock;
    int fd;
    uint64_t end_bytes; /* where the root's end tag begins */
    bool utc;           /* times of entries; else local, as SQLIOSim's are */
    uint64_t lost;      /* entries that could not be written, since the last one that could */
    bool failed;        /* that was said */
};

/* Could it be created there, as far as can be told without writing?  Refused: what is no earlier
 * log of this kind, what another run writes, what is not a regular file.  0 or -errno with a
 * message. */
int error_log_check(const char *path, char message[ERROR_LOG_MESSAGE_MAX])
    __attribute__((warn_unused_result));
/* Create it, or empty an earlier one; and the stylesheet beside it. */
int error_log_open(struct error_log *log, const char *path, bool utc,
                   char message[ERROR_LOG_MESSAGE_MAX]) __attribute__((warn_unused_result));
/* 0, also when this entry is lost but that was said before; else -errno, once in the log's life. */
int error_log_add(struct error_log *log, const struct event *event)
    __attribute__((warn_unused_result));
void error_log_close(struct error_log *log); /* also when it was not opened */
/* Is this file (relative to an open directory) a log of this kind?  For the clean-up. */
bool error_log_is_one(int directory, const char *name);

#endif
