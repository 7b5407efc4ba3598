/* os_errors.c - see os_errors.h. */
#include "sim/os_errors.h"

#include <errno.h>

bool os_error_is_no_space(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

bool os_error_is_device_gone(int error)
{
    return error == -ENODEV || error == -ENXIO || error == -ENOTCONN || error == -ESHUTDOWN ||
           error == -EROFS || error == -ENOMEDIUM;
}
