// Is for: Journals of very many jobs, made from those of a few: what is measured and tested is not the making.
//
// May be called by: Tests and measurements.
//
// Must not know: Anything but SQLite and the names of columns.
