// Is for: How bytes, durations and URLs are written: percent and hexadecimal digits, base64,
// whole numbers of a unit, references.
//
// May be called by: Everyone. Modules that must not know each other have it in common.
//
// Must not know: Anything of ours.
