/* verdict.h - the fault classes of verdicts.def as an enum with their properties. Pure. */
#ifndef VERIFY_VERDICT_H
#define VERIFY_VERDICT_H

enum verdict {
    VERDICT_NONE = 0,
#define VERDICT(name, severity, blame, sql_error, sentence) VERDICT_##name,
#include "verify/verdicts.def"
#undef VERDICT
    VERDICT_COUNT
};

enum severity { SEVERITY_INTEGRITY, SEVERITY_IO_ERROR, SEVERITY_WARNING, SEVERITY_INFORMATION };
enum blame { BLAME_STORAGE, BLAME_MEMORY, BLAME_OTHER_PROCESS, BLAME_HOST };

struct verdict_info {
    const char *name;
    enum severity severity;
    enum blame blame;
    int sql_error;
    const char *sentence;
};

const struct verdict_info *verdict_info(enum verdict verdict); /* VERDICT_NONE: name "none" */
enum verdict verdict_by_name(const char *name);                /* VERDICT_NONE if unknown */
const char *severity_name(enum severity severity);
const char *blame_name(enum blame blame);

#endif
