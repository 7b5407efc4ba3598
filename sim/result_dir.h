/*
 * result_dir.h - the folder that a run writes its results into, and what may be removed from it.
 *
 * Default name ./pagestorm-YYYYMMDD-HHMMSS (UTC, -2 and so on when it is taken).  When the current
 * directory lies on a device under test the folder moves to $XDG_STATE_HOME or /var/tmp, where that
 * is another device; else it stays, and a note says so.
 *
 * Files appear under their names complete (temporary name, sync, rename).  Only names that are
 * known to be ours are ever removed.
 */
#ifndef SIM_RESULT_DIR_H
#define SIM_RESULT_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/report.h"

#define RESULT_MESSAGE_MAX 1024

struct result_dir {
    char *path;
    bool created;                  /* by us: it may be removed again when the run cannot start */
    char note[RESULT_MESSAGE_MAX]; /* why it is not where one would look; or "" */
};

/* What decides the place. */
struct result_place {
    const char *wanted;            /* --out, or NULL */
    const char *const *under_test; /* paths whose devices are under test; they need not exist */
    size_t under_test_count;
    uint64_t realtime_ns; /* for the name */
};

/* Could it be created, as far as can be told without creating anything?  -EEXIST also when a file
 * under test has a name in it that a file of ours will have. */
int result_dir_check(const struct result_place *place, char message[RESULT_MESSAGE_MAX])
    __attribute__((warn_unused_result));
/* Create it.  -EINVAL ..: message says why and what to do; nothing was created. */
int result_dir_create(struct result_dir *dir, const struct result_place *place,
                      char message[RESULT_MESSAGE_MAX]) __attribute__((warn_unused_result));
/* Let every writer that has a file name write its file; one that fails does not keep the others,
 * and is entered in report->problems.  0 or the first -errno with a message. */
int result_dir_write(const struct result_dir *dir, struct report *report,
                     char message[RESULT_MESSAGE_MAX]) __attribute__((warn_unused_result));
/* Does the folder have what a run leaves that ended before it had a ledger: nothing, or logs alone?
 */
bool result_dir_is_begun(const char *path);
/* Remove our files from a result folder, and the folder if it is empty then.  *kept counts entries
 * that are not ours.  0 or -errno. */
int result_dir_remove(const char *path, unsigned *kept) __attribute__((warn_unused_result));
void result_dir_free(struct result_dir *dir);

/* May FILE of --json be written: standard output, or nothing or a JSON file is there? */
bool result_json_may_be_written(const char *path);

#endif
