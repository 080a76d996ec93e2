import PipelineCore

extension FileFacts {
    /// Returns whether a file that a job has written is not here, or another one stands under its path.
    func isLost(_ file: WrittenFile, of job: JobSnapshot) -> Bool {
        if lacks(fileAt: file.path) { return true }
        guard let written = job.facts.trace(ofFileAt: file.path), let found = sharedFingerprint(ofFileAt: file.path)
        else {
            return false
        }
        return found != written
    }
}
