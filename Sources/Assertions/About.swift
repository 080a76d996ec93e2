// Is for: What should never happen: recorded in production, stopping a debug build.
//
// May be called by: All targets; it is the one module that any other may use.
//
// Must not know: What jobs, steps and journals are.
