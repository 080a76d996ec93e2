import JSONPath
import PipelineCore

extension UploadStage {
    /// A file that is not there or can't be read, where its path is known before anything is sent.
    func preflight(at start: JobStart) async -> StepFailure? { start.preflight(toReading: file) }
}

extension JobStart {
    /// Returns why a local file that a template names can't be sent; nil while its path is not known, and where a stage
    /// before may still make it.
    func preflight(toReading file: Template) -> StepFailure? {
        guard isBeforeWrites, knows(file.references) else { return nil }
        do throws(EvaluationFailure) {
            _ = try LocalSource(file, at: SourceRange(start: 0, end: 0), in: known)
            return nil
        } catch {
            guard case .wrong = error else { return nil }
            return StepFailure(error.message, hint: error.hint)
        }
    }
}
