/*
 * engine_choice.h - which engine a run gets, and why another one cannot be had.
 *
 * auto takes the first of uring, aio, sync that this machine lets us create.  The wording is pure:
 * what the system says comes in through struct engine_system.  Any thread.
 */
#ifndef SIM_ENGINE_CHOICE_H
#define SIM_ENGINE_CHOICE_H

#include "config/profile.h"
#include "sim/io.h"

#define ENGINE_TEXT_MAX 512

/* What explains a refusal; -1 = not known. */
struct engine_system {
    int64_t io_uring_disabled;   /* kernel.io_uring_disabled */
    int64_t aio_nr, aio_max_nr;  /* fs.aio-nr, fs.aio-max-nr */
    int64_t open_files_max;      /* RLIMIT_NOFILE */
    int64_t locked_memory_bytes; /* RLIMIT_MEMLOCK */
};

struct engine_choice {
    const struct io_engine_ops *ops;
    bool is_model;
    char text[ENGINE_TEXT_MAX]; /* for people: the engine, and with auto why */
};

/* 0, or -errno of a named engine that cannot be had: then text says why and what to do. */
int engine_choose(enum config_engine wanted, struct engine_choice *out)
    __attribute__((warn_unused_result));
/* Pure: the same with the answers of create, by engine of engines.def, and of the system. */
int engine_choose_from(enum config_engine wanted, int (*try_create)(const struct io_engine_ops *),
                       const struct engine_system *system, struct engine_choice *out)
    __attribute__((warn_unused_result));

void engine_system_read(struct engine_system *out);
/* Why create failed and what to do, as two sentences without a full stop at the end. */
void engine_refusal(const struct io_engine_ops *ops, int error, const struct engine_system *system,
                    char text[ENGINE_TEXT_MAX]);
/* What is lost when memory stays unregistered, and the remedy; false: nothing worth telling. */
bool engine_memory_note(const struct io_engine *engine, uint64_t memory_bytes,
                        const struct engine_system *system, char text[ENGINE_TEXT_MAX]);

#endif
