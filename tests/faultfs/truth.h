/*
 * truth.h - the truth log: what was done to whom, and whether anybody could see it.
 *
 * An event is one fault that was injected; it hits one place, or two (a misdirected write: its home
 * and its victim).  A place is marked, sector by sector, in its file's damage table (damage.h); the
 * marks go when the sectors are written again.  So the log knows for each place
 *
 *   none    every byte was right by chance (a lost write of the bytes that stood there)
 *   open    not read yet, and still there
 *   seen    read while it was there
 *   masked  written again, cut off or removed before anybody read it
 *   healed  switched off (overlay) before anybody read it
 *
 * Times are of CLOCK_REALTIME, in ns.  Under the gate of struct fs.
 */
#ifndef FAULTFS_TRUTH_H
#define FAULTFS_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PLACES_MAX 2u
#define TIMES_MAX  8u /* the first reads of a place; what comes after is only counted */

struct place {
    char *path; /* at the moment of the fault */
    uint64_t offset, size_bytes;
    uint64_t sectors, left; /* wrong ones: once, and still */
    uint64_t reads;
    uint64_t read_begin_ns[TIMES_MAX], read_end_ns[TIMES_MAX];
    uint64_t last_begin_ns, last_end_ns;
    uint64_t rewritten_ns; /* the first write to one of its sectors, 0: none */
    uint64_t hash_before, hash_after;
};

struct event {
    unsigned id, rule;
    char op;
    const char *class;
    bool overlay;
    uint64_t time_ns;
    unsigned place_count;
    struct place places[PLACES_MAX];
    char *note; /* key=value words, or NULL */
};

struct truth {
    struct event **events;
    size_t count, room;
};

uint64_t truth_now(void);
struct event *truth_event(struct truth *truth, unsigned rule, char op, const char *class);
/* The next place of the event; good and bad are its bytes as they should be, and as they are. */
struct place *truth_place(struct event *event, const char *path, uint64_t offset, size_t size_bytes,
                          const void *good, const void *bad);
void place_read(struct place *place, uint64_t begin_ns);
const char *place_state(const struct place *place);
/* JSON, one event a line. */
void truth_print(const struct truth *truth, FILE *out);

#endif
