#ifndef C_SPAWN_H
#define C_SPAWN_H

#include <sys/types.h>

/// A pipe whose ends no started program inherits. Gives 0, or errno.
int spawn_pipe(int ends[2]);

/// Starts a program in a folder with the two descriptors as its outputs, nothing on its standard input, no other
/// descriptor, and no signal ignored or blocked. These parts of posix_spawn(3) are not in the header that Swift sees.
/// Gives 0, or the number of the error.
int spawn_program(
    pid_t *process, const char *path, char *const arguments[], char *const environment[], const char *folder, int output,
    int errors);

/// From now on processes whose parent has ended become this one's children (prctl(2), PR_SET_CHILD_SUBREAPER). Gives 0,
/// or the number of the error.
int spawn_adopt_orphans(void);

/// A descriptor that can be read once a process has ended, whoever started it (pidfd_open(2)); -1 with errno for one that
/// is gone, or where there is no such call.
int spawn_watch_process(pid_t process);

/// Goes over into the network of a process (setns(2)). Gives 0, or the number of the error.
int spawn_enter_network(pid_t process);

#endif
