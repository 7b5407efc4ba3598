/* sizes.c - the table of [Sizes]; see sizes.h for the source of its defaults. */
#include "config/sizes.h"

#include <errno.h>

#define FIELD(member) OPT_FIELD(struct sizes_settings, member)
#define SIZE(key, value, member, text)                                                             \
    {                                                                                              \
        .name = key, .type = OPT_SIZE_MB, .def = value, .min = "0", .max = "16777216",             \
        .unit = "MB", FIELD(member), .help = text                                                  \
    }
#define SHARE(key, value, member, text)                                                            \
    {                                                                                              \
        .name = key, .type = OPT_HUNDREDTHS, .def = value, .unit = "1/100 %", FIELD(member),       \
        .help = text                                                                               \
    }

static const struct opt sizes_opts[] = {
    SIZE("Data", "4096", data_bytes, "Data of each file that --dir makes, where there is space."),
    SIZE("DataMin", "256", data_bytes_min, "With less space than this there is no run."),
    SHARE("DataShare", "2500", data_share,
          "Most of the free space beyond the reserve that the data may take, of all data files on "
          "one file system together."),
    SIZE("DataStart", "0", data_start_bytes,
         "Size at the start, where the files grow while they are used; 0 = Data from the start."),
    SHARE("DataGrowth", "10000", data_growth,
          "How far a data file may grow beyond its Data, as a share of it."),
    SIZE("Increment", "0", increment_bytes, "Step by which data files grow; 0 = they do not."),
    {.name = "Shrinkable",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(shrinkable),
     .help = "Data files may also be shrunk while they are used."},
    SHARE("LogShare", "2500", log_share, "The log, as a share of the data."),
    SIZE("LogMin", "0", log_bytes_min, "Smallest log."),
    SIZE("LogMax", "512", log_bytes_max, "Largest log."),
    SHARE("TempDbShare", "2000", tempdb_share,
          "tempdb's data files together, as a share of the data of all databases, where tempdb is "
          "used and TempDbUser.Size does not say it; never less than its users need."),
    SHARE("PoolShare", "2500", pool_share,
          "The buffer pool, as a share of the data; never more than a quarter of the memory that "
          "is available."),
    SIZE("PoolMax", "4096", pool_bytes_max, "Largest buffer pool that is chosen by itself."),
};

static int check_sizes(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct sizes_settings *sizes = settings;

    if (sizes->data_bytes == 0 || sizes->data_bytes_min > sizes->data_bytes) {
        snprintf(text, OPT_TEXT_MAX, "Data must be above 0 and not below DataMin");
        return -EINVAL;
    }
    if (sizes->log_bytes_max == 0 || sizes->log_bytes_min > sizes->log_bytes_max) {
        snprintf(text, OPT_TEXT_MAX, "LogMax must be above 0 and not below LogMin");
        return -EINVAL;
    }
    if (sizes->shrinkable && sizes->increment_bytes == 0) {
        snprintf(text, OPT_TEXT_MAX, "Shrinkable=TRUE needs an Increment");
        return -EINVAL;
    }
    if (sizes->data_start_bytes > sizes->data_bytes) {
        snprintf(text, OPT_TEXT_MAX, "DataStart is above Data");
        return -EINVAL;
    }
    return 0;
}

const struct opt_section sizes_section = {
    .name = "Sizes",
    .opts = sizes_opts,
    .count = sizeof(sizes_opts) / sizeof(sizes_opts[0]),
    .size_bytes = sizeof(struct sizes_settings),
    .help = "How large the files are that --dir makes without [FileN] sections and without --size.",
    .check = check_sizes,
};
