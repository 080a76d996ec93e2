import PipelineCore
import PipelineHTTP

/// The order of what one attempt of a download is to bring: fixed while it runs, and shared by its streams.
struct DownloadOrder: Sendable {
    @Indirect private(set) var stage: DownloadStage
    let context: StageContext<DownloadCheckpoint>
    let place: OutputPath
    let wanted: VerifyDefinition.Values
    /// True if an existing file may be replaced.
    let replaces: Bool
    /// The number of ranges that may come at a time.
    let streams: Int
    /// The statuses that count as success; nil for the usual ones.
    let expected: StatusSet?

    init(
        stage: DownloadStage, context: StageContext<DownloadCheckpoint>, place: OutputPath,
        wanted: VerifyDefinition.Values, replaces: Bool, streams: Int, expected: StatusSet?
    ) {
        self.stage = stage
        self.context = context
        self.place = place
        self.wanted = wanted
        self.replaces = replaces
        self.streams = streams
        self.expected = expected
    }

    var requests: StageRequests { stage.requests }

    /// The path of `to`, whether it was written as a file or a folder.
    var basePath: String {
        switch place {
        case .file(let path), .folder(let path): path
        }
    }

    /// The part of a download that stands there; nil while its file has no name.
    func partPath(at checkpoint: DownloadCheckpoint) -> String? {
        checkpoint.target.map { context.partName.path(for: $0, isBegun: checkpoint.isBegun) }
    }

    /// The next exchange of a download that stands there.
    func session(of checkpoint: DownloadCheckpoint) -> DownloadSession {
        let expected = expected
        return DownloadSession(
            held: checkpoint.held, validator: checkpoint.validator, coding: checkpoint.coding, total: checkpoint.total,
            hasFinalDigest: wanted.digest != nil || checkpoint.stated.contains(where: \.tellsFilesApart),
            allowsRanges: stage.definition.method == .get,
            expected: { status in expected?.contains(status) ?? (status == 200 || status == 203) })
    }
}
