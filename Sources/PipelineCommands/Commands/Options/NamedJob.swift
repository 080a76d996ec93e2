import ArgumentParser

/// The job that a command is about; the newest when none is named.
struct NamedJob: ParsableArguments {
    @Argument(help: "The job: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var job: String = "last"
}

/// The jobs that a command is about, at least one.
struct NamedJobs: ParsableArguments {
    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String]
}
