/*
 * final_summary.h - SQLIOSim's Final Summary of each file, byte for byte, and under it ours.
 *
 * Programs look for descriptions that begin with `Target IO Duration (ms) = ` and split them at the
 * commas; so our figures stand in rows of their own, which begin with FINAL_SUMMARY_OURS.  They are
 * what SQLIOSim's readers compute by hand or take the running average for: the mean over the whole
 * run, and percentiles.
 *
 * Threads: the coordinator.  From the frozen report alone.
 */
#ifndef SIM_FINAL_SUMMARY_H
#define SIM_FINAL_SUMMARY_H

#include "sim/report.h"

#define FINAL_SUMMARY_OURS    "pagestorm: "
#define FINAL_SUMMARY_ROW_MAX 1024

typedef void (*final_summary_row)(void *context, const char *row);

/* The rows of one file in order, `Closing file <name>` last. */
void final_summary_of(const struct report_file *file, final_summary_row row, void *context);

#endif
