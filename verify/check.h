/*
 * check.h - the single checks that verification rests on, by name, so that a test can leave one
 * out.
 *
 * A check that nobody misses is superfluous or not tested.  tests/mutants builds the files that
 * use CHECKED() a second time with PAGESTORM_MUTANTS, links tests with them, and demands for each
 * line of checks.def that the test named there fails without the check.  Everywhere else
 * CHECKED() is the constant true: the product holds no such switch.
 *
 * To add one: a line in checks.def, and CHECKED(name) in the condition.
 */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H

#include <stdbool.h>

#ifdef PAGESTORM_MUTANTS

enum verify_check {
#define CHECK(name, what, guard) CHECK_##name,
#include "verify/checks.def"
#undef CHECK
    CHECK_COUNT
};

/* False for the check that is left out; any thread; tests/mutants/switch.c. */
bool check_is_on(enum verify_check check);

#define CHECKED(name) check_is_on(CHECK_##name)

#else

#define CHECKED(name) true

#endif

#endif
