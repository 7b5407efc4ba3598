/*
 * event.h - something that happened in a run and is told at once: to people who watch, and to the
 * logs.
 *
 * There is one way to tell it: run_event() and its short forms in run.h, which complete the event
 * and hand it to the one callback of struct run_config.  Findings take the same way.
 *
 * Ownership: an event and its texts are the teller's and last for the call; a sink copies what it
 * keeps.  Threads: any; the sink locks.  Never on the I/O path: telling may write to a file.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_TEXT_MAX 2048
#define EVENT_USER_MAX 48

enum event_type { EVENT_INFO, EVENT_WARNING, EVENT_ERROR };

/* Where in the source it was told. */
struct event_place {
    const char *file, *function;
    unsigned line;
};
#define EVENT_HERE                                                                                 \
    ((struct event_place){.file = __FILE_NAME__, .function = __func__, .line = __LINE__})

/* Errors as SQLIOSim's readers know them (HRESULT). */
enum {
    HRESULT_NONE = -1, /* nothing was asked of the system: the attribute is empty */
    HRESULT_OK = 0,
};
/* ERROR_DISK_OPERATION_FAILED (1127) as an HRESULT: what SQLIOSim gives a page that stays wrong. */
#define HRESULT_DISK_OPERATION_FAILED 0x80070467

struct event {
    enum event_type type;
    const char *user; /* "System", "Random User", ... */
    struct event_place place;
    int64_t hresult;         /* HRESULT_NONE or 32 bits */
    const char *system_text; /* what the system said, or NULL */
    const char *text;        /* for the logs */
    const char *line;        /* for people who watch; NULL: only for the logs */
    /* set by run_event() */
    uint64_t realtime_ns;
    unsigned thread; /* the system's id; under a virtual clock worker number + 1, coordinator 0 */
};

const char *event_type_name(enum event_type type); /* "INFO", "WARNING", "ERROR" */
/* "RandomUser 3" -> "Random User", "log audit" -> "Log Audit", "" -> "System". */
void event_user_name(const char *actor, char out[EVENT_USER_MAX]);
/* The HRESULT that Windows has for an errno (positive); E_FAIL (0x80004005) where it has none. */
int64_t event_hresult_of_errno(int error);

#endif
