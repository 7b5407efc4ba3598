/*
 * engine_without.h - what an engine shall do without although this kernel has it.
 *
 * The device of io_engine_config for uring and aio; NULL in every run.  Tests take the ways of
 * older kernels with it.  Not changed while an engine lives.
 */
#ifndef SIM_ENGINE_WITHOUT_H
#define SIM_ENGINE_WITHOUT_H

#include <stdbool.h>

struct engine_without {
    bool single_issuer; /* uring: rings for one thread, completions deferred to it (Linux 6.1) */
    bool coop_taskrun;  /* uring: completions without interrupting the thread (5.19) */
    bool files;         /* uring: registered files */
    bool buffers;       /* uring: registered buffers */
    bool poll;          /* aio: waking by a poll request (4.19) */
    bool fdsync;        /* aio: flushes that do not block (4.18) */
};

#endif
