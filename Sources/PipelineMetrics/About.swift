// Is for: Metrics as a page, for whichever server gives it out.
//
// May be called by: The daemon and the dashboard.
//
// Must not know: Who asks for the page, and how it is sent.
