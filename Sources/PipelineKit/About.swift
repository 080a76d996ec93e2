// Is for: One engine put together with good defaults: settings, secrets, the workspace, batches; and the
// documentation.
//
// May be called by: Programs: ours, and those of people with stages of their own.
//
// Must not know: terminals, and what a command prints.
