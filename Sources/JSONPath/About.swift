// Is for: JSON with its digits, its order and its places; queries (RFC 9535), JSON Pointer and regular expressions
// in linear time.
//
// May be called by: Anybody, alone.
//
// Must not know: anything of ours.
