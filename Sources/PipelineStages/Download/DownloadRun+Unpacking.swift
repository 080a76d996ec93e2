import JSONPath
import PipelineCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a download with `unpack` does behind the verdict: the packed file stays as the part until what came out of it
/// has its name.
///
/// It is unpacked into a folder beside the target, made durable, and renamed: there is never a half result under the
/// final name. A crash before the rename unpacks again; one behind it is recognised by the inode, which a rename keeps.
extension DownloadRun {
    private var stagingPath: String { "\(checkpoint.partPath ?? "").unpacked" }

    /// The path of `to`, whether it was written as a file or a folder.
    private var basePath: String {
        switch place {
        case .file(let path), .folder(let path): path
        }
    }

    /// Fails early where the target is known and can't take the result.
    func checkTarget(of unpack: UnpackDefinition) throws(StageFailure) {
        if unpack.format.isFolder {
            try refuseForeignFolder(basePath)
            if !replaces, isTaken(basePath), !isNamedAlready { throw exists(basePath, "something") }
        } else if unpack.format == .gz, case .file(let path) = place, !replaces, isTaken(path), !isNamedAlready {
            throw exists(path, "a file")
        }
    }

    private var isNamedAlready: Bool {
        checkpoint.unpacked.map { FileIdentity($0.path) == $0.identity } ?? false
    }

    private func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && !FolderTree.isEmptyFolder(path)
    }

    /// A folder is replaced as a whole: one that holds other things too must not be the target.
    private func refuseForeignFolder(_ path: String) throws(StageFailure) {
        let own = [context.facts.folders.output, context.facts.folders.document]
        guard let real = realPath(path), own.contains(where: { isInside(realPath($0) ?? $0, real) }) else { return }
        throw definite(
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

    // MARK: Unpacking

    /// Unpacks the verified part and gives the result its name.
    mutating func unpack(
        _ unpack: UnpackDefinition, _ part: PartFile, _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) -> JSONObject {
        let maximum = try await context.evaluate { scope throws(EvaluationFailure) in
            try unpack.maximumSize?.value(in: scope)
        }
        FolderTree.remove(stagingPath)
        let unpacking = Unpacking(
            archive: part.path, format: unpack.format,
            limits: UnpackLimits(packed: verified.bytes, maximumSize: maximum), folder: stagingPath)
        let result: Unpacking.Result
        do throws(UnpackFailure) {
            result = try unpacking.perform()
        } catch {
            throw try await refuse(part, error)
        }
        let source = result.isSingle ? "\(stagingPath)/\(Unpacking.singleName)" : stagingPath
        let target = result.isSingle ? singleTarget : basePath
        if !result.isSingle { try refuseForeignFolder(target) }
        guard let identity = FileIdentity(source) else { throw local(.last("read", source)) }
        checkpoint.unpacked = DownloadCheckpoint.Unpacked(path: target, identity: identity)
        try await commit(countsBytes: true)
        let files = result.files.map { file in
            let path = result.isSingle ? target : "\(target)/\(file.path)"
            return WrittenFile(path: path, bytes: file.bytes, sha256: file.sha256)
        }
        try move(source, to: target, isSingle: result.isSingle, part, files)
        context.pass(.downloadRenamed)
        return try await finishUnpacking(part, target, files, verified)
    }

    /// What is refused for what it is will be no better next time; the disk may be.
    private mutating func refuse(_ part: PartFile, _ failure: UnpackFailure) async throws(StageFailure) -> StageFailure
    {
        switch failure {
        case .stopped: return .stopped
        case .file(let failure): return local(failure)
        // What was downloaded stays: once the library is there a resume goes on with it.
        case .noLibrary:
            return .definite(failure.stepFailure(checkpoint.target ?? part.path, place: context.facts.place))
        case .unknownForm, .damaged, .encrypted, .unsafe, .tooLarge, .tooMany:
            let step = failure.stepFailure(checkpoint.target ?? part.path, place: context.facts.place)
            startAgain()
            try await commit(countsBytes: false)
            return .definite(step)
        }
    }

    /// In a folder a compressed file is called as the service calls it, without the ending that says how it is packed.
    private var singleTarget: String {
        guard case .folder = place else { return basePath }
        var name = checkpoint.name ?? "download"
        for ending in [".gz", ".bz2", ".xz", ".zst", ".Z"] where name.hasSuffix(ending) && name.count > ending.count {
            name.removeLast(ending.count)
            break
        }
        return place.path(named: name)
    }

    // MARK: The name

    private func move(
        _ source: String, to target: String, isSingle: Bool, _ part: PartFile, _ files: [WrittenFile]
    ) throws(StageFailure) {
        if let failure = OutputPath.preflight(to: target) { throw definite(failure.title, hint: failure.hint) }
        try reading(target) { () throws(FileFailure) in try Folder.make(Folder.containing(target)) }
        let renaming = try reading(target) { () throws(FileFailure) in
            try NameChange(from: source, to: target, isFolder: !isSingle).perform(replaces: replaces)
        }
        if renaming == .nameTaken {
            let there = try reading(target) { () throws(FileFailure) in try FolderTree.files(in: target) }
            FolderTree.remove(stagingPath)
            guard there == files else {
                throw definite(
                    "something different is at \(target) already, and is not replaced",
                    hint:
                        "what was downloaded is whole and waits as \(part.path): 'pipeline resume --overwrite' puts "
                        + "it there")
            }
        }
        FolderTree.remove(stagingPath)
        try reading(target) { () throws(FileFailure) in try Folder.sync(Folder.containing(target)) }
    }

    private func finishUnpacking(
        _ part: PartFile?, _ target: String, _ files: [WrittenFile], _ verified: DownloadCheckpoint.Verified
    ) async throws(StageFailure) -> JSONObject {
        try await context.commit(files: files)
        part?.remove()
        return standardCaptures(target, verified)
    }

    /// Goes on after a crash: nil when the result has no name yet.
    func resumeUnpacked(_ verified: DownloadCheckpoint.Verified) async throws(StageFailure) -> JSONObject? {
        guard let unpacked = checkpoint.unpacked, isNamedAlready, let partPath = checkpoint.partPath else { return nil }
        let part = try openExisting(partPath)
        FolderTree.remove(stagingPath)
        let files = try reading(unpacked.path) { () throws(FileFailure) in try FolderTree.files(in: unpacked.path) }
        return try await finishUnpacking(part, unpacked.path, files, verified)
    }
}
