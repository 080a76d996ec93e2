// Is for: The wire: a request as a value, decorators that change it, and libcurl that sends it.
//
// May be called by: The stages and sinks; a program of its own that wants a network stack.
//
// Must not know: jobs, documents and stages.
