import JSONPath
import PipelineCore

/// The end of a download with `unpack`, after the verdict: the packed file stays as the part until what came out of it
/// has its name.
///
/// It is unpacked into a folder next to the target, made durable, and renamed: there is never a half result under the
/// final name. A crash before the rename unpacks again; one after it is recognised by the inode, which a rename keeps.
extension DownloadRun {
    var unpacking: DownloadUnpacking { DownloadUnpacking(order: order, checkpoint: checkpoint) }

    /// Unpacks the verified part and gives the result its name.
    mutating func unpack(
        _ unpack: UnpackDefinition, _ part: PartFile, _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) -> JSONObject {
        let maximum = try await context.evaluate { scope throws(EvaluationFailure) in
            try unpack.maximumSize?.value(in: scope)
        }
        FolderTree.remove(unpacking.stagingPath)
        let work = Unpacking(
            archive: part.path, format: unpack.format, isDecoded: checkpoint.isGUnzipped,
            limits: UnpackLimits(packed: verified.bytes, maximumSize: maximum), folder: unpacking.stagingPath)
        let result: Unpacking.Result
        do throws(UnpackFailure) {
            result = try work.perform()
        } catch {
            if error.isOfContent {
                startAgain()
                try await commit(lasts: false)
            }
            throw unpacking.failure(after: error)
        }
        let source = result.isSingle ? "\(unpacking.stagingPath)/\(Unpacking.singleName)" : unpacking.stagingPath
        let target = result.isSingle ? unpacking.singleTarget : order.basePath
        if !result.isSingle { try unpacking.refuseForeignFolder(target) }
        guard let identity = FileIdentity(source) else { throw order.local(.last("read", source)) }
        checkpoint.unpacked = DownloadCheckpoint.Unpacked(path: target, identity: identity)
        try await commit(lasts: true)
        let files = result.files.map { file in
            let path = result.isSingle ? target : "\(target)/\(file.path)"
            return WrittenFile(path: path, bytes: file.bytes, sha256: file.sha256)
        }
        try await unpacking.move(source, to: target, isSingle: result.isSingle, part, files)
        context.pass(.downloadRenamed)
        return try await finishUnpacking(part, target, files, verified)
    }

    private func finishUnpacking(
        _ part: PartFile?, _ target: String, _ files: [WrittenFile], _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) -> JSONObject {
        try await context.commit(files: files)
        part?.remove()
        return order.standardCaptures(target, verified)
    }

    /// Goes on after a crash: nil when the result has no name yet.
    func resumeUnpacked(_ verified: DownloadCheckpoint.Verified) async throws(StageFailure) -> JSONObject? {
        guard let unpacked = checkpoint.unpacked, unpacking.isNamedAlready,
            let partPath = order.partPath(at: checkpoint)
        else { return nil }
        let part = try order.openExisting(partPath)
        FolderTree.remove(unpacking.stagingPath)
        let files = try order.reading { () throws(FileFailure) in try FolderTree.files(in: unpacked.path)
        }
        return try await finishUnpacking(part, unpacked.path, files, verified)
    }
}
