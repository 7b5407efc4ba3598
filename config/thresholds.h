/*
 * thresholds.h - [Thresholds]: from which response time on a rated phase is WARN or FAIL.
 *
 * A limit is written PASS/WARN: 5ms/15ms is PASS up to 5 ms, WARN up to 15 ms and FAIL above;
 * 10ms/- warns above 10 ms and never fails; 10ms alone fails above 10 ms; - is not judged.
 *
 * The defaults are means that Microsoft publishes for working servers (log 1 to 5 ms, data to 20
 * ms, warehouse reads to 30 ms, "consistently above 10-15 ms" is a bottleneck, a minute of it a
 * plateau), SQL Server's own bound of 50 ms for checkpoint writes, and etcd's 10 ms for the p99 of
 * a synchronous log write, which therefore only warns; the share of the rate is ours.
 */
#ifndef CONFIG_THRESHOLDS_H
#define CONFIG_THRESHOLDS_H

#include "config/opt.h"

extern const struct opt_section thresholds_section; /* [Thresholds] */

struct limit {
    int64_t pass, warn; /* ns, or hundredths of a percent; warn INT64_MAX: never FAIL */
    bool judged;
    bool users; /* set by the user: "yours" beside it */
};

struct thresholds {
    struct limit rate_held; /* hundredths of a percent: PASS from `pass` on, WARN from `warn` on */
    struct limit log_write_mean, log_write_p99;
    struct limit data_read_mean, data_read_p99;
    struct limit read_ahead_mean, data_write_mean;
    struct limit plateau; /* PASS below `pass`, WARN below `warn` */
    int64_t stalls_rated; /* requests of 15 s and more that are allowed */
};

/* settings: of thresholds_section, which have passed its check. */
void thresholds_read(const void *settings, struct thresholds *out);

#endif
