/*
 * grades.h - the grades of an axis of the verdict, and small texts about them.
 */
#ifndef SIM_GRADES_H
#define SIM_GRADES_H

#include <stdbool.h>
#include <stdint.h>

#define AXIS_REASON_MAX 400

enum grade { GRADE_PASS, GRADE_WARN, GRADE_FAIL, GRADE_NOT_TESTED, GRADE_INCOMPLETE };

struct axis {
    enum grade grade;
    char reason[AXIS_REASON_MAX];
};

const char *grade_name(enum grade grade);
void axis_set(struct axis *axis, enum grade grade, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* 4211900 -> "4,211,900" */
struct count_text {
    char text[32];
};
struct count_text count_text(uint64_t value);
/* part of whole in whole percent; 100 only when nothing is missing. */
unsigned percent_of(uint64_t part, uint64_t whole);

#endif
