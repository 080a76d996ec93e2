// Is for: What tests share: servers that lie, clocks moved by hand, programs that are run, a model of the world.
//
// May be called by: Tests and benchmarks alone.
//
// Must not know: which test asks.
