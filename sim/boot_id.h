/* boot_id.h - which boot of this machine it is: the kernel's random boot id. */
#ifndef SIM_BOOT_ID_H
#define SIM_BOOT_ID_H

#include <stdint.h>

#define BOOT_ID_BYTES 16

/* All zero when the kernel does not tell. */
void boot_id_read(uint8_t out[BOOT_ID_BYTES]);

#endif
