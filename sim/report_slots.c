/* report_slots.c - see report_slots.h. */
#include "sim/report_slots.h"

#define TEXT_MAX   32
#define NAME_SHOWN 30
#define BYTES_MB   1048576.0

double report_slot_iops(const struct report_slot *slot)
{
    const struct slot_facts *facts = &slot->slot->facts;
    const struct stream_stats *reads = facts->streams[STREAM_page_read];
    if (slot->facts.arrivals)
        return slot->facts.asked_ios * slot->facts.held;
    if (facts->seconds <= 0)
        return 0;
    uint64_t ios = (reads ? reads->ops : 0) + facts->counters.page_updates;
    return (double)ios / facts->seconds;
}

double report_slot_mb_per_s(const struct report_slot *slot)
{
    const struct slot_facts *facts = &slot->slot->facts;
    uint64_t bytes = 0;
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        bytes += facts->streams[s] ? facts->streams[s]->bytes : 0;
    return facts->seconds > 0 ? (double)bytes / facts->seconds / BYTES_MB : 0;
}

const char *report_slot_grade(const struct report_slot *slot)
{
    if (slot->slot->facts.times == 0)
        return "not reached";
    return slot->facts.rated ? grade_name(slot->result.axis.grade) : "not judged";
}

const char *report_slot_ended_by(const struct report_slot *slot)
{
    switch (slot->slot->facts.ended) {
    case SLOT_END_TIME:
        return "time";
    case SLOT_END_USERS:
        return "users";
    case SLOT_END_STOP:
        return "stop";
    case SLOT_END_NONE:
        break;
    }
    return "";
}

static const char *ms_text(const struct role_facts *role, char out[TEXT_MAX])
{
    if (role->ops == 0)
        return "-";
    snprintf(out, TEXT_MAX, role->p99_ns < 1e8 ? "%.2fms" : "%.0fms", role->p99_ns / 1e6);
    return out;
}

static void write_slot(const struct report_slot *slot, FILE *out)
{
    const struct speed_facts *facts = &slot->facts;
    char log[TEXT_MAX], read[TEXT_MAX], write[TEXT_MAX], asked[TEXT_MAX] = "-",
                                                         held[TEXT_MAX] = "-";
    if (slot->slot->facts.times == 0) {
        fprintf(out, "  %-*.*s %7s\n", NAME_SHOWN, NAME_SHOWN, slot->slot->name, "not reached");
        return;
    }
    if (facts->arrivals) {
        snprintf(asked, sizeof asked, "%.0f", facts->asked_ios);
        snprintf(held, sizeof held, "%.1f %%", facts->held * 100);
    }
    fprintf(out, "  %-*.*s %5.0f %7s %7.0f %8s %8.1f %8s %8s %8s  %s\n", NAME_SHOWN, NAME_SHOWN,
            slot->slot->name, slot->slot->facts.seconds, asked, report_slot_iops(slot), held,
            report_slot_mb_per_s(slot), ms_text(&facts->roles[ROLE_LOG_WRITE], log),
            ms_text(&facts->roles[ROLE_PAGE_READ], read),
            ms_text(&facts->roles[ROLE_PAGE_WRITE], write), report_slot_grade(slot));
}

static void write_part(const struct report *report, bool main_part, const char *title, FILE *out)
{
    bool headed = false, closed = false;
    for (unsigned i = 0; i < report->slot_count; i++) {
        const struct report_slot *slot = &report->slots[i];
        if (slot->of_main_part != main_part || !slot->slot->name[0])
            continue;
        if (!headed)
            fprintf(out, "\n%-32s %5s %7s %7s %8s %8s %8s %8s %8s\n", title, "s", "asked", "IOPS",
                    "held", "MB/s", "log p99", "read p99", "wr. p99");
        headed = true;
        closed |= slot->slot->closed;
        write_slot(slot, out);
    }
    if (closed)
        fputs(
            "  At load max latency is the number of requests in flight divided by the rate: it is "
            "shown,\n  and not judged.\n",
            out);
}

void report_slots_text(const struct report *report, FILE *out)
{
    write_part(report, false, "steps of the rated phase", out);
    write_part(report, true, "phases of the main part", out);
}
