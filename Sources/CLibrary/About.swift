// Is for: The C library of the platform under one name: files, sockets, threads, errno (manual pages 2 and 3); the names
// in a folder.
//
// May be called by: Everyone who calls the system.
//
// Must not know: Anything of ours.
