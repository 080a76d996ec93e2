import CLibrary
package import PipelineCore

/// The part file that a step has on the disk, as its checkpoint tells: for those who look after what jobs leave behind.
package struct StepPart: Sendable, Hashable {
    package let path: String
    /// The path that the file is to have.
    package let target: String
    /// True if it is the whole result, checked, of which nothing is missing but its name.
    package let isWhole: Bool

    /// Nil for a step that writes none, and where none is there. A file of another length than the whole result is
    /// none: somebody else has begun it since.
    package init?(of step: StepRecord, in job: JobRecord) {
        guard let checkpoint = step.checkpoint else { return nil }
        if let download = try? CheckpointCoding<DownloadCheckpoint>.json.decode(checkpoint) {
            guard let target = download.target else { return nil }
            let endings = [PartEnding.own(ofItem: job.itemLabel), PartEnding.usual]
            self.init(target, at: endings.map { target + $0 }, length: download.verified?.bytes)
        } else if let request = try? CheckpointCoding<RequestStage.Checkpoint>.json.decode(checkpoint),
            let pages = request.paging, let target = pages.target, let path = pages.partPath
        {
            self.init(target, at: [path], length: pages.isWhole ? pages.length : nil)
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - paths: those that it may have; the first that is there is it.
    ///   - length: that of a whole one; nil while it is not whole.
    private init?(_ target: String, at paths: [String], length: Int64?) {
        let files = paths.compactMap { path in Self.size(path).map { (path: path, size: $0) } }
        guard let file = files.first, length == nil || length == file.size else { return nil }
        path = file.path
        self.target = target
        isWhole = length != nil
    }

    /// The length of a regular file; nil where none is.
    private static func size(_ path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }
}
