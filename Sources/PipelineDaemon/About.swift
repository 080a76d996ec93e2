// Is for: The owner of background jobs, and the receiver of callbacks.
//
// May be called by: The program `pipeline-daemon`.
//
// Must not know: terminals, and what a command prints.
