/*
 * foreign.h - other processes at the files of a run: writes, truncation, replacement, unmounting.
 *
 * What another process did is never the storage's fault, and from then on nothing that the file
 * holds proves anything: it becomes one finding (foreign_write, file_replaced; device_gone for a
 * mount that is taken away), the run ends in order with what it has, and what is found later in
 * that file carries the same name.
 *
 * A write is believed when another process had opened the file as well, or the file is shorter than
 * it was made: Linux 5.18 to 6.0 could name a process that io_uring's completion interrupted.
 *
 * Cost: file_events.h.  Without fanotify (the run says so) only names and sizes are compared, at
 * the end and where a read finds the end of the file.
 *
 * Threads: foreign_look and foreign_wrote any; the rest while the run is built or taken apart.
 */
#ifndef SIM_FOREIGN_H
#define SIM_FOREIGN_H

#include <stddef.h>

#include "sim/run.h"

struct foreign;

int foreign_make(struct run *run) __attribute__((warn_unused_result));
void foreign_add(struct run *run, const struct file *file);
void foreign_free(struct run *run);
/* What happened since the last look becomes findings. */
void foreign_look(struct run *run);
/* Did another process write to that file?  Then who says what is known of it.  Waits for up to a
 * second for the answer while another process has it open. */
bool foreign_wrote(struct run *run, uint16_t file_uid, char *who, size_t who_size_bytes);
/* The file is not at its path any more: was its file system unmounted? */
bool foreign_unmounted(const struct run *run, const struct file *file);

#endif
