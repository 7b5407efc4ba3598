/*
 * selftest_all.h - all cases of the self-test, several at once, told in the order of the table.
 *
 * Each case is a process of its own: on a real disk most of its time is waiting, and an assertion
 * that fails in one does not end the others.  Threads: call it before any is started.
 */
#ifndef SIM_SELFTEST_ALL_H
#define SIM_SELFTEST_ALL_H

#include "sim/selftest.h"

#define SELFTEST_AT_ONCE 4 /* about 100 MB of files and 64 MB of memory each */

/* error: of selftest_run, with its message in result; also when the process died. */
typedef void selftest_tell(void *context, size_t index, int error,
                           const struct selftest_result *result);

/* Case number only (from 1), or with 0 all.  0, or -errno when no case could be begun. */
int selftest_all(const struct selftest_config *config, size_t only, selftest_tell *tell,
                 void *context) __attribute__((warn_unused_result));

#endif
