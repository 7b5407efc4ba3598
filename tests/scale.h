/*
 * scale.h - how large a random suite runs: TEST_SCALE, 1 when it is not set.
 *
 * tests/run.sh --long sets 10, the sanitizer suites set fractions.
 */
#ifndef TESTS_SCALE_H
#define TESTS_SCALE_H

#include <stdlib.h>

/* count at scale 1, made larger or smaller; never 0. */
static inline unsigned long test_scaled(unsigned long count)
{
    const char *text = getenv("TEST_SCALE");
    const double scale = text ? strtod(text, NULL) : 1;
    const double scaled = (double)count * (scale > 0 ? scale : 1);

    return scaled < 1 ? 1 : (unsigned long)scaled;
}

#endif
