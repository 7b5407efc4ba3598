/*
 * exit_code.h - what the program's exit codes mean; every command takes them from here.
 *
 * 1 beats 3 beats 130 beats 4 (verdict_rules.c); verify: 1 beats 3 beats 2.
 */
#ifndef SIM_EXIT_CODE_H
#define SIM_EXIT_CODE_H

enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_FAIL = 1,       /* integrity or durability */
    EXIT_CODE_USAGE = 2,      /* command line, configuration or path */
    EXIT_CODE_INCOMPLETE = 3, /* could not start or did not complete */
    EXIT_CODE_SPEED = 4,      /* a rated phase was too slow, or a limit of the user's was missed */
    EXIT_CODE_INTERRUPTED = 130,
};

#endif
