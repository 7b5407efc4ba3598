/*
 * reuse.h - an earlier run whose prepared files a new one takes over: is it whole, and does it have
 * the very files that the new one plans?
 *
 * Only a run that came to its end in order can be taken over (also by Ctrl-C): its ledger is
 * closed, the last checkpoint is on the disk, and no page is in doubt.  Then what is there is the
 * newest that was ever issued, so that one more is a generation above everything.  A killed run is
 * refused: without its log, which is not redone, the maps of its extents may contradict each other.
 *
 * Files are taken at the size that they have by now.  tempdb is made anew in its files; backup
 * files stay, and the new run's have names of their own; snapshots are gone with their run.
 *
 * Ownership: reuse_close().  Threads: the coordinator, before the workers.
 */
#ifndef SIM_REUSE_H
#define SIM_REUSE_H

#include "sim/plan.h"
#include "verify/ledger.h"

struct reuse {
    char *directory;
    char *ledger_path;
    struct ledger *ledger; /* read-only */
};

/* directory: the result folder of that run.  0, and the plan has learned the sizes of the files,
 * that they are prepared, and names for its backups; or -errno with a message that says what is not
 * as it must be and what to do.  No file was changed. */
int reuse_open(struct reuse *reuse, const char *directory, struct plan *plan,
               const struct config_settings *settings, char message[PLAN_MESSAGE_MAX])
    __attribute__((warn_unused_result));
void reuse_close(struct reuse *reuse); /* zeroed is fine */
/* The new ledger has everything: that run's own goes, since it knows nothing of what follows. */
int reuse_taken(const struct reuse *reuse) __attribute__((warn_unused_result));
/* Enter into the new ledger what that run left of a data file: each page acknowledged, durable and
 * not yet seen by this run; or freed, as all are of a file that is made anew. */
void reuse_adopt(const struct reuse *reuse, struct ledger *ledger, uint16_t uid, bool anew);
/* Of a new log: above every sequence number that the old one may have used. */
uint32_t reuse_first_fseq(const struct reuse *reuse, uint16_t log_uid);
/* The run id, seed and share of compressible bytes that its pages were made with. */
struct run_identity reuse_identity(const struct reuse *reuse);

#endif
