/* verify_check.h - the whole offline check of one set: logs first, since pages are compared with
 * them. */
#ifndef SIM_VERIFY_CHECK_H
#define SIM_VERIFY_CHECK_H

#include "sim/verify_files.h"

/* 0 (whatever was found) or -errno with set->message. */
int verify_check(struct verify_set *set) __attribute__((warn_unused_result));

#endif
