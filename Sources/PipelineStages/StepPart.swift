import CLibrary
package import PipelineCore

/// The part file that a step has on the disk, as its checkpoint tells: for those who look after what jobs leave behind.
package struct StepPart: Sendable, Hashable {
    package let path: String
    /// The path that the file is to have.
    package let target: String
    /// True if it is the whole result, checked, of which nothing is missing but its name.
    package let isWhole: Bool

    /// Nil for a step that writes none, and where none is there. Another's file is none, nor is one of another length than
    /// the whole result: somebody else has begun it since.
    package init?(of key: StepKey, in job: JobSnapshot) {
        guard let checkpoint = job.steps[key]?.checkpoint else { return nil }
        if let download = try? CheckpointCoding<DownloadCheckpoint>.json.decode(checkpoint) {
            guard let target = download.target else { return nil }
            let name = PartName(key, of: job.record.id, item: job.record.itemLabel)
            self.init(target, at: name.path(for: target, isBegun: true), length: download.verified?.bytes)
        } else if let request = try? CheckpointCoding<RequestStage.Checkpoint>.json.decode(checkpoint),
            let pages = request.paging, let target = pages.target, let path = pages.partPath
        {
            self.init(target, at: path, length: pages.isWhole ? pages.length : nil)
        } else {
            return nil
        }
    }

    /// - Parameter length: that of a whole one; nil while it is not whole.
    private init?(_ target: String, at path: String, length: Int64?) {
        guard let size = Self.size(path), length == nil || length == size else { return nil }
        self.path = path
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
