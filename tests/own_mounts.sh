# shellcheck shell=bash
# own_mounts.sh - sourced first by the scripts that mount something: starts the script again in
# namespaces of its own, of mounts and of processes.  Whatever ends it, SIGKILL by ctest's limit
# too, takes along every process and every mount it made, and with them the loop devices
# (loop_mount lets go of them as soon as they are held).
#
# Without root, or where namespaces are not allowed, the script goes on as it is: it has its own
# reasons to skip, and tidies up itself when it is not killed.
if [ -z "${OWN_MOUNTS:-}" ] && [ "$(id -u)" -eq 0 ]; then
    own=(unshare --mount --pid --fork --kill-child --mount-proc)
    if "${own[@]}" true 2>/dev/null; then
        OWN_MOUNTS=1 exec "${own[@]}" bash "$0" "$@"
    fi
fi
