/* test_error_log.c - the XML log: entries, escapes, well-formed at every moment, refusals. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/error_log.h"
#include "sim/error_log_entry.h"

#define NS 1000000000ull

struct world {
    char dir[64], path[80], style[80], message[ERROR_LOG_MESSAGE_MAX];
    struct error_log log;
};

static int world_make(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    snprintf(w->dir, sizeof w->dir, "/tmp/pagestorm-error-log-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->path, sizeof w->path, "%s/x.xml", w->dir);
    snprintf(w->style, sizeof w->style, "%s/" ERROR_LOG_STYLESHEET, w->dir);
    w->log.fd = -1;
    *state = w;
    return 0;
}

static int world_free(void **state)
{
    struct world *w = *state;
    error_log_close(&w->log);
    unlink(w->path);
    rmdir(w->path);
    unlink(w->style);
    rmdir(w->dir);
    free(w);
    return 0;
}

static char *content(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *in = fopen(path, "re");
    assert_non_null(text);
    assert_non_null(in);
    size_t got = fread(text, 1, (1 << 20) - 1, in);
    assert_true(strlen(text) == got); /* no zero byte */
    fclose(in);
    return text;
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void open_log(struct world *w)
{
    if (error_log_open(&w->log, w->path, true, w->message))
        fail_msg("%s", w->message);
}

/* 2026-03-04 17:21:48 UTC is 1772644908 s: 20516 days since 1970 (56 years of 365 and 14 leap days,
 * 31 + 28 + 3 days of 2026) x 86400 + 17 x 3600 + 21 x 60 + 48 */
#define WHEN_NS (1772644908ull * NS)

static struct event an_error(const char *text)
{
    return (struct event){.type = EVENT_ERROR,
                          .user = "CPU Idle User",
                          .place = {.file = "buffer.c", .function = "validate", .line = 791},
                          .hresult = HRESULT_DISK_OPERATION_FAILED,
                          .system_text = "Input/output error",
                          .text = text,
                          .realtime_ns = WHEN_NS,
                          .thread = 5080};
}

static void expect_entry(const struct event *event, const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    error_log_entry(event, true, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- entries ---- */

static void an_entry_has_sqliosims_attributes_in_its_order(void **state)
{
    struct event event = an_error("Buffer validation failed on x Page: 1, offset 0x8");
    (void)state;
    expect_entry(&event, "<ENTRY TYPE='ERROR' TIME='17:21:48' DATE='03/04/26' TID='5080' "
                         "User='CPU Idle User' File='buffer.c' Line='791' Func='validate' "
                         "HRESULT='0x80070467' SYSTEXT='Input/output error'>\n"
                         "<EXTENDED_DESCRIPTION>Buffer validation failed on x Page: 1, offset "
                         "0x8</EXTENDED_DESCRIPTION>\n</ENTRY>\n");
}

static void information_has_an_empty_hresult_and_a_warning_zero(void **state)
{
    struct event event = an_error("t");
    (void)state;
    event.type = EVENT_INFO;
    event.hresult = HRESULT_NONE;
    event.system_text = NULL;
    expect_entry(&event, "<ENTRY TYPE='INFO' TIME='17:21:48' DATE='03/04/26' TID='5080' "
                         "User='CPU Idle User' File='buffer.c' Line='791' Func='validate' "
                         "HRESULT='' SYSTEXT=''>\n"
                         "<EXTENDED_DESCRIPTION>t</EXTENDED_DESCRIPTION>\n</ENTRY>\n");
    event.type = EVENT_WARNING;
    event.hresult = HRESULT_OK;
    expect_entry(&event, "<ENTRY TYPE='WARNING' TIME='17:21:48' DATE='03/04/26' TID='5080' "
                         "User='CPU Idle User' File='buffer.c' Line='791' Func='validate' "
                         "HRESULT='0x00000000' SYSTEXT=''>\n"
                         "<EXTENDED_DESCRIPTION>t</EXTENDED_DESCRIPTION>\n</ENTRY>\n");
}

static void expect_text(const char *text, const char *expected)
{
    struct event event = an_error(text);
    char *entry = NULL;
    size_t size;
    FILE *out = open_memstream(&entry, &size);
    assert_non_null(out);
    error_log_entry(&event, true, out);
    assert_int_equal(fclose(out), 0);
    char *begin = strstr(entry, "DESCRIPTION>") + strlen("DESCRIPTION>");
    *strstr(begin, "</EXTENDED") = '\0';
    assert_string_equal(begin, expected);
    free(entry);
}

#define BAD "\xef\xbf\xbd"

static void markup_is_escaped(void **state)
{
    (void)state;
    expect_text("a<b>&'c' ]]>\"d\"", "a&lt;b&gt;&amp;'c' ]]&gt;\"d\"");
}

static void quotes_and_line_ends_in_attributes_are_escaped(void **state)
{
    struct event event = an_error("t");
    char *entry = NULL;
    size_t size;
    FILE *out = open_memstream(&entry, &size);
    (void)state;
    event.user = "O'Neil\n\"x\"";
    error_log_entry(&event, true, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(entry, " User='O&apos;Neil&#10;&quot;x&quot;' "));
    free(entry);
}

static void what_xml_may_not_contain_is_replaced(void **state)
{
    (void)state;
    expect_text("a\x01z\x1b[31m\tb\nc", "a" BAD "z" BAD "[31m\tb\nc");
    expect_text("a\rb", "a&#13;b");
    expect_text("\xef\xbf\xbe\xed\xa0\x80",
                BAD BAD BAD BAD BAD BAD); /* each byte: U+FFFE; half a surrogate pair */
}

static void utf8_stays_and_what_is_none_is_replaced(void **state)
{
    (void)state;
    expect_text("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe");
    expect_text("a\xff"
                "b\x80"
                "c",
                "a" BAD "b" BAD "c");
    expect_text("\xc0\xaf", BAD BAD);                 /* a slash in two bytes */
    expect_text("\xe2\x82", BAD BAD);                 /* cut */
    expect_text("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* beyond U+10FFFF */
    expect_text("\xe2(", BAD "(");
}

/* ---- the file ---- */

static void the_file_ends_with_the_root_after_every_entry(void **state)
{
    struct world *w = *state;
    open_log(w);
    for (unsigned i = 0; i < 20; i++) {
        char *text = content(w->path);
        assert_memory_equal(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", 39);
        assert_non_null(strstr(text, "href=\"ErrorLog.xslt\""));
        assert_string_equal(text + strlen(text) - 12, "</SQLIOSIM>\n");
        unsigned entries = 0, ends = 0;
        for (const char *at = text; (at = strstr(at, "</ENTRY>")); at++)
            entries++;
        for (const char *at = text; (at = strstr(at, "</SQLIOSIM>")); at++)
            ends++;
        assert_int_equal(entries, i);
        assert_int_equal(ends, 1);
        free(text);
        struct event event = an_error("one more");
        assert_int_equal(error_log_add(&w->log, &event), 0);
    }
}

static void an_earlier_log_is_replaced(void **state)
{
    struct world *w = *state;
    struct event event = an_error("of the earlier run");
    open_log(w);
    assert_int_equal(error_log_add(&w->log, &event), 0);
    error_log_close(&w->log);
    assert_int_equal(error_log_check(w->path, w->message), 0);
    open_log(w);
    char *text = content(w->path);
    assert_null(strstr(text, "earlier"));
    assert_string_equal(text + strlen(text) - 12, "</SQLIOSIM>\n");
    free(text);
}

static void refused(struct world *w, int error, const char *part)
{
    assert_int_equal(error_log_check(w->path, w->message), error);
    assert_non_null(strstr(w->message, part));
    assert_int_equal(error_log_open(&w->log, w->path, true, w->message), error);
    assert_non_null(strstr(w->message, part));
    assert_int_equal(w->log.fd, -1);
}

static void what_is_no_log_is_refused_and_left_alone(void **state)
{
    struct world *w = *state;
    static const char letter[] = "<?xml version=\"1.0\"?>\n<LETTER>Dear\n</LETTER>\n";
    put(w->path, letter);
    refused(w, -EEXIST, "no log of this kind");
    char *text = content(w->path);
    assert_string_equal(text, letter);
    free(text);
}

static void a_directory_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(mkdir(w->path, 0755), 0);
    refused(w, -EISDIR, "irectory");
}

static void a_pipe_is_refused(void **state)
{
    struct world *w = *state;
    assert_int_equal(mkfifo(w->path, 0644), 0);
    refused(w, -EINVAL, "not a regular file");
}

static void a_log_that_another_run_writes_is_refused(void **state)
{
    struct world *w = *state;
    struct error_log second;
    open_log(w);
    assert_int_equal(error_log_check(w->path, w->message), -EBUSY);
    assert_int_equal(error_log_open(&second, w->path, true, w->message), -EBUSY);
    assert_non_null(strstr(w->message, "another run"));
}

static void a_missing_directory_is_named(void **state)
{
    struct world *w = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/none/x.xml", w->dir);
    assert_int_equal(error_log_check(path, w->message), -ENOENT);
    assert_non_null(strstr(w->message, "directory does not exist"));
}

static void a_stylesheet_that_exists_stays(void **state)
{
    struct world *w = *state;
    put(w->style, "mine");
    open_log(w);
    char *text = content(w->style);
    assert_string_equal(text, "mine");
    free(text);
}

static void only_a_log_is_known_as_one(void **state)
{
    struct world *w = *state;
    int directory = open(w->dir, O_RDONLY | O_DIRECTORY);
    open_log(w);
    put(w->style, "mine");
    assert_true(error_log_is_one(directory, "x.xml"));
    assert_false(error_log_is_one(directory, ERROR_LOG_STYLESHEET));
    assert_false(error_log_is_one(directory, "nothing"));
    close(directory);
}

/* ---- no space ---- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_is_said_once_and_leaves_whole_xml(void **state)
{
    struct world *w = *state;
    struct event event = an_error("an entry that does not fit");
    char *text;
    unsigned said = 0;
    signal(SIGXFSZ, SIG_IGN);
    open_log(w);
    limit_file_size(700); /* head and two entries */
    for (unsigned i = 0; i < 5; i++)
        said += error_log_add(&w->log, &event) != 0;
    text = content(w->path);
    assert_int_equal(said, 1);
    assert_true(strlen(text) <= 700);
    assert_string_equal(text + strlen(text) - 12, "</SQLIOSIM>\n");
    assert_memory_equal(text + strlen(text) - 12 - 9, "</ENTRY>\n", 9);
    free(text);
    /* Space again: what is missing is said in the log. */
    uint64_t lost = w->log.lost;
    assert_in_range(lost, 1, 4);
    limit_file_size(RLIM_INFINITY);
    event = an_error("fits again");
    assert_int_equal(error_log_add(&w->log, &event), 0);
    text = content(w->path);
    char sentence[80];
    snprintf(sentence, sizeof sentence, "%u entries before this one could not be written",
             (unsigned)lost);
    assert_non_null(strstr(text, sentence));
    assert_true(strstr(text, "fits again") > strstr(text, sentence));
    assert_string_equal(text + strlen(text) - 12, "</SQLIOSIM>\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_has_sqliosims_attributes_in_its_order),
        cmocka_unit_test(information_has_an_empty_hresult_and_a_warning_zero),
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(quotes_and_line_ends_in_attributes_are_escaped),
        cmocka_unit_test(what_xml_may_not_contain_is_replaced),
        cmocka_unit_test(utf8_stays_and_what_is_none_is_replaced),
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_make, world_free)
        IN_WORLD(the_file_ends_with_the_root_after_every_entry),
        IN_WORLD(an_earlier_log_is_replaced),
        IN_WORLD(what_is_no_log_is_refused_and_left_alone),
        IN_WORLD(a_directory_is_refused),
        IN_WORLD(a_pipe_is_refused),
        IN_WORLD(a_log_that_another_run_writes_is_refused),
        IN_WORLD(a_missing_directory_is_named),
        IN_WORLD(a_stylesheet_that_exists_stays),
        IN_WORLD(only_a_log_is_known_as_one),
        IN_WORLD(a_full_disk_is_said_once_and_leaves_whole_xml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
