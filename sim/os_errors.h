/*
 * os_errors.h - what an errno of a transfer means: the one place that sorts them.
 *
 * error is 0 or -errno.  Pure.
 */
#ifndef SIM_OS_ERRORS_H
#define SIM_OS_ERRORS_H

#include <stdbool.h>

bool os_error_is_no_space(int error);
bool os_error_is_device_gone(int error); /* the device or its mount: the run cannot go on */

#endif
