import CLibrary
import PipelineCore

/// The place to which a packed download is unpacked: a folder next to the target first, then its name.
///
/// A value of one moment: of what the checkpoint says by then.
struct DownloadUnpacking {
    let order: DownloadOrder
    let checkpoint: DownloadCheckpoint

    /// The folder that is unpacked into.
    var stagingPath: String { "\(order.partPath(at: checkpoint) ?? "").unpacked" }

    /// Fails early where the target is known and can't take the result.
    func checkTarget(of unpack: UnpackDefinition) throws(StageFailure) {
        if unpack.format.isFolder {
            try refuseForeignFolder(order.basePath)
            if !order.replaces, isTaken(order.basePath), !isNamedAlready {
                throw order.exists(order.basePath, "something")
            }
        } else if unpack.format == .gz, case .file(let path) = order.place, !order.replaces, isTaken(path),
            !isNamedAlready
        {
            throw order.exists(path, "a file")
        }
    }

    var isNamedAlready: Bool {
        checkpoint.unpacked.map { FileIdentity($0.path) == $0.identity } ?? false
    }

    private func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && !FolderTree.isEmptyFolder(path)
    }

    /// A folder is replaced as a whole: one that holds other things too must not be the target.
    func refuseForeignFolder(_ path: String) throws(StageFailure) {
        let own = [order.context.facts.folders.output, order.context.facts.folders.document]
        guard let real = realPath(path), own.contains(where: { isInside(realPath($0) ?? $0, real) }) else { return }
        throw order.definite(
            "\(path) can't be the place for what is unpacked: the job's own folder is in it",
            hint: "give it a folder of its own, such as \"to\": \"model/\"")
    }

    private func isInside(_ path: String, _ folder: String) -> Bool {
        folder == "/" || (path + "/").utf8.starts(with: (folder + "/").utf8)
    }

    private func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// In a folder a compressed file is called as the service calls it, without the ending that says how it is packed.
    var singleTarget: String {
        guard case .folder = order.place else { return order.basePath }
        var name = checkpoint.name ?? "download"
        for ending in [".gz", ".bz2", ".xz", ".zst", ".Z"] where name.hasSuffix(ending) && name.count > ending.count {
            name.removeLast(ending.count)
            break
        }
        return order.place.path(named: name)
    }

    /// A file that is refused for its content will be no better next time; the disk may be.
    func failure(after failure: UnpackFailure) -> StageFailure {
        switch failure {
        case .stopped: .stopped
        case .file(let failure): order.local(failure)
        case .noLibrary, .unknownForm, .damaged, .encrypted, .unsafe, .tooLarge, .tooMany:
            .definite(failure.stepFailure(checkpoint.target ?? order.basePath, place: order.context.facts.place))
        }
    }

    func move(
        _ source: String, to target: String, isSingle: Bool, _ part: PartFile, _ files: [WrittenFile]
    ) async throws(StageFailure) {
        if let failure = OutputPath.preflight(to: target) { throw order.definite(failure.title, hint: failure.hint) }
        try order.reading { () throws(FileFailure) in try Folder.make(Folder.containing(target)) }
        let writer = try await order.context.claimResult(target, isFolder: !isSingle)
        if let writer, !writer.hasWritten(target) {
            FolderTree.remove(stagingPath)
            throw try ResultFile.setAside(part, writer, target, order.requests.service?.name, in: order.context)
        }
        let renaming = try order.reading { () throws(FileFailure) in
            try NameChange(from: source, to: target, isFolder: !isSingle)
                .perform(replaces: order.replaces && writer == nil)
        }
        if renaming == .nameTaken {
            let there = try order.reading { () throws(FileFailure) in try FolderTree.files(in: target) }
            FolderTree.remove(stagingPath)
            guard there == files else {
                if let writer {
                    throw try ResultFile.setAside(
                        part, writer, target, order.requests.service?.name, in: order.context)
                }
                throw order.definite(
                    "something different is at \(target) already, and is not replaced",
                    hint:
                        "what was downloaded is whole and waits as \(part.path): "
                        + "'\(order.context.facts.overwritingCommand)' puts it there"
                        + (FolderTree.isFolder(target) ? ", and removes all that is in that folder now" : ""))
            }
        }
        FolderTree.remove(stagingPath)
        try order.reading { () throws(FileFailure) in try Folder.sync(Folder.containing(target)) }
    }
}
