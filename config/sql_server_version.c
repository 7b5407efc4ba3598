/* sql_server_version.c - the table; see sql_server_version.h for its sources. */
#include "config/sql_server_version.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "config/profile.h"

#define KIB(n) ((n)*1024u)

const struct sql_server_version sql_server_versions[] = {
    /* name, log writes, log bytes, gather pages, slow ms, new log space, VLF rule, target s */
    {"2005", 32, KIB(480), 32, 20, 0x00, 0, 0},
    {"2008", 32, KIB(3840), 32, 20, 0x00, 0, 0},
    {"2008R2", 32, KIB(3840), 32, 20, 0x00, 0, 0},
    {"2012", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 32, 20, 0x00, 0, 0},
    {"2014", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 32, 20, 0x00, 1, 0},
    {"2016", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0, 1, 60},
    {"2017", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0, 1, 60},
    {"2019", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0, 1, 60},
    {"2022", SQL_SERVER_LOG_WRITES_MAX, KIB(3840), 128, 50, 0xC0, 2, 60},
};
const size_t sql_server_versions_count = sizeof sql_server_versions / sizeof sql_server_versions[0];

const struct sql_server_version *sql_server_version_at(int64_t choice)
{
    assert(choice >= 0 && (size_t)choice < sql_server_versions_count);
    return &sql_server_versions[choice];
}

/* ---- keys ---- */

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

static int64_t log_writes(const struct sql_server_version *version)
{
    return version->log_writes_max;
}

static int64_t log_bytes(const struct sql_server_version *version)
{
    return version->log_bytes_max;
}

static int64_t gather_pages(const struct sql_server_version *version)
{
    return version->gather_pages_max;
}

static int64_t checkpoint_slow(const struct sql_server_version *version)
{
    return version->checkpoint_slow_ms * NS_PER_MS;
}

static int64_t fresh_log_byte(const struct sql_server_version *version)
{
    return version->fresh_log_byte ? CONFIG_FRESH_LOG_C0 : CONFIG_FRESH_LOG_00;
}

static int64_t vlf_rule(const struct sql_server_version *version)
{
    return version->vlf_rule;
}

static int64_t target_recovery(const struct sql_server_version *version)
{
    return version->target_recovery_s * NS_PER_S;
}

#define FIELD(member) offsetof(struct config_settings, member)

const struct sql_server_key sql_server_keys[] = {
    {"GatherPages", FIELD(gather_pages_max), true, gather_pages},
    {"TargetRecoveryTime", FIELD(target_recovery_ns), true, target_recovery},
    {"LogWrites", FIELD(log_writes_max), false, log_writes},
    {"LogBytes", FIELD(log_bytes_max), false, log_bytes},
    {"FreshLogByte", FIELD(fresh_log_byte), false, fresh_log_byte},
    {"VlfRule", FIELD(vlf_rule), false, vlf_rule},
    {"CheckpointSlowMs", FIELD(checkpoint_slow_ns), false, checkpoint_slow},
};
const size_t sql_server_keys_count = sizeof sql_server_keys / sizeof sql_server_keys[0];

#undef FIELD

const struct sql_server_key *sql_server_key_by_name(const char *name)
{
    for (size_t i = 0; i < sql_server_keys_count; i++)
        if (strcasecmp(sql_server_keys[i].name, name) == 0)
            return &sql_server_keys[i];
    return NULL;
}

void sql_server_key_apply(const struct sql_server_key *key,
                          const struct sql_server_version *version,
                          struct config_settings *settings)
{
    int64_t value = key->value(version);
    memcpy((char *)settings + key->offset, &value, sizeof value);
}
