// Is for: Random numbers that a seed fixes, so that whatever they led to can be had again.
//
// May be called by: The simulation, tests and measurements. What is secret or must be unique is drawn from the system.
//
// Must not know: Anything of ours.
