/* plan_buffers.h - memory beside the pool: buffers of CHECKDB's reads and of backups. */
#ifndef SIM_PLAN_BUFFERS_H
#define SIM_PLAN_BUFFERS_H

#include "sim/plan.h"

/* Bytes of the phase that needs the most.  After files and workers are known. */
uint64_t plan_buffers_bytes(const struct plan *plan, const struct profile *profile);

#endif
