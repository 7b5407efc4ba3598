/*
 * command_restore.h - `pagestorm restore BACKUP... --to DIR`: data files from backup files.
 *
 * Exit: 0 restored and read back right; 1 a backup is damaged; 2 wrong command line, or backups
 * that do not belong together; 3 it did not complete.
 */
#ifndef SIM_COMMAND_RESTORE_H
#define SIM_COMMAND_RESTORE_H

/* argv[0] is "restore". Returns the exit code. */
int command_restore(int argc, char **argv);

#endif
