/*
 * live.h - the present state of a run for people who watch: numbers and words, no layout.
 *
 * live_view.c makes lines of it, live_state.c fills it.  Texts are constants or stand in the
 * struct.
 */
#ifndef SIM_LIVE_H
#define SIM_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_ROWS        4
#define LIVE_HISTORY_S   60
#define LIVE_UNKNOWN     UINT64_MAX
#define LIVE_WORDS_MAX   128
#define LIVE_FOLDERS_MAX 256

/* A kind of I/O, in the last whole second. */
struct live_row {
    const char *label;
    bool known; /* a second has passed */
    double iops, mb_per_s, in_flight;
    uint64_t mean_ns, p99_ns;
    uint64_t p99_history_ns[LIVE_HISTORY_S]; /* the newest last; 0 = no request */
    unsigned history_count;
    unsigned checkpoint_percent; /* 0: none under way */
};

struct live {
    char phase[LIVE_WORDS_MAX]; /* "STRESS (not judged)", "AUDIT: reading the log back" */
    bool stopping;
    uint64_t elapsed_ns;  /* of the phase */
    uint64_t length_ns;   /* of the phase where it is fixed, else LIVE_UNKNOWN */
    bool ends_early;      /* the phase may: length_ns is the most */
    bool all_at_most;     /* so is all_left_ns */
    uint64_t done, total; /* work of the phase; total 0: not known */
    uint64_t left_ns;     /* of the phase, or LIVE_UNKNOWN */
    uint64_t all_left_ns; /* of everything, or LIVE_UNKNOWN */
    uint64_t findings;
    char findings_words[LIVE_WORDS_MAX]; /* "2 LOST WRITE, 1 BIT FLIP", or "" */
    struct live_row rows[LIVE_ROWS];
    uint64_t verified, wrong;
    bool coverage_known;
    unsigned covered_percent;
    uint64_t oldest_unread_s;
    uint64_t overwritten_unread;          /* generations */
    double check_mean_s, check_longest_s; /* from a write to the first right read */
    unsigned dirty_percent, log_percent;
    uint64_t throttled, stalled;
    uint64_t written_bytes;
    char folders[LIVE_FOLDERS_MAX]; /* of the files under test */
    const char *result;             /* folder, or NULL */
};

#endif
