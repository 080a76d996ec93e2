// Is for: What stages do: uploads, computations, downloads, requests, files, plugins.
//
// May be called by: The engine, through the ports of PipelineCore.
//
// Must not know: who drives them, and what other stages do.
