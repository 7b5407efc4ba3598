/* finding_sql.c - see finding_sql.h. */
#include "sim/finding_sql.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/io_watch.h"
#include "verify/checksum.h"

#define SEE_MORE                                                                                   \
    "Additional messages in the SQL Server error log and operating system error log may provide "  \
    "more detail. "
#define DAMAGE                                                                                     \
    "This is a severe system-level error condition that threatens database integrity and must be " \
    "corrected immediately. Complete a full database consistency check (DBCC CHECKDB). This "      \
    "error can be caused by many factors; for more information, see SQL Server Books Online."

/* ---- why ---- */

static void reason_of_generation(struct finding *finding, const uint8_t *image)
{
    const struct explanation *why = &finding->why;
    struct lsn lsn = page_lsn(image);
    if (why->generation_found && why->generation_found < why->generation_expected)
        snprintf(finding->sql_reason, sizeof finding->sql_reason,
                 "stale page (a page read returned a log sequence number (LSN) "
                 "(%" PRIu32 ":%" PRIu32 ":%u) that is older than the last one that was written)",
                 lsn.fseq, lsn.block, (unsigned)lsn.slot);
    else
        snprintf(finding->sql_reason, sizeof finding->sql_reason, "audit failure");
}

void finding_sql_reason(struct finding *finding, const struct finding_images *images)
{
    const uint8_t *image = images ? images->read_image : NULL;
    finding->sql_reason[0] = '\0';
    if (!image || !finding->has_page || images->size_bytes != PAGE_BYTES)
        return;
    const struct page_header *header = page_header_of(image);
    uint32_t stored = header->torn_bits;
    uint32_t calculated = sector_fold(image, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
    if (header->page_no != finding->page_no || header->file_id != finding->file_id)
        snprintf(finding->sql_reason, sizeof finding->sql_reason,
                 "incorrect pageid (expected %u:%" PRIu32 "; actual %u:%" PRIu32 ")",
                 finding->file_id, finding->page_no, header->file_id, header->page_no);
    else if (stored != calculated)
        snprintf(finding->sql_reason, sizeof finding->sql_reason,
                 "incorrect checksum (expected: 0x%08" PRIx32 "; actual: 0x%08" PRIx32 ")", stored,
                 calculated);
    else
        reason_of_generation(finding, image);
}

/* ---- the sentences ---- */

struct message {
    char *out;
    size_t used;
};

static void say(struct message *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct message *message, const char *format, ...)
{
    va_list arguments;
    size_t room = FINDING_SQL_TEXT_MAX - message->used;
    va_start(arguments, format);
    int length = vsnprintf(message->out + message->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        message->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* "1117(Input/output error)": Windows' number, this system's words. */
static void system_error(const struct finding *finding, char *out, size_t out_size_bytes)
{
    if (!finding->error && finding->verdict == VERDICT_truncated_file) {
        snprintf(out, out_size_bytes, "38(Reached the end of the file.)");
        return;
    }
    int error = finding->error < 0 ? -finding->error : finding->error;
    int64_t hresult = event_hresult_of_errno(error);
    bool known = (hresult & 0xffff0000) == 0x80070000; /* FACILITY_WIN32 */
    snprintf(out, out_size_bytes, "%u(%s)", known ? (unsigned)(hresult & 0xffff) : (unsigned)error,
             error ? strerror(error) : "insufficient bytes transferred");
}

static void say_823(struct message *message, const struct finding *finding)
{
    bool write = finding->verdict == VERDICT_write_error;
    char error[128];
    system_error(finding, error, sizeof error);
    say(message,
        "The operating system returned error %s to SQL Server during a %s at offset %#016" PRIx64
        " in file '%s'. " SEE_MORE DAMAGE,
        error, write ? "write" : "read", finding->offset, finding->file);
}

static void say_824(struct message *message, const struct finding *finding)
{
    say(message, "SQL Server detected a logical consistency-based I/O error: %s. ",
        finding->sql_reason[0] ? finding->sql_reason : "audit failure");
    say(message,
        "It occurred during a read of page (%u:%" PRIu32 ") in database ID %u at offset "
        "%#016" PRIx64 " in file '%s'. " SEE_MORE DAMAGE,
        finding->file_id, finding->page_no, finding->database_id, finding->offset, finding->file);
}

static void say_825(struct message *message, const struct finding *finding)
{
    char error[128];
    system_error(finding, error, sizeof error);
    say(message,
        "A read of the file '%s' at offset %#016" PRIx64
        " succeeded after failing %u time(s) with error: %s. " SEE_MORE
        "This error condition threatens database integrity and must be corrected. Complete a full "
        "database consistency check (DBCC CHECKDB). This error can be caused by many factors; for "
        "more information, see SQL Server Books Online.",
        finding->file, finding->offset, finding->retries ? finding->retries : 1,
        finding->error           ? error
        : finding->sql_reason[0] ? finding->sql_reason
                                 : "audit failure");
}

static void say_832(struct message *message, const struct finding *finding)
{
    say(message,
        "A page that should have been constant has changed (%s, database %u, file '%s', page "
        "(%u:%" PRIu32 ")). This usually indicates a memory failure or other hardware or OS "
        "corruption.",
        finding->sql_reason[0] ? finding->sql_reason : "checksum not known", finding->database_id,
        finding->file, finding->file_id, finding->page_no);
}

static void say_833(struct message *message, const struct finding *finding)
{
    say(message,
        "SQL Server has encountered %" PRIu64 " occurrence(s) of I/O requests taking longer than "
        "%u seconds to complete on file [%s] in database id %u. The OS file handle is %#016x. The "
        "offset of the latest long I/O is: %#016" PRIx64 ". The duration of the long I/O is: "
        "%" PRIu64 " ms.",
        finding->times ? finding->times : 1, (unsigned)(IO_STALL_NS / NS_PER_S), finding->file,
        finding->database_id, 0u, finding->offset, (uint64_t)(finding->age_ns / NS_PER_MS));
}

static void say_1105(struct message *message, const struct finding *finding)
{
    say(message,
        "Could not allocate space for object 'dbo.pagestorm' in database ID %u because the "
        "'PRIMARY' filegroup is full: file '%s'. Create disk space by deleting unneeded files, "
        "dropping objects in the filegroup, adding additional files to the filegroup, or setting "
        "autogrowth on for existing files in the filegroup.",
        finding->database_id, finding->file);
}

static void say_3414(struct message *message, const struct finding *finding)
{
    say(message,
        "An error occurred during recovery, preventing the database (database ID %u) from "
        "restarting. Diagnose the recovery errors and fix them, or restore from a known good "
        "backup. If errors are not corrected or expected, contact Technical Support.",
        finding->database_id);
}

static void say_3456(struct message *message, const struct finding *finding)
{
    say(message,
        "Could not redo log record on page (%u:%" PRIu32 "), database ID %u, file '%s'. Restore "
        "from a backup of the database, or repair the database.",
        finding->file_id, finding->page_no, finding->database_id, finding->file);
}

static void say_9001(struct message *message, const struct finding *finding)
{
    say(message,
        "The log for database ID %u is not available (file '%s'). Check the operating system "
        "error log for related error messages. Resolve any errors and restart the database.",
        finding->database_id, finding->file);
}

static void say_9003(struct message *message, const struct finding *finding)
{
    say(message,
        "The log scan number passed to log scan in database ID %u is not valid (file '%s', offset "
        "%#016" PRIx64 "). This error may indicate data corruption or that the log file (.ldf) "
        "does not match the data file (.mdf). If this error occurred during replication, "
        "re-create the publication. Otherwise, restore from backup if the problem results in a "
        "failure during startup.",
        finding->database_id, finding->file, finding->offset);
}

static void say_9004(struct message *message, const struct finding *finding)
{
    say(message,
        "An error occurred while processing the log for database ID %u (file '%s', offset "
        "%#016" PRIx64 "). If possible, restore from backup. If a backup is not available, it "
        "might be necessary to rebuild the log.",
        finding->database_id, finding->file, finding->offset);
}

static void say_17053(struct message *message, const struct finding *finding)
{
    char error[128];
    system_error(finding, error, sizeof error);
    say(message, "%s: Operating system error %s encountered.", finding->file,
        finding->error ? error : "(the request never completed)");
}

static const struct {
    int number;
    unsigned severity, state;
    void (*say)(struct message *message, const struct finding *finding);
} messages[] = {
    {823, 24, 2, say_823},   {824, 24, 2, say_824},   {825, 10, 2, say_825},
    {832, 24, 1, say_832},   {833, 10, 2, say_833},   {1105, 17, 2, say_1105},
    {3414, 21, 1, say_3414}, {3456, 21, 1, say_3456}, {9001, 21, 1, say_9001},
    {9003, 20, 1, say_9003}, {9004, 21, 1, say_9004}, {17053, 16, 1, say_17053},
};

void finding_sql_text(const struct finding *finding, char out[FINDING_SQL_TEXT_MAX])
{
    int number = verdict_info(finding->verdict)->sql_error;
    if (number == 824 && finding->healed)
        number = 825; /* SQL Server reads again, too */
    struct message message = {.out = out};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        if (messages[i].number != number)
            continue;
        say(&message, "Error: %d, Severity: %u, State: %u.\n", number, messages[i].severity,
            messages[i].state);
        messages[i].say(&message, finding);
    }
}
