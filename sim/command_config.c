/* command_config.c - `pagestorm config`: what settings there are, and what a file says. */
#include "sim/command_config.h"

#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "config/explain_ini.h"
#include "config/preset.h"
#include "config/source.h"
#include "sim/command_settings.h"
#include "sim/verdict_rules.h"

static void usage(FILE *out)
{
    fputs("usage: pagestorm config --list               every setting with its range and default\n"
          "       pagestorm config --presets [NAME]     named loads: what each is\n"
          "       pagestorm config --preset NAME        the file of one, to be changed and run\n"
          "       pagestorm config --dump [CONFIG.ini]  the configuration in effect, complete\n"
          "       pagestorm config --explain CONFIG.ini what each line of it means\n",
          out);
}

static int list(const char *path)
{
    struct profile *profile = profile_create_with_patterns();
    (void)path;
    profile_list(profile, stdout);
    profile_free(profile);
    return EXIT_CODE_OK;
}

/* NULL, and said: there is none of that name. */
static const struct preset *find_preset(const char *name)
{
    const struct preset *preset = preset_by_name(name);
    const char *nearest = preset ? NULL : preset_nearest(name);
    if (!preset)
        fprintf(stderr, "error: preset %s: unknown%s%s; config --presets lists them\n", name,
                nearest ? ", did you mean " : "", nearest ? nearest : "");
    return preset;
}

static int list_presets(const char *name)
{
    const struct preset *one = name ? find_preset(name) : NULL;
    if (name && !one)
        return EXIT_CODE_USAGE;
    presets_print(one, profile_create_with_patterns, stdout);
    return EXIT_CODE_OK;
}

static int print_preset(const char *name)
{
    const struct preset *preset = find_preset(name);
    if (!preset)
        return EXIT_CODE_USAGE;
    fputs(preset->text, stdout);
    return EXIT_CODE_OK;
}

static int dump(const char *path)
{
    struct profile *profile = profile_create_with_patterns();
    int error = path ? source_ini_load(profile, path) : 0;
    if (!error) {
        profile_settle_rated_phase(profile, path != NULL);
        error = profile_finish(profile);
    }
    profile_print_diags(profile, stderr);
    if (!error)
        profile_dump(profile, stdout);
    profile_free(profile);
    return error ? EXIT_CODE_USAGE : EXIT_CODE_OK;
}

static int explain_file(const char *path)
{
    struct profile *profile = profile_create_with_patterns();
    struct plan_machine *machine = alloc_zeroed(1, sizeof *machine); /* large: not on the stack */
    plan_look_at_machine(machine);
    profile_settle_rated_phase(profile, true);
    int error = config_explain(profile, path, machine->cpus, stdout);
    free(machine);
    profile_print_diags(profile, stderr);
    profile_free(profile);
    return error ? EXIT_CODE_USAGE : EXIT_CODE_OK;
}

static const struct {
    const char *option;
    int arguments_min, arguments_max;
    int (*run)(const char *path);
} actions[] = {
    {"--list", 0, 0, list}, {"--presets", 0, 1, list_presets}, {"--preset", 1, 1, print_preset},
    {"--dump", 0, 1, dump}, {"--explain", 1, 1, explain_file},
};

int command_config(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        usage(stdout);
        return EXIT_CODE_OK;
    }
    for (size_t i = 0; argc >= 2 && i < sizeof actions / sizeof actions[0]; i++) {
        int given = argc - 2;
        if (strcmp(argv[1], actions[i].option) != 0 || given < actions[i].arguments_min ||
            given > actions[i].arguments_max)
            continue;
        return actions[i].run(given ? argv[2] : NULL);
    }
    if (argc >= 2)
        fprintf(stderr, "error: config: '%s' is unknown, or its file is missing or one too many\n",
                argv[1]);
    usage(stderr);
    return EXIT_CODE_USAGE;
}
