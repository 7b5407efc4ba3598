/*
 * ini_values.h - values through iniparser, unchanged.
 *
 * iniparser (4.1) cuts values at ';', takes quotes and backslashes for syntax, limits lines to 1
 * KB, joins lines, lets the last of two equal keys win, lowers names and keeps no line numbers.  So
 * it gets a canonical text in which none of that can happen: one section, generated keys, values
 * escaped and split.  Its dictionary is searched from end to end, so a large file goes through in
 * pieces of INI_VALUES_MAX.
 */
#ifndef CONFIG_INI_VALUES_H
#define CONFIG_INI_VALUES_H

#include <stddef.h>

#define INI_VALUES_MAX 256 /* values of one round: keeps a 4 MiB file linear */

/* Read values[0..count) through iniparser; out[i] is malloc'd.  0, or -errno (nothing allocated).
 */
int ini_values_read(const char *const *values, size_t count, char **out)
    __attribute__((warn_unused_result));

#endif
