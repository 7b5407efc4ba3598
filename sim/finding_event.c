/* finding_event.c - see finding_event.h. */
#include "sim/finding_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/finding_sql.h"

static enum event_type type_of(enum severity severity)
{
    switch (severity) {
    case SEVERITY_INTEGRITY:
    case SEVERITY_IO_ERROR:
        return EVENT_ERROR;
    case SEVERITY_WARNING:
        return EVENT_WARNING;
    case SEVERITY_INFORMATION:
        break;
    }
    return EVENT_INFO;
}

/* A page, or a place in the log, did not hold what it owed, and reading it again did not help. */
static bool is_validation_failure(const struct finding *finding)
{
    return verdict_info(finding->verdict)->severity == SEVERITY_INTEGRITY && !finding->error &&
           !finding->healed;
}

/* SQLIOSim's line; the offset is of the first byte that is wrong, within the page.  Where that is
 * not known it is left out, as SQLIOSim does. */
static void add_validation(const struct finding *finding, char *out, size_t out_size_bytes)
{
    uint64_t page_no = finding->has_page ? finding->page_no : finding->offset / PAGE_BYTES;
    int used = snprintf(out, out_size_bytes, "Buffer validation failed on %s Page: %" PRIu64,
                        finding->file, page_no);
    if (finding->why.damaged_bits && finding->why.first_bad_offset >= 0)
        snprintf(out + used, out_size_bytes - (size_t)used, ", offset 0x%x",
                 (unsigned)finding->why.first_bad_offset);
}

static void make_text(const struct finding *finding, const char *line, char out[EVENT_TEXT_MAX])
{
    char sql[FINDING_SQL_TEXT_MAX];
    char validation[FINDING_FILE_MAX + 80] = "";
    if (is_validation_failure(finding))
        add_validation(finding, validation, sizeof validation);
    const char *sentence = verdict_info(finding->verdict)->sentence;
    snprintf(out, EVENT_TEXT_MAX, "%s%s%s\n%s", validation, validation[0] ? "\n" : "", line,
             strstr(line, sentence) ? "" : sentence);
    size_t length = strlen(out);
    if (length && out[length - 1] == '\n')
        out[--length] = '\0';
    finding_sql_text(finding, sql);
    if (sql[0])
        snprintf(out + length, EVENT_TEXT_MAX - length, "\n%s", sql);
}

void finding_event_make(const struct finding *finding, struct finding_event *out)
{
    struct event *event = &out->event;
    bool failure = is_validation_failure(finding);
    event_user_name(finding->actor, out->user);
    finding_line(finding, out->line, sizeof out->line);
    make_text(finding, out->line, out->text);
    *event = (struct event){
        .type = type_of(verdict_info(finding->verdict)->severity),
        .user = out->user,
        .place = finding->place,
        .hresult = failure          ? HRESULT_DISK_OPERATION_FAILED
                   : finding->error ? event_hresult_of_errno(finding->error)
                                    : HRESULT_OK,
        .system_text = finding->error ? strerror(finding->error)
                       : failure      ? strerror(EIO)
                                      : NULL,
        .text = out->text,
        .line = out->line,
    };
}
