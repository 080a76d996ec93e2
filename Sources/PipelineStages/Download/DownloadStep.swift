import PipelineCore

/// The result of one exchange of a download, or of several at a time.
enum DownloadStep {
    /// All of it is here, to be verified.
    case whole(DownloadArrival)
    /// Bytes have come, and more are to be asked for.
    case more
    /// What is here is of no use, for the reason given.
    case restart(String)
    /// The file is there already.
    case identical(StageOutcome<DownloadCheckpoint>)
    /// A different file has the name; nothing was received.
    case taken
}
