// Is for: How bytes, dates, durations and URLs are written: percent and hexadecimal digits, base64,
// days of the calendar, whole numbers of a unit, references.
//
// May be called by: Everyone. Modules that must not know each other have it in common.
//
// Must not know: Anything of ours.
