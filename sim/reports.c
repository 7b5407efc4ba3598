/* reports.c - the report writers of reports.def as a table. */
#include <string.h>

#include "sim/report.h"

#define REPORT(name) extern const struct report_writer report_writer_##name;
#include "sim/reports.def"
#undef REPORT

#define REPORT(name) &report_writer_##name,
const struct report_writer *const report_writers[] = {
#include "sim/reports.def"
};
#undef REPORT

const size_t report_writers_count = sizeof(report_writers) / sizeof(report_writers[0]);

const struct report_writer *report_writer_by_name(const char *name)
{
    for (size_t i = 0; i < report_writers_count; i++)
        if (strcmp(report_writers[i]->name, name) == 0)
            return report_writers[i];
    return NULL;
}
