public import JSONPath
public import PipelineCore

/// A machine without files.
public struct NoFiles: FileFacts {
    public init() {}

    public func value(of fact: Fact) async throws(StepFailure) -> JSON {
        throw StepFailure("there are no files here")
    }
}
