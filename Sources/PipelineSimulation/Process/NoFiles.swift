package import JSONPath
package import PipelineCore

/// A machine without files.
package struct NoFiles: FileFacts {
    package init() {}

    package func value(of fact: Fact) async throws(StepFailure) -> JSON {
        throw StepFailure("there are no files here")
    }
}
