// Is for: Listeners for HTTP with so many connections at a time and no more.
//
// May be called by: The dashboard, and the daemon's receiver of callbacks and its metrics.
//
// Must not know: What is asked, and what is answered.
