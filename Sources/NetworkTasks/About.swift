// Is for: The handle of something under way, and the bridge from callbacks to it.
//
// May be called by: Whoever moves bytes or waits for them.
//
// Must not know: what is sent, and by what.
