import ArgumentParser

/// The flag that shows what goes over the wire.
struct TraceOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Show each request and the status of its response as it goes; twice (-vv) headers too, secrets redacted.")
    var verbose: Int
}
