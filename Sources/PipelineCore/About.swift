// Is for: Documents, expressions and plans; what the state of a job is and the law of how it changes; the ports.
//
// May be called by: The engine, the kinds of stages, the journal and all that puts them together.
//
// Must not know: files, networks, clocks, threads, and the name of any kind of stage.
