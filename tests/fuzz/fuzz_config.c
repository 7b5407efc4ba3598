/*
 * fuzz_config.c - any bytes as a configuration file.
 *
 * Properties: no crash, no leak, no endless loop; the dump of what was read loads again without a
 * complaint that the input did not deserve, and dumps to the same text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/source.h"
#include "patterns/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static struct profile *make(void)
{
    const struct opt_section *sections[16];
    size_t count = pattern_sections(sections, 16);

    return profile_create(sections, count);
}

static char *dumped(const struct profile *profile)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    if (out == NULL) {
        abort();
    }
    profile_dump(profile, out);
    fclose(out);
    return text;
}

static void print_all(const struct profile *profile)
{
    for (size_t i = 0; i < profile_diag_count(profile); i++) {
        diag_print(profile_diag_at(profile, i), stderr);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct profile *profile = make();
    struct profile *reloaded = make();
    int load_rc = source_ini_text(profile, "fuzz", (const char *)data, size_bytes);
    size_t load_errors = profile_error_count(profile);
    int finish_rc = profile_finish(profile);
    bool cross_errors = profile_error_count(profile) > load_errors;
    char *first = dumped(profile);

    if ((load_rc != 0 && finish_rc == 0) ||
        source_ini_text(reloaded, "dump", first, strlen(first)) != 0 ||
        profile_error_count(reloaded) != 0 || (profile_finish(reloaded) != 0) != cross_errors) {
        print_all(profile);
        print_all(reloaded);
        abort();
    }
    char *second = dumped(reloaded);
    if (strcmp(first, second) != 0) {
        fprintf(stderr, "%s\n---\n%s\n", first, second);
        abort();
    }
    free(first);
    free(second);
    profile_free(profile);
    profile_free(reloaded);
    return 0;
}
