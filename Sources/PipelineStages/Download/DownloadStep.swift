import PipelineCore

/// The result of one exchange, or of several at a time.
enum DownloadStep {
    case whole(DownloadArrival)
    case more
    case restart(String)
    case identical(StageOutcome<DownloadCheckpoint>)
    /// A different file has the name; nothing was received.
    case taken
}
