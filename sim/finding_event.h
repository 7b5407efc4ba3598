/*
 * finding_event.h - a finding as an event: what SQLIOSim's readers look for, and our sentence.
 *
 * Integrity and io_error findings are errors, the others warnings or information.  A page that came
 * back wrong reads `Buffer validation failed on <file> Page: <n>, offset 0x<first wrong byte>` in
 * its first line; our line and what it means for a database follow.
 *
 * Threads: any; pure.
 */
#ifndef SIM_FINDING_EVENT_H
#define SIM_FINDING_EVENT_H

#include "sim/event.h"
#include "sim/findings.h"

struct finding_event {
    struct event event; /* its texts are below */
    char user[EVENT_USER_MAX];
    char line[EVENT_TEXT_MAX / 2];
    char text[EVENT_TEXT_MAX];
};

void finding_event_make(const struct finding *finding, struct finding_event *out);

#endif
