// Is for: The C library of the platform under one name: files, sockets, threads, errno (manual pages 2 and 3).
//
// May be called by: Everyone who calls the system.
//
// Must not know: Anything of ours.
