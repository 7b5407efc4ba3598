/*
 * error_log_entry.h - one entry of the XML log as text, and the stylesheet that shows entries.
 * Internal to error_log.c and its tests.  Pure.
 */
#ifndef SIM_ERROR_LOG_ENTRY_H
#define SIM_ERROR_LOG_ENTRY_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/event.h"

/* Legal XML 1.0 whatever bytes the event's texts hold: what no XML document may contain, and what
 * is no UTF-8, becomes U+FFFD. */
void error_log_entry(const struct event *event, bool utc, FILE *out);
const char *error_log_stylesheet(void);

#endif
