/*
 * wal_space.h - how much of a log transactions may use: the arithmetic behind wal.c's
 * reservations, pure, so that a plan can be refused before anything is created.
 */
#ifndef SIM_WAL_SPACE_H
#define SIM_WAL_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/vlf.h"

struct wal_space {
    uint64_t capacity_bytes; /* free space of an empty log */
    uint64_t usable_bytes;   /* free space that is certain when only the head VLF is in use */
    uint64_t largest_bytes;  /* usable part of the largest VLF */
};

/* Of a VLF: less its header and the tail where a block may not fit any more. */
uint64_t wal_vlf_usable_bytes(const struct vlf_header *vlf);
/* More VLFs of the same log; begin with zeros. */
void wal_space_add(struct wal_space *space, const struct vlf_header *vlfs, size_t count);
/* Those of a new log file; false if it is too small for a log. */
bool wal_space_add_file(struct wal_space *space, uint64_t file_bytes);
/* Most bytes a transaction may reserve: half the usable log, the checkpoint's headroom taken off.
 */
uint64_t wal_space_transaction_max(uint64_t usable_bytes);
/* The same for a log of one file that does not exist yet; 0 if it is too small for a log. */
uint64_t wal_log_transaction_max(uint64_t file_bytes);
/* Upper bound of what a transaction of so many records with so many payload bytes together can
 * reserve, however the payload is spread over the records. */
uint64_t wal_transaction_need(uint64_t payload_bytes, uint64_t records, size_t sector_bytes);

#endif
