/*
 * sql_server_version.h - what differs between versions of SQL Server in how they do I/O.
 *
 * One row a version; [CONFIG] SqlServerVersion chooses it.  A key that the user sets himself
 * (GatherPages) beats the row.  Where he names no version GatherPages is SQLIOSim's, which is not a
 * server's: no cap of it was published, and 64 is the one with which its measured mean comes out.
 *
 * Sources: Microsoft's documentation and support articles as gathered for the project (log writes
 * outstanding: 32 in 2008 and 2008 R2, 112 from 2012; bytes of log outstanding: 480 KiB in 2005
 * SP1, 3,840 KiB from 2008; gather write: 32 pages to 2014, 128 from 2016; new log space 0x00 to
 * 2014, 0xC0 from 2016; the checkpoint backs off at a mean write latency of 20 ms to 2014, 50 ms
 * from 2016).  All are figures of 64-bit servers; for log writes in number 2005 has the figure of
 * 2008, since none of its own is published (32-bit servers had 8).
 *
 * Pure; any thread.
 */
#ifndef CONFIG_SQL_SERVER_VERSION_H
#define CONFIG_SQL_SERVER_VERSION_H

#include <stddef.h>
#include <stdint.h>

struct sql_server_version {
    const char *name;
    unsigned log_writes_max;     /* log writes of a database under way */
    uint32_t log_bytes_max;      /* their bytes */
    unsigned gather_pages_max;   /* pages of one gather write */
    unsigned checkpoint_slow_ms; /* mean write latency at which a checkpoint backs off */
    uint8_t fresh_log_byte;      /* what new log space is filled with */
};

/* In the order of the choices of SqlServerVersion. */
extern const struct sql_server_version sql_server_versions[];
extern const size_t sql_server_versions_count;

#define SQL_SERVER_VERSION_CHOICES "2005|2008|2008R2|2012|2014|2016|2017|2019|2022"
#define SQL_SERVER_LOG_WRITES_MAX  112 /* of any version */

/* choice: the value of SqlServerVersion, an index into the table. */
const struct sql_server_version *sql_server_version_at(int64_t choice);

#endif
