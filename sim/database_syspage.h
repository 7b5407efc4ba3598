/*
 * database_syspage.h - one logged change of a system page: its new image, generation and log record
 * in one turn, under the frame's partition lock, so that page and log never disagree.
 *
 * Threads: any.
 */
#ifndef SIM_DATABASE_SYSPAGE_H
#define SIM_DATABASE_SYSPAGE_H

#include "sim/database.h"

/* Changes the image, at most SYSPAGE_DELTA_MAX bytes of it. */
typedef void (*syspage_edit_fn)(void *context, uint8_t *image);
/* 0 (also where the page is quarantined: its finding stands), -EAGAIN (being written, or no log
 * buffer: the task waits), -EIO. */
int syspage_edit(struct data_file *file, uint32_t page_no, syspage_edit_fn edit, void *context,
                 struct xact *xact, struct task *task) __attribute__((warn_unused_result));

#endif
