/*
 * one_checkpoint.h - the checkpoint that ends a phase: a pattern of one op for each database, which
 * the run itself uses; users cannot ask for it.
 */
#ifndef SIM_ONE_CHECKPOINT_H
#define SIM_ONE_CHECKPOINT_H

#include "patterns/pattern.h"

extern const struct pattern pattern_one_checkpoint;

#endif
