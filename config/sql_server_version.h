/*
 * sql_server_version.h - what differs between versions of SQL Server in how they do I/O.
 *
 * One row a version; [CONFIG] SqlServerVersion chooses it.  Each figure has a key of its own, and a
 * key that the user sets himself beats the row (sql_server_keys).  Where he names no version two of
 * them are SQLIOSim's, which is not a server: GatherPages is 64 (no cap of it was published, and 64
 * is the one with which its measured mean comes out), and checkpoints are automatic.
 *
 * Sources: Microsoft's documentation and support articles as gathered for the project (log writes
 * outstanding: 32 in 2008 and 2008 R2, 112 from 2012; bytes of log outstanding: 480 KiB in 2005
 * SP1, 3,840 KiB from 2008; gather write: 32 pages to 2014, 128 from 2016; new log space 0x00 to
 * 2014, 0xC0 from 2016; the checkpoint backs off at a mean write latency of 20 ms to 2014, 50 ms
 * from 2016; new databases have indirect checkpoints of 60 s from 2016 on; one VLF for a growth of
 * less than an eighth of the log from 2014, and for any up to 64 MiB from 2022 on).  All are
 * figures of 64-bit servers; for log writes in number 2005 has the figure of 2008, since none of
 * its own is published (32-bit servers had 8).
 *
 * Pure; any thread.
 */
#ifndef CONFIG_SQL_SERVER_VERSION_H
#define CONFIG_SQL_SERVER_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_server_version {
    const char *name;
    unsigned log_writes_max;     /* log writes of a database under way */
    uint32_t log_bytes_max;      /* their bytes */
    unsigned gather_pages_max;   /* pages of one gather write */
    unsigned checkpoint_slow_ms; /* mean write latency at which a checkpoint backs off */
    uint8_t fresh_log_byte;      /* what new log space is filled with */
    unsigned vlf_rule;           /* how growth is cut into VLFs: index into SQL_SERVER_VLF_RULES */
    unsigned target_recovery_s;  /* of indirect checkpoints in a new database; 0 = automatic */
};

/* In the order of the choices of SqlServerVersion. */
extern const struct sql_server_version sql_server_versions[];
extern const size_t sql_server_versions_count;

#define SQL_SERVER_VERSION_CHOICES "2005|2008|2008R2|2012|2014|2016|2017|2019|2022"
#define SQL_SERVER_LOG_WRITES_MAX  112 /* of any version */
#define SQL_SERVER_VLF_RULES       "2012|2014|2022"

/* choice: the value of SqlServerVersion, an index into the table. */
const struct sql_server_version *sql_server_version_at(int64_t choice);

struct config_settings;

/* A key of [CONFIG] that a version decides unless the user does. */
struct sql_server_key {
    const char *name;
    size_t offset;   /* of its field, an int64_t, in struct config_settings */
    bool when_named; /* only where SqlServerVersion was set; else its own default holds */
    int64_t (*value)(const struct sql_server_version *version);
};
extern const struct sql_server_key sql_server_keys[];
extern const size_t sql_server_keys_count;

/* NULL: no version decides it. */
const struct sql_server_key *sql_server_key_by_name(const char *name);
void sql_server_key_apply(const struct sql_server_key *key,
                          const struct sql_server_version *version,
                          struct config_settings *settings);

#endif
