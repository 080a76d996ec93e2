// Is for: The commands, and what they print.
//
// May be called by: The program `pipeline`, and programs with stages of their own.
//
// Must not know: how the work is done.
