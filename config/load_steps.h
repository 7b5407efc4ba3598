/*
 * load_steps.h - "40%,80%,120%,max": the steps of the rated phase.
 *
 * Pure.  A factor of 1 is the load as it is set.
 */
#ifndef CONFIG_LOAD_STEPS_H
#define CONFIG_LOAD_STEPS_H

#include "config/opt.h"

#define LOAD_STEPS_MAX  32     /* more are a typing error */
#define LOAD_FACTOR_MIN 0.0001 /* 0.01 % */
#define LOAD_FACTOR_MAX 1000   /* 100,000 %: beyond any storage */

struct load_step {
    bool max; /* a closed loop */
    double factor;
};

struct load_steps {
    struct load_step list[LOAD_STEPS_MAX];
    unsigned count; /* 0: no text */
};

/* text may be NULL.  0, or -EINVAL with the reason. */
int load_steps_parse(const char *text, struct load_steps *out, char why[OPT_TEXT_MAX]) OPT_CHECK;
/* "load 80 %", "load max" */
void load_step_text(const struct load_step *step, char *out, size_t out_size_bytes);

#endif
