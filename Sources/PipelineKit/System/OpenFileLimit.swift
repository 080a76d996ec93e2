import PipelineHTTP

/// The number of files, sockets among them, that this process may have open at a time (`ulimit -n`).
package enum OpenFileLimit {
    /// Raises the limit to the most that the process may have; to be called when a program starts.
    ///
    /// - Returns: why no job can run here and what to do about it; nil when enough are allowed.
    package static func raise() -> (message: String, hint: String)? {
        guard DescriptorBudget.raise() < DescriptorBudget.least else { return nil }
        return (
            "only \(DescriptorBudget.limit) files may be open at a time here, and a job needs \(DescriptorBudget.least)",
            "'ulimit -n 1024' in the shell, or LimitNOFILE= of a service, allows more"
        )
    }
}
