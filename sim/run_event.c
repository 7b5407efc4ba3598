/* run_event.c - what happens in a run is told to the one callback; see event.h. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/finding_event.h"
#include "sim/run.h"

void run_event(const struct run *run, const struct event *event)
{
    if (!run->config.event)
        return;
    struct event told = *event;
    told.realtime_ns = clock_realtime_ns(run->clock);
    told.thread = run->config.virtual_clock ? run->virtual_thread : (unsigned)gettid();
    run->config.event(run->config.context, &told);
}

void run_tell(const struct run *run, enum event_type type, struct event_place place,
              const char *format, ...)
{
    char line[EVENT_TEXT_MAX];
    va_list arguments;
    if (!run->config.event)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct event event = {
        .type = type,
        .user = "System",
        .place = place,
        .hresult = type == EVENT_INFO ? HRESULT_NONE : HRESULT_OK,
        .text = line,
        .line = line,
    };
    run_event(run, &event);
}

void run_log(const struct run *run, const char *user, struct event_place place, const char *format,
             ...)
{
    char text[EVENT_TEXT_MAX];
    va_list arguments;
    if (!run->config.event)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct event event = {.user = user, .place = place, .hresult = HRESULT_NONE, .text = text};
    run_event(run, &event);
}

void run_announce_finding(void *context, const struct finding *finding)
{
    const struct run *run = context;
    struct finding_event told;
    finding_event_make(finding, &told);
    run_event(run, &told.event);
    /* SQLIOSim logs this as an error with number 0, which is none. */
    if (finding->dump[0])
        run_log(run, told.user, EVENT_HERE, "Dump file successfully written: %s/%s",
                run->config.out_dir, finding->dump);
}
