/* selftest_judge.c - what a case must have found, against what it found. */
#include <string.h>

#include "sim/selftest.h"

static const struct fault_truth *first_truth(const struct fault_config *faults)
{
    for (unsigned i = 0; i < faults->truth_count; i++)
        if (faults->truth[i].rule == 0)
            return &faults->truth[i];
    return NULL;
}

static uint64_t truths(const struct fault_config *faults)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < faults->truth_count; i++)
        count += faults->truth[i].rule == 0;
    return count + faults->truth_dropped;
}

static bool at_page(const struct finding *finding, uint32_t page_no)
{
    return finding->has_page && finding->file_uid == SELFTEST_DATA_UID &&
           finding->page_no == page_no;
}

static bool at_truth(const struct finding *finding, const struct fault_truth *truth)
{
    return truth && !finding->has_page && finding->file_uid == truth->file_uid &&
           finding->offset >= truth->offset && finding->offset < truth->offset + truth->size_bytes;
}

static bool at_place(const struct selftest_case *test, const struct fault_config *faults,
                     const struct finding *finding)
{
    switch (test->place) {
    case SELFTEST_AT_HOME:
        return at_page(finding, SELFTEST_HOME);
    case SELFTEST_AT_VICTIM:
        return at_page(finding, SELFTEST_VICTIM);
    case SELFTEST_IN_LOG:
        return at_truth(finding, first_truth(faults));
    case SELFTEST_IN_DATA:
        return finding->file_uid == SELFTEST_DATA_UID;
    case SELFTEST_NOWHERE:
        break;
    }
    return false;
}

/* The event stands at one of the two pages and names the other. */
static bool both_ends(const struct selftest_case *test, const struct finding *finding)
{
    uint32_t other = test->place == SELFTEST_AT_HOME ? SELFTEST_VICTIM : SELFTEST_HOME;
    return finding->paired && finding->other_page_no == other && finding->why.has_origin &&
           finding->why.origin_page_no == other;
}

static void another(struct selftest_result *result, const struct finding *finding)
{
    if (result->others++ == 0)
        finding_line(finding, result->first_other, sizeof result->first_other);
}

void selftest_judge(const struct selftest_case *test, const struct fault_config *faults,
                    const struct findings *findings, struct selftest_result *result)
{
    result->injected = test->rule_count ? truths(faults) : 0;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        bool lawful = verdict_info(finding->verdict)->severity == SEVERITY_INFORMATION;
        if (finding->amended || lawful) /* a kill may tear what was under way */
            continue;
        bool here = at_place(test, faults, finding);
        bool named = here && finding->verdict == test->expected &&
                     (!test->pairs || both_ends(test, finding));
        bool again = result->named;
        result->caught = result->caught || here;
        result->named = result->named || named;
        if (!named || again)
            another(result, finding);
    }
}

bool selftest_passed(const struct selftest_case *test, const struct selftest_result *result)
{
    if (result->others)
        return false;
    if (test->expected == VERDICT_NONE)
        return true;
    return result->injected && result->caught && result->named;
}
