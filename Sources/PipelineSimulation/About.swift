// Is for: A journal in memory and a service that answers from a script, in virtual time.
//
// May be called by: The command that tests documents, and the test kit.
//
// Must not know: Real clocks, sockets and files.
