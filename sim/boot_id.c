/* boot_id.c - see boot_id.h. */
#include "sim/boot_id.h"

#include <stdio.h>
#include <string.h>

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

void boot_id_read(uint8_t out[BOOT_ID_BYTES])
{
    FILE *file = fopen(BOOT_ID_PATH, "re");
    unsigned count = 0, byte;
    memset(out, 0, BOOT_ID_BYTES);
    if (!file)
        return;
    while (count < BOOT_ID_BYTES && fscanf(file, "%2x", &byte) == 1) {
        out[count++] = (uint8_t)byte;
        int c = fgetc(file); /* a hyphen stands between some */
        if (c != '-' && c != EOF)
            ungetc(c, file);
    }
    fclose(file);
    if (count < BOOT_ID_BYTES)
        memset(out, 0, BOOT_ID_BYTES);
}
