/*
 * backup_check.h - reading backup files: every block checked, damage named, log records handed on.
 *
 * A block that is not what its directory says is read again as often as SQL Server would; what
 * stays wrong is a finding of its usual class, at the first wrong byte, and the backup is not to be
 * restored.  One finding a block.
 *
 * Used by the run (Verify), `pagestorm verify` and every restore.  Ownership: the checker owns its
 * memory, not file, io and findings.  One thread.
 */
#ifndef SIM_BACKUP_CHECK_H
#define SIM_BACKUP_CHECK_H

#include "sim/file.h"
#include "sim/findings.h"
#include "sim/io.h"
#include "verify/backup.h"
#include "verify/logblk.h"

#define BACKUP_REREADS_MAX 4 /* SQL Server's */

struct backup_counts {
    uint64_t backups, incomplete, blocks, pages, log_blocks, bytes;
    uint32_t newest;  /* number of the newest complete one */
    uint64_t damaged; /* blocks and meta pages */
};

struct backup_checker {
    /* in */
    struct io *io;
    struct file *file;
    struct findings *findings;
    const char *actor;       /* of findings */
    const struct tick *tick; /* of the bytes read, or NULL */
    /* every record of the log blocks that are read, or NULL: 0 or -errno */
    int (*on_record)(void *context, const struct log_record_view *record);
    void *context;
    /* out */
    struct backup_counts counts;
    uint8_t *content; /* of the block that was read last */
    /* private */
    uint8_t *memory, *meta, *scratch;
    struct run_identity identity;
    bool chain_known;
    uint32_t chain_crc;
    uint64_t serial; /* of the poison that a read must overwrite */
};

/* io, file, findings, actor are set.  0 or -ENOMEM. */
int backup_checker_init(struct backup_checker *checker) __attribute__((warn_unused_result));
void backup_checker_free(struct backup_checker *checker);

/* Load the backup at offset: as backup_set_load; what is damaged was reported (-EBADMSG). */
int backup_checker_load(struct backup_checker *checker, uint64_t offset, uint32_t previous,
                        struct backup_set *set) __attribute__((warn_unused_result));
/* Read a block into content: 0, -EBADMSG (reported), -errno (of on_record or tick). */
int backup_checker_block(struct backup_checker *checker, const struct backup_set *set,
                         const struct backup_block *block) __attribute__((warn_unused_result));
/* All backups of the file.  0, or -errno that is no finding. */
int backup_check_file(struct backup_checker *checker) __attribute__((warn_unused_result));

#endif
