// Is for: Pictures of jobs as SVG, with their numbers in tables.
//
// May be called by: The dashboard, and the commands that write pictures to files.
//
// Must not know: HTTP, pages, and where the numbers come from.
