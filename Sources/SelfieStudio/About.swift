// Is for: The demonstration service: a small back end that takes videos and makes models of faces.
//
// May be called by: The program `selfie-studio`, and tests.
//
// Must not know: all that calls it.
