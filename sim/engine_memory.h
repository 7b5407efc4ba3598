/*
 * engine_memory.h - which memory an engine may register (pin) with the kernel.
 *
 * The kernel takes pieces of at most 1 GiB and counts every ring's pinned pages against the user's
 * RLIMIT_MEMLOCK, also when two rings pin the same ones; who has CAP_IPC_LOCK is not counted.
 * Pure but for engine_memory_budget(), which asks the system.  Any thread.
 */
#ifndef SIM_ENGINE_MEMORY_H
#define SIM_ENGINE_MEMORY_H

#include <stdint.h>
#include <sys/uio.h>

#include "sim/io.h"

#define ENGINE_PIECES_MAX  64
#define ENGINE_PIECE_BYTES (1ull << 30) /* io_uring_register_buffers(3): at most 1 GiB each */

/* What one of engine_count engines may pin; UINT64_MAX = no limit. */
uint64_t engine_memory_budget(unsigned engine_count);
/* Cut regions into pieces, in order, until budget_bytes is used up; their number. */
unsigned engine_memory_cut(struct iovec pieces[ENGINE_PIECES_MAX], const struct iovec *regions,
                           unsigned region_count, uint64_t budget_bytes);
/* The same for what the engine was given, within what it may pin. */
unsigned engine_memory_pieces(struct iovec pieces[ENGINE_PIECES_MAX],
                              const struct io_engine_config *config);
/* The kernel refused: keep about half; the new number, 0 when that is not worth it. */
unsigned engine_memory_halve(struct iovec *pieces, unsigned count);

#endif
