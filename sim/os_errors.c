/* os_errors.c - see os_errors.h. */
#include "sim/os_errors.h"

#include <errno.h>

bool os_error_is_no_space(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

/* ECONNABORTED: what a FUSE server had when it died; ESTALE: a network file system whose server
 * does not know the file any more. */
bool os_error_is_device_gone(int error)
{
    return error == -ENODEV || error == -ENXIO || error == -ENOTCONN || error == -ESHUTDOWN ||
           error == -EROFS || error == -ENOMEDIUM || error == -ECONNABORTED || error == -ESTALE;
}
