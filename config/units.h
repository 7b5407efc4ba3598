/*
 * units.h - numbers as people write them, read strictly.
 *
 * What the C library's converters accept too much of is refused here: no leading blank or '+', no
 * octal, no trailing text, no overflow.  A number and its unit may be parted by one space.
 *
 * Errors: -EINVAL when the text is not of the kind, -ERANGE when the value does not fit in 64 bits;
 * *out is written on success only.  Threads: pure functions.
 */
#ifndef CONFIG_UNITS_H
#define CONFIG_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_CHECK          __attribute__((warn_unused_result))

#define UNITS_KIB            ((int64_t)1 << 10)
#define UNITS_MIB            ((int64_t)1 << 20)
#define UNITS_GIB            ((int64_t)1 << 30)
#define UNITS_TIB            ((int64_t)1 << 40)

#define UNITS_US_NS          INT64_C(1000)
#define UNITS_MS_NS          INT64_C(1000000)
#define UNITS_S_NS           INT64_C(1000000000)
#define UNITS_MIN_NS         (60 * UNITS_S_NS)
#define UNITS_H_NS           (60 * UNITS_MIN_NS)
#define UNITS_DAY_NS         (24 * UNITS_H_NS)

#define UNITS_HUNDREDTHS_MAX 10000 /* SQLIOSim writes 100 % as 10000 */
#define UNITS_TEXT_MAX       64    /* longest text that the printing functions produce */

/* "-12": decimal digits with an optional '-'. */
int units_int(const char *text, int64_t *out) UNITS_CHECK;
/* "64", "64K", "64 KiB", "2TB": all units are powers of 1024, as SQL Server counts.  A bare number
 * is multiplied by bare_bytes.  Never negative. */
int units_size(const char *text, int64_t bare_bytes, int64_t *out) UNITS_CHECK;
/* "300", "5m", "200 ms": ns us ms s m h d.  A bare number is multiplied by bare_ns. */
int units_duration(const char *text, int64_t bare_ns, int64_t *out) UNITS_CHECK;
/* "1250" (hundredths of a percent) or "12.5%"; -ERANGE above 100 %. */
int units_hundredths(const char *text, int64_t *out) UNITS_CHECK;
/* "300" or "3.5": at most three decimals, as thousandths. */
int units_decimal(const char *text, int64_t *out) UNITS_CHECK;
/* "5" or "0x5". */
int units_mask(const char *text, uint64_t *out) UNITS_CHECK;
/* TRUE FALSE yes no on off 1 0, any case. */
int units_bool(const char *text, bool *out) UNITS_CHECK;
/* Index of text in choices ("auto|sync|mem"), any case. */
int units_enum(const char *text, const char *choices, int64_t *out) UNITS_CHECK;

/* Exact text that units_size() and units_duration() read back; a bare number where that is exact.
 */
void units_print_size(int64_t bytes, int64_t bare_bytes, char *out, size_t out_size_bytes);
void units_print_decimal(int64_t thousandths, char *out, size_t out_size_bytes);
void units_print_duration(int64_t ns, int64_t bare_ns, char *out, size_t out_size_bytes);
/* The index-th choice; "" when there is none. */
void units_print_enum(int64_t index, const char *choices, char *out, size_t out_size_bytes);

/* For people only, rounded: "1.5 GiB", "5 min", "12.5 %". */
void units_human_size(int64_t bytes, char *out, size_t out_size_bytes);
void units_human_duration(int64_t ns, char *out, size_t out_size_bytes);
void units_human_hundredths(int64_t hundredths, char *out, size_t out_size_bytes);

#endif
