/*
 * switch.c - what check_is_on() of the mutants asks: PAGESTORM_WITHOUT_CHECK in the environment.
 * PAGESTORM_ONLY_TEST limits a program to the tests of that name (pattern), where all take long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "verify/check.h"

/* lint: mutable: set once, before main(), from the environment */
static enum verify_check left_out = CHECK_COUNT;

/* A name that is none would make a mutant that is no mutant. */
__attribute__((constructor)) static void choose(void)
{
    static const char *const names[CHECK_COUNT] = {
#define CHECK(name, what, guard) #name,
#include "verify/checks.def"
#undef CHECK
    };
    const char *wanted = getenv("PAGESTORM_WITHOUT_CHECK");
    if (getenv("PAGESTORM_ONLY_TEST"))
        cmocka_set_test_filter(getenv("PAGESTORM_ONLY_TEST"));
    if (!wanted)
        return;
    for (left_out = 0; left_out < CHECK_COUNT; left_out++)
        if (strcmp(names[left_out], wanted) == 0)
            return;
    fprintf(stderr, "PAGESTORM_WITHOUT_CHECK=%s: not in verify/checks.def\n", wanted);
    _exit(99);
}

bool check_is_on(enum verify_check check)
{
    return check != left_out;
}
