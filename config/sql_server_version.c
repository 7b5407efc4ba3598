/* sql_server_version.c - the table; see sql_server_version.h for its sources. */
#include "config/sql_server_version.h"

#include <assert.h>

#define KIB(n) ((n)*1024u)

const struct sql_server_version sql_server_versions[] = {
    /* name, log writes, log bytes, gather pages, slow ms, new log space */
    {"2005", 32, KIB(480), 32, 20, 0x00},
    {"2008", 32, KIB(3840), 32, 20, 0x00},
    {"2008R2", 32, KIB(3840), 32, 20, 0x00},
    {"2012", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 32, 20, 0x00},
    {"2014", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 32, 20, 0x00},
    {"2016", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0},
    {"2017", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0},
    {"2019", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0},
    {"2022", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0},
};
const size_t sql_server_versions_count = sizeof sql_server_versions / sizeof sql_server_versions[0];

const struct sql_server_version *sql_server_version_at(int64_t choice)
{
    assert(choice >= 0 && (size_t)choice < sql_server_versions_count);
    return &sql_server_versions[choice];
}
