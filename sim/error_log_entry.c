/*
 * error_log_entry.c - see error_log_entry.h.
 *
 * Attributes, their order and quotes are SQLIOSim's: its readers use regular expressions as often
 * as a parser.
 */
#include "sim/error_log_entry.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "sim/clock.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* ---- text ---- */

/* Bytes of the UTF-8 character at s, 0 if there is none that XML may hold. */
static size_t character_bytes(const unsigned char *s)
{
    size_t more = s[0] < 0x80 ? 0 : s[0] < 0xc2 ? 4 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    if (more == 4 || s[0] > 0xf4)
        return 0; /* a byte that continues, or what UTF-8 never begins with */
    uint32_t code = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) /* the final zero byte ends it as well */
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    bool control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    bool none = code == 0xfffe || code == 0xffff || code > 0x10ffff || code < least[more];
    return control || surrogate || none ? 0 : more + 1;
}

static const char *entity(unsigned char c, bool attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\'':
        return attribute ? "&apos;" : NULL;
    case '"':
        return attribute ? "&quot;" : NULL;
    case '\n': /* a parser would make a blank of it */
        return attribute ? "&#10;" : NULL;
    case '\t':
        return attribute ? "&#9;" : NULL;
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

static void put_text(FILE *out, const char *text, bool attribute)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        size_t length = character_bytes(s);
        const char *other = entity(*s, attribute);
        if (length == 0)
            fputs(REPLACEMENT, out);
        else if (other)
            fputs(other, out);
        else
            fwrite(s, 1, length, out);
        s += length ? length : 1;
    }
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s='", name);
    put_text(out, value ? value : "", true);
    fputc('\'', out);
}

/* ---- one entry ---- */

static void put_time(FILE *out, uint64_t realtime_ns, bool utc)
{
    time_t seconds = (time_t)(realtime_ns / NS_PER_S);
    struct tm tm = {0};
    char time[16] = "", date[16] = "";
    if (utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)) {
        strftime(time, sizeof time, "%H:%M:%S", &tm);
        strftime(date, sizeof date, "%m/%d/%y", &tm);
    }
    put_attribute(out, "TIME", time);
    put_attribute(out, "DATE", date);
}

void error_log_entry(const struct event *event, bool utc, FILE *out)
{
    char hresult[16] = "";
    if (event->hresult != HRESULT_NONE)
        snprintf(hresult, sizeof hresult, "0x%08" PRIx32, (uint32_t)event->hresult);
    fputs("<ENTRY", out);
    put_attribute(out, "TYPE", event_type_name(event->type));
    put_time(out, event->realtime_ns, utc);
    fprintf(out, " TID='%u'", event->thread);
    put_attribute(out, "User", event->user);
    put_attribute(out, "File", event->place.file);
    fprintf(out, " Line='%u'", event->place.line);
    put_attribute(out, "Func", event->place.function);
    put_attribute(out, "HRESULT", hresult);
    put_attribute(out, "SYSTEXT", event->system_text);
    fputs(">\n<EXTENDED_DESCRIPTION>", out);
    put_text(out, event->text, false);
    fputs("</EXTENDED_DESCRIPTION>\n</ENTRY>\n", out);
}

/* ---- how a browser shows it ---- */

static const char stylesheet[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!-- pagestorm: shows sqliosim.log.xml as a table -->\n"
    "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">\n"
    "<xsl:output method=\"html\" encoding=\"UTF-8\"/>\n"
    "<xsl:template match=\"/\">\n"
    "<html><head><title>pagestorm: log of a run</title><style>\n"
    "body { font-family: sans-serif; }\n"
    "table { border-collapse: collapse; font-size: 90%; }\n"
    "th, td { border: 1px solid #bbb; padding: 2px 6px; text-align: left; vertical-align: top; }\n"
    "td.text { white-space: pre-wrap; }\n"
    "tr.INFO { background: #e8f5e4; }\n"
    "tr.WARNING { background: #fff3c4; }\n"
    "tr.ERROR { background: #f9d0d0; }\n"
    "</style></head><body>\n"
    "<h1>Log of a run</h1>\n"
    "<xsl:for-each select=\"//ENTRY/EXTENDED_DESCRIPTION[starts-with(., 'RESULT: ')]\">\n"
    "<p><b><xsl:value-of select=\".\"/></b></p></xsl:for-each>\n"
    "<xsl:if test=\"not(//ENTRY/EXTENDED_DESCRIPTION[starts-with(., 'RESULT: ')])\">\n"
    "<p><b>No result: the run has not ended, or was killed.</b></p></xsl:if>\n"
    "<p>Errors: <xsl:value-of select=\"count(//ENTRY[@TYPE='ERROR'])\"/>,\n"
    "warnings: <xsl:value-of select=\"count(//ENTRY[@TYPE='WARNING'])\"/></p>\n"
    "<table><tr><th>Type</th><th>Date</th><th>Time</th><th>Thread</th><th>User</th>\n"
    "<th>Description</th><th>Error</th><th>Source</th></tr>\n"
    "<xsl:for-each select=\"//ENTRY\">\n"
    "<tr class=\"{@TYPE}\"><td><xsl:value-of select=\"@TYPE\"/></td>\n"
    "<td><xsl:value-of select=\"@DATE\"/></td><td><xsl:value-of select=\"@TIME\"/></td>\n"
    "<td><xsl:value-of select=\"@TID\"/></td><td><xsl:value-of select=\"@User\"/></td>\n"
    "<td class=\"text\"><xsl:value-of select=\"EXTENDED_DESCRIPTION\"/></td>\n"
    "<td><xsl:value-of select=\"@HRESULT\"/><xsl:text> </xsl:text>\n"
    "<xsl:value-of select=\"@SYSTEXT\"/></td>\n"
    "<td><xsl:value-of select=\"@File\"/>:<xsl:value-of select=\"@Line\"/></td></tr>\n"
    "</xsl:for-each>\n"
    "</table></body></html>\n"
    "</xsl:template>\n"
    "</xsl:stylesheet>\n";

const char *error_log_stylesheet(void)
{
    return stylesheet;
}
