import PipelineCore

extension JobStart {
    /// The file that a `to` leads to; nil while it is not known, and for a folder, in which the server names it.
    func target(of to: Template?) -> String? {
        if case .file(let path)? = to.flatMap(place(of:)) { path } else { nil }
    }
}

extension DownloadStage {
    func target(at start: JobStart) -> String? { start.target(of: to) }
}

extension RequestStage {
    func target(at start: JobStart) -> String? { start.target(of: to) }
}

extension WriteStage {
    func target(at start: JobStart) -> String? { start.target(of: to) }
}
