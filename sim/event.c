/* event.c - names and numbers of events; see event.h. */
#include "sim/event.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define HRESULT_E_FAIL 0x80004005

const char *event_type_name(enum event_type type)
{
    static const char *const names[] = {
        [EVENT_INFO] = "INFO", [EVENT_WARNING] = "WARNING", [EVENT_ERROR] = "ERROR"};
    return names[type];
}

/* Without the " 3" of "RandomUser 3". */
static size_t length_without_number(const char *actor)
{
    size_t length = strlen(actor), end = length;
    while (end > 0 && isdigit((unsigned char)actor[end - 1]))
        end--;
    return end < length && end > 0 && actor[end - 1] == ' ' ? end - 1 : length;
}

void event_user_name(const char *actor, char out[EVENT_USER_MAX])
{
    size_t length, used = 0;
    if (!actor[0])
        actor = "System";
    length = length_without_number(actor);
    for (size_t i = 0; i < length && used + 2 < EVENT_USER_MAX; i++) {
        unsigned char c = (unsigned char)actor[i];
        bool first = i == 0 || actor[i - 1] == ' ';
        if (!first && isupper(c) && islower((unsigned char)actor[i - 1]))
            out[used++] = ' ';
        out[used++] = (char)(first ? toupper(c) : c);
    }
    out[used] = '\0';
}

/* Windows' error numbers (winerror.h) as HRESULT_FROM_WIN32 makes them. */
int64_t event_hresult_of_errno(int error)
{
    static const struct {
        int error;
        uint32_t win32;
    } known[] = {
        {ENOENT, 2},    /* ERROR_FILE_NOT_FOUND */
        {EACCES, 5},    /* ERROR_ACCESS_DENIED */
        {EPERM, 5},     /* the same */
        {ENOMEM, 8},    /* ERROR_NOT_ENOUGH_MEMORY */
        {EROFS, 19},    /* ERROR_WRITE_PROTECT */
        {ENODATA, 38},  /* ERROR_HANDLE_EOF */
        {ENODEV, 55},   /* ERROR_DEV_NOT_EXIST */
        {ENXIO, 55},    /* the same */
        {EINVAL, 87},   /* ERROR_INVALID_PARAMETER */
        {ENOSPC, 112},  /* ERROR_DISK_FULL */
        {EDQUOT, 1295}, /* ERROR_DISK_QUOTA_EXCEEDED */
        {EIO, 1117},    /* ERROR_IO_DEVICE */
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].error == error)
            return (int64_t)(0x80070000u | known[i].win32);
    return HRESULT_E_FAIL;
}
