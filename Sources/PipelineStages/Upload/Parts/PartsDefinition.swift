import PipelineCore

/// What the document says of an upload in parts.
struct PartsDefinition: Sendable {
    /// The request that sends a part; nil for S3's own.
    @Indirect var part: RequestDefinition?
    /// The request that ends the upload; nil for S3's own, or for none.
    @Indirect var complete: RequestDefinition?
    /// The request that removes it.
    @Indirect var cancel: RequestDefinition?
    /// Captures of the request that makes the upload.
    var creation = CaptureSet()
    /// How many parts are under way at most.
    var parallel = Setting.constant(1)
}
