/* grades.c - see grades.h. */
#include "sim/grades.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const grade_names[] = {
    [GRADE_PASS] = "PASS",
    [GRADE_WARN] = "WARN",
    [GRADE_FAIL] = "FAIL",
    [GRADE_NOT_TESTED] = "NOT TESTED",
    [GRADE_INCOMPLETE] = "INCOMPLETE",
};

const char *grade_name(enum grade grade)
{
    assert(grade <= GRADE_INCOMPLETE);
    return grade_names[grade];
}

struct count_text count_text(uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    struct count_text out;
    char *to = out.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

unsigned percent_of(uint64_t part, uint64_t whole)
{
    if (whole == 0 || part >= whole)
        return 100;
    return (unsigned)((unsigned __int128)part * 100 / whole);
}

void axis_set(struct axis *axis, enum grade grade, const char *format, ...)
{
    va_list arguments;
    axis->grade = grade;
    va_start(arguments, format);
    vsnprintf(axis->reason, sizeof axis->reason, format, arguments);
    va_end(arguments);
}
