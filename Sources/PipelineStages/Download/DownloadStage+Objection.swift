import CLibrary
import PipelineCore

extension DownloadStage {
    /// A place that can't be written to; or a file that has the name already and may not be replaced: what is known of
    /// it beforehand says whether it is the one that is wanted.
    func preflight(at start: JobStart) async -> StepFailure? {
        if let failure = start.preflight(toWriting: to) ?? verify.preflight(at: start) { return failure }
        guard let path = takenPath(at: start) else { return nil }
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        if unpack != nil { return FolderTree.isEmptyFolder(path) ? nil : Self.taken("something", path) }
        if status.st_mode & S_IFMT == S_IFDIR {
            return StepFailure("\(path) is a folder", hint: "end \"to\" with '/' to write into it")
        }
        // What an earlier job brought is likely to come again: whether it is another one is known when it has come.
        guard verify.isStated else {
            return await isResult(path, Int64(status.st_size), start) ? nil : Self.taken("a file", path)
        }
        guard start.knows(verify.references), let wanted = try? verify.values(in: start.known) else { return nil }
        let isOther = wanted.size.map { $0 != Int64(status.st_size) } ?? false
        let digest = wanted.digest
        guard isOther || digest.map({ digest in (try? digest.actual(of: path)) != digest.hex }) ?? false else {
            return nil
        }
        return Self.taken("a different file", path)
    }

    /// Returns whether the file is what an earlier job of the pipeline wrote there: byte for byte where its digest is
    /// known. One of the same length is compared when the download has come.
    private func isResult(_ path: String, _ size: Int64, _ start: JobStart) async -> Bool {
        let earlier = await start.written(path).filter { $0.bytes == size }
        if earlier.contains(where: { $0.sha256 == nil }) { return true }
        guard !earlier.isEmpty, let digest = try? FileDigest.sha256(of: path) else { return false }
        return earlier.contains { $0.sha256 == digest }
    }

    /// Returns where the result goes, if that is known and nothing there may be replaced.
    private func takenPath(at start: JobStart) -> String? {
        guard !start.overwrites, overwrites.constant == false else { return nil }
        switch start.place(of: to) {
        case .file(let path): return path
        case .folder(let path): return unpack?.format.isFolder == true ? path : nil
        case nil: return nil
        }
    }

    /// The failure where something has the name of the result.
    static func taken(_ what: String, _ path: String) -> StepFailure {
        let all = FolderTree.isFolder(path) ? ", with all that is in it" : ""
        return StepFailure(
            "\(what) is at \(path) already, and is not replaced",
            hint: "\"overwrite\": true or --overwrite replaces it\(all); or choose another \"to\"")
    }
}

extension VerifyDefinition {
    fileprivate var references: [Reference] { (sha256?.references ?? []) + (size?.references ?? []) }

    /// Returns why a value that is known at the start is no digest, or no size.
    fileprivate func preflight(at start: JobStart) -> StepFailure? {
        guard start.knows(references) else { return nil }
        do throws(EvaluationFailure) {
            _ = try values(in: start.known)
            return nil
        } catch {
            // What has to be found out first may be right.
            guard case .wrong(let message, let hint, _) = error else { return nil }
            return StepFailure(message, hint: hint)
        }
    }

    /// True if the author says anything of the file.
    var isStated: Bool { sha256 != nil || size != nil || header != nil }
}
