#ifndef POWER_LOSS_H
#define POWER_LOSS_H

// A library to be preloaded into a program under test (ld.so(8), LD_PRELOAD). It records, in their order, the calls
// by which the program changes files, and those by which it makes the changes durable.
//
//   POWERLOSS_LOG      the file that records are appended to
//   POWERLOSS_FOLDERS  absolute paths of the folders that are watched, separated by colons
//   POWERLOSS_STOP_AT  kill the process (SIGKILL) once that many records are written
//
// Without POWERLOSS_LOG all calls go straight through. SQLite's shared memory files (-shm) are left out: what is in
// them is made anew from the -wal file.
//
// A record is, in the machine's byte order:
//   uint32 kind, uint32 name length, uint64 inode, int64 offset, uint64 data length, the name, the data

enum powerloss_kind {
    POWERLOSS_CREATE = 1,    // name: a file that was not there
    POWERLOSS_WRITE = 2,     // inode, offset, data
    POWERLOSS_TRUNCATE = 3,  // inode, offset is the new length
    POWERLOSS_SYNC = 4,      // inode, also of a folder; name: its path
    POWERLOSS_RENAME = 5,    // name: old path, NUL, new path
    POWERLOSS_LINK = 6,      // name: old path, NUL, new path
    POWERLOSS_UNLINK = 7,    // name
    POWERLOSS_FOLDER = 8     // name: a folder that was made
};

#endif
